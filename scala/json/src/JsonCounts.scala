package io.firesteel.json

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * What scans have done with their documents, for the metrics of an operator. Spark adds up what the
 * tasks count.
 */
sealed abstract private[json] class JsonCounts extends Serializable {

  /** A document of so many bytes came. */
  def came(bytes: Int): Unit

  /** Spark reads a document that was not looked at: most of those before it were Spark's. */
  def unseen(): Unit

  /** Spark reads a document that is no plain JSON, or too large. */
  def notPlain(): Unit

  /** Spark reads an output of a document, by its place among the outputs. */
  def missed(output: Int): Unit

  /** A document has such an output. */
  def inexact(): Unit

  /** The metrics that the operator shows, by name. */
  def metrics: Map[String, SQLMetric]

  /**
   * How many documents Spark has read, and why; none before the query has run.
   *
   * @param outputs each output in words
   */
  def text(outputs: => Seq[String]): Option[String]
}

private[json] object JsonCounts {

  /** Counts nothing. */
  object none extends JsonCounts {
    override def came(bytes: Int): Unit = ()
    override def unseen(): Unit = ()
    override def notPlain(): Unit = ()
    override def missed(output: Int): Unit = ()
    override def inexact(): Unit = ()
    override def metrics: Map[String, SQLMetric] = Map.empty
    override def text(outputs: => Seq[String]): Option[String] = None
    private def readResolve(): Any = none
  }

  /** For one scan of an operator. */
  def of(shown: Shown, outputs: Int, context: SparkContext): JsonCounts =
    new Counting(
      shown,
      Array.fill(outputs)(SQLMetrics.createMetric(context, "values that Spark read")))

  /** The metrics of an operator, for all of its scans. */
  final class Shown(context: SparkContext) extends Serializable {
    val documents: SQLMetric = SQLMetrics.createMetric(context, "JSON documents")
    val bytes: SQLMetric = SQLMetrics.createSizeMetric(context, "size of JSON documents")
    val notPlain: SQLMetric =
      SQLMetrics.createMetric(context, "documents that Spark read: not plain JSON")
    val inexact: SQLMetric =
      SQLMetrics.createMetric(context, "documents that Spark read: a value is not exact")
    val unseen: SQLMetric =
      SQLMetrics.createMetric(context, "documents that Spark read: most before were Spark's")
  }

  final private class Counting(shown: Shown, values: Array[SQLMetric]) extends JsonCounts {

    override def came(bytes: Int): Unit = {
      shown.documents += 1
      shown.bytes += bytes.toLong
    }
    override def unseen(): Unit = shown.unseen += 1
    override def notPlain(): Unit = shown.notPlain += 1
    override def missed(output: Int): Unit = values(output) += 1
    override def inexact(): Unit = shown.inexact += 1

    override def metrics: Map[String, SQLMetric] = Map(
      "jsonDocuments" -> shown.documents,
      "jsonBytes" -> shown.bytes,
      "jsonNotPlain" -> shown.notPlain,
      "jsonInexact" -> shown.inexact,
      "jsonUnseen" -> shown.unseen
    )

    override def text(outputs: => Seq[String]): Option[String] =
      Option.when(shown.documents.value > 0) {
        val all = Seq(
          shown.notPlain -> "not plain JSON",
          shown.inexact -> s"a value is not exact${worst(outputs)}",
          shown.unseen -> "most of those before it were Spark's"
        ).collect { case (count, reason) if count.value > 0 => s"${count.value}: $reason" }
        val spark = Seq(shown.notPlain, shown.inexact, shown.unseen).map(_.value).sum
        val why = if (all.isEmpty) "" else all.mkString(" (", "; ", ")")
        s"$spark of ${shown.documents.value} documents$why"
      }

    /** The output that Spark has read most often. */
    private def worst(outputs: Seq[String]): String =
      values.zip(outputs).filter(_._1.value > 0).maxByOption(_._1.value)
        .fold("")(its => s", most often ${its._2}")
  }
}
