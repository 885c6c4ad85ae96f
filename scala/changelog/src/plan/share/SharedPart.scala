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
 * @param durable where rows are kept that would have other values if they were computed again
 * @param key of what the part computes, the same at each start
 * @param group the number of the statements' group that it belongs to; none if it is of all
 */
final private[changelog] class SharedPart(
    val id: Int,
    val name: String,
    val kind: Option[Attribute],
    durable: Option[SharedPart.Durable] = None,
    val key: String = "",
    val group: Option[Int] = None)
  extends Serializable {

  @transient @volatile private[this] var kept: Option[KeptRows] = None

  /**
   * Computes the rows of a micro-batch: all of them, so that each operator below runs once.
   *
   * @param mustRun whether operators below write state or tell Spark their watermark
   */
  def keep(
      rows: RDD[InternalRow],
      schema: StructType,
      mustRun: Boolean,
      conf: Configuration): Unit = {
    release()
    kept = Some((durable, MicroBatch.number(rows.sparkContext)) match {
      case (Some(its), Some(batch)) =>
        val files = new DurableRows(its, batch, schema, conf)
        KeptRows.durable(rows, schema, toString, mustRun, files)
      case _ => KeptRows(rows, schema, toString)
    })
  }

  /** The rows of the micro-batch. */
  def rows: RDD[InternalRow] =
    kept.fold(throw new IllegalStateException(s"$this is not computed"))(_.rows)

  /** Whether it has no rows in the micro-batch. */
  def isEmpty: Boolean = kept.exists(_.isEmpty)

  /** Frees memory and disk. */
  def release(): Unit = {
    kept.foreach(_.release())
    kept = None
  }

  override def toString: String = s"$name $id"
}

private[changelog] object SharedPart {

  /**
   * @param root the folder for rows of all parts
   * @param part the part's key
   * @param computes of what the part computes, where the key does not tell
   */
  final case class Durable(root: String, part: String, computes: String = "")
}
