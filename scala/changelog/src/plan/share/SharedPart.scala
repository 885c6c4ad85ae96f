package io.firesteel.changelog.plan.share

import io.firesteel.changelog.plan.{Changes, Facts, Inferred, Stateful}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId}
import org.apache.spark.sql.types.StructType

/**
 * A part of a query that is computed once in each micro-batch, however many others read it. One
 * object serves all micro-batches of a running query.
 *
 * @param id a number within the query
 * @param output its columns, without the kind of a row
 * @param kind the column of kinds, which its rows have last; none if rows only come
 * @param facts of the part's own columns
 * @param durableIn the folder for rows that would have other values if they were computed again;
 *   none if they would not
 */
final private[changelog] class SharedPart private (
    val id: Int,
    val name: String,
    val output: Seq[Attribute],
    val kind: Option[Attribute],
    facts: Facts,
    durableIn: Option[String])
  extends Serializable {

  @transient @volatile private[this] var kept: Option[KeptRows] = None

  /**
   * Computes the rows of a micro-batch: all of them, so that each operator below runs once.
   *
   * @param hasState whether operators below have state, which a micro-batch must write
   */
  def keep(rows: RDD[InternalRow], schema: StructType, hasState: Boolean, conf: Configuration): Unit = {
    release()
    val batch = Option(rows.sparkContext.getLocalProperty(SharedPart.batchIdKey)).map(_.toLong)
    kept = Some((durableIn, batch) match {
      case (Some(root), Some(number)) =>
        val files = new DurableRows(root, conf)
        KeptRows.durable(rows, schema, toString, hasState, files, number, id)
      case _ => KeptRows(rows, schema, toString)
    })
  }

  /** The rows of the micro-batch. */
  def rows: RDD[InternalRow] = kept.fold(throw new IllegalStateException(s"$this is not computed"))(
    _.rows)

  /** Frees memory and disk. */
  def release(): Unit = {
    kept.foreach(_.release())
    kept = None
  }

  /** The facts of a reader that has other ids for the columns. */
  private[plan] def factsOf(columns: Seq[Attribute]): Facts = {
    val ids: Map[ExprId, ExprId] = output.map(_.exprId).zip(columns.map(_.exprId)).toMap
    Facts(
      facts.changes,
      facts.upsertKeys.map(_.map(ids)),
      facts.trends.collect { case (column, trend) if ids.contains(column) => ids(column) -> trend },
      Map.empty)
  }

  override def toString: String = s"$name $id"
}

private[changelog] object SharedPart {

  // Spark sets it on the thread that runs a micro-batch.
  private val batchIdKey = "streaming.sql.batchId"

  /** @param inferred the part's operators, with the columns of `output` */
  def apply(
      id: Int,
      output: Seq[Attribute],
      kind: Option[Attribute],
      inferred: Inferred,
      durableIn: Option[String]): SharedPart = {
    val name = inferred.where(_.isInstanceOf[Stateful]).fold("rows")(_.operator.name)
    new SharedPart(id, name, output, kind, inferred.facts, durableIn)
  }

  /** The whole query, for a sink that reads its rows several times. */
  def ofSink(id: Int, output: Seq[Attribute]): SharedPart =
    new SharedPart(id, "sink", output, None, Facts(Changes.InsertOnly, Set.empty), None)
}
