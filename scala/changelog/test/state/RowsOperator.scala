package io.firesteel.changelog.state

import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{ByteType, DataType, StructType}

/**
 * Runs what an operator does in one partition, on rows alone and over a [[MapStore]].
 *
 * {{{
 *   val op = new RowsOperator(layout, task, inputs = Seq(schema), output = schema)
 *   op.run(Seq(row("a", 1L) -> "+I", row("a", 1L) -> "-D"))     // one micro-batch: rows with kinds
 * }}}
 *
 * Values are Scala's, as of `Row`. A schema whose last column is a byte has kinds. Rows of an input
 * share one buffer, as Spark's do; rows of the result are read at once.
 */
final private[changelog] class RowsOperator(
    layout: StateLayout,
    task: StatefulTask,
    inputs: Seq[StructType],
    output: StructType,
    ttlMs: Long = 0L,
    partition: Int = 0) {

  import RowsOperator._

  val store: MapStore = new MapStore(layout.key, partition)
  val metrics: StateCounts = newCounts()

  /** The time of the next micro-batch. */
  var nowMs: Long = 0L

  /** One micro-batch of the only input. */
  def run(rows: Seq[Change]): Seq[Change] = runAll(Seq(rows))

  /** One micro-batch of all inputs, and what the watermark closes at its end. */
  def runAll(rows: Seq[Seq[Change]], closed: Option[ClosedGroups] = None): Seq[Change] = {
    val entries =
      if (ttlMs == 0L) new StateEntries(KeyedStore.of(store), metrics)
      else new ExpiringEntries(
        KeyedStore.of(store),
        metrics,
        layout.value,
        Lifetimes.One(ttlMs),
        nowMs,
        "rows")
    val read = inputs.zip(rows).map { case (schema, of) => rowsOf(schema, of.iterator) }
    val late = new SQLMetric("sum")
    val open = read.map(its => closed.fold(its)(_.inTime(its, late)))
    val told = changesOf(output, task.run(entries, partition, open)) ++
      closed.toSeq.flatMap(groups => changesOf(output, task.close(entries, groups)))
    entries.evict()
    val _ = store.commit()
    told
  }
}

private[changelog] object RowsOperator {

  /** A row and its kind. */
  type Change = (Seq[Any], String)

  /** A row of values of any types. */
  def row(values: Any*): Seq[Any] = values

  def newCounts(): StateCounts =
    StateCounts(
      new SQLMetric("sum"),
      new SQLMetric("sum"),
      new SQLMetric("sum"),
      new SQLMetric("sum"))

  private def hasKind(schema: StructType): Boolean =
    schema.lastOption.exists(_.dataType == ByteType)

  /** Rows of a schema, all in one buffer; a kind is left out where it has no column. */
  def rowsOf(schema: StructType, changes: Iterator[Change]): Iterator[InternalRow] = {
    val types = schema.fields.map(_.dataType)
    val toRow = UnsafeProjection.create(types: Array[DataType])
    val converters = types.map(CatalystTypeConverters.createToCatalystConverter)
    changes.map { case (row, kind) =>
      val all =
        if (hasKind(schema)) row :+ RowKind.names.indexOf(kind).toByte
        else {
          require(kind == "+I", s"the input is append-only: $kind")
          row
        }
      require(all.size == types.length, s"$row is not of ${schema.toDDL}")
      toRow(InternalRow.fromSeq(all.zip(converters).map { case (value, to) => to(value) }))
    }
  }

  /** Rows in Scala's values. */
  def changesOf(schema: StructType, rows: Iterator[InternalRow]): Seq[Change] = {
    val types = schema.fields.map(_.dataType)
    val converters = types.map(CatalystTypeConverters.createToScalaConverter)
    rows.map { its =>
      val all = types.indices.map { i =>
        if (its.isNullAt(i)) null else converters(i)(its.get(i, types(i)))
      }
      if (hasKind(schema)) (all.init, RowKind.names(all.last.asInstanceOf[Byte].toInt))
      else (all, "+I")
    }.toSeq
  }
}
