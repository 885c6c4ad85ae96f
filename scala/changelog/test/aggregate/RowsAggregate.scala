package io.firesteel.changelog.aggregate

import io.firesteel.changelog.fold.Granted
import io.firesteel.changelog.state.{RowsOperator, StatefulTask, WholeKey}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, UnsafeProjection}
import org.apache.spark.sql.types.{ByteType, StructField, StructType}

/** Both halves of an aggregate on rows: keys, then the arguments that functions read by place. */
private[aggregate] object RowsAggregate {

  /**
   * @param functions over places in `arguments`, and whether each is `DISTINCT`
   * @param limits how many entries each half may hold
   */
  def of(
      keys: StructType,
      arguments: StructType,
      functions: Seq[(Expression, Boolean)],
      retracting: Boolean = true,
      updateBefore: Boolean = true,
      limits: (Int, Int) = (Int.MaxValue, Int.MaxValue),
      isGlobal: Boolean = false,
      ttlMs: Long = 0L): RowsOperator = {
    val kind = StructField("kind", ByteType)
    val columns = if (isGlobal) StructType.fromDDL("whole INT") else keys
    val attributes = columns.map(f => AttributeReference(f.name, f.dataType)())
    val layout = new AggregateLayout(
      attributes,
      functions.map(_._1),
      functions.map(_._2),
      retracting,
      isGlobal)
    val (expressions, read) = AggregateExecs.resultColumns(attributes, functions.map(_._1))
    val kindAt = if (retracting) columns.size + arguments.size else -1
    val task = StatefulTask.ofOne { (entries, _, rows) =>
      val partial =
        new PartialAggregate(rows, Granted.entries(limits._1), layout, arguments.indices, kindAt)
      new FinalAggregate(
        partial,
        Granted.entries(limits._2),
        layout,
        new GroupResults(layout, UnsafeProjection.create(expressions, read)),
        updateBefore,
        Option.when(isGlobal)(WholeKey.row()),
        once = false,
        entries
      )
    }
    val results = functions.map { case (f, _) => StructField(f.prettyName, f.dataType) }
    new RowsOperator(
      layout.state,
      task,
      Seq(StructType(columns ++ arguments ++ Option.when(retracting)(kind))),
      StructType(columns ++ results :+ kind),
      ttlMs)
  }
}
