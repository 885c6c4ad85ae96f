package io.firesteel.changelog.plan.share

import org.apache.hadoop.conf.Configuration
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.firesteel.MicroBatch
import org.apache.spark.sql.types.StructType

/**
 * A part of a query that is computed once in each micro-batch, however many others read it. One
 * object serves all micro-batches of a running query.
 *
 * @param id a number within the query
 * @param kind the column of kinds, which its rows have last; none if rows only come
 * @param durableIn the folder for rows that would have other values if they were computed again;
 *   none if they would not
 * @param branches how many results the rows are of, if they are the union of several: a reader of one
 *   of them has as many tasks as one of them has
 */
final private[changelog] class SharedPart(
    val id: Int,
    val name: String,
    val kind: Option[Attribute],
    durableIn: Option[String] = None,
    branches: Int = 1)
  extends Serializable {

  @transient @volatile private[this] var kept: Option[KeptRows] = None

  /**
   * Computes the rows of a micro-batch: all of them, so that each operator below runs once.
   *
   * @param hasState whether operators below have state, which a micro-batch must write
   */
  def keep(
      rows: RDD[InternalRow],
      schema: StructType,
      hasState: Boolean,
      conf: Configuration): Unit = {
    release()
    kept = Some((durableIn, MicroBatch.number(rows.sparkContext)) match {
      case (Some(root), Some(number)) =>
        val files = new DurableRows(root, conf)
        KeptRows.durable(rows, schema, toString, hasState, files, number, id)
      case _ => KeptRows(rows, schema, toString)
    })
  }

  /** The rows of the micro-batch. */
  def rows: RDD[InternalRow] =
    kept.fold(throw new IllegalStateException(s"$this is not computed"))(_.rows(branches))

  /** Frees memory and disk. */
  def release(): Unit = {
    kept.foreach(_.release())
    kept = None
  }

  override def toString: String = s"$name $id"
}
