package io.firesteel.changelog.statements

import java.util.Locale

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.firesteel.{dataFrameOf, executionOf, outputModeOf}
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery, Trigger}

/**
 * Several statements as one streaming query. What several of them compute is computed once in each
 * micro-batch, with one state, and its rows go to each.
 *
 * {{{
 *   val set = new StatementSet(spark, "/checkpoints/visits")
 *   set.insert("long", long, StatementTarget.table("long_visits"))
 *   set.insert("counts", counts, StatementTarget.format("delta", Map("path" -> path)), "complete")
 *   val query = set.start(Trigger.AvailableNow())
 * }}}
 *
 * Statements write in the order in which they were inserted. If one fails, the query fails, and
 * repeats the micro-batch when it starts again.
 *
 * @param checkpoint the folder of the checkpoint
 * @param parallel whether the targets of a micro-batch are written side by side
 */
final class StatementSet(spark: SparkSession, checkpoint: String, parallel: Boolean = false) {
  import StatementSet.{check, Statement}

  check(checkpoint.nonEmpty, "A statement set needs the folder of its checkpoint.")
  private val statements = mutable.ArrayBuffer.empty[Statement]
  private val current = new CurrentCatalog(spark)

  /** The names of the statements, in the order of their writes. */
  def names: Seq[String] = statements.map(_.to.name).toSeq

  /**
   * Adds a statement.
   *
   * @param name its name in the checkpoint, in metrics and in errors
   * @param query its query, streaming
   * @param mode its output mode: `append`, `update` or `complete`
   * @param from where it begins if the checkpoint has the set without it: `start`, with all rows of
   *   its sources, or `now`, with those that come; empty if the checkpoint has it
   * @return the set
   * @throws IllegalArgumentException if the name is taken, the mode is unknown, the query is not
   *   streaming, or another statement has the target
   */
  def insert(
      name: String,
      query: Dataset[_],
      target: StatementTarget,
      mode: String = "append",
      from: String = ""): StatementSet = {
    check(Set("", "start", "now")(from), s"A statement begins at the start or now, not '$from'.")
    check(name.nonEmpty && !names.contains(name), s"A statement needs its own name, not '$name'.")
    check(query.isStreaming, s"The query of statement '$name' is not streaming.")
    def placeOf(its: StatementTarget) = its.place(spark)
    for {
      place <- placeOf(target)
      other <- statements.find(its => placeOf(its.to.target).contains(place))
    }
      // Without the place: a URL may have a password.
      check(
        false,
        s"The statements '${other.to.name}' and '$name' write to one target. Write the union of " +
          "their queries instead.")
    statements += Statement(StatementWrites.To(name, outputModeOf(mode), target), query, from)
    this
  }

  /**
   * Starts the query. Its rows are those of all statements.
   *
   * @throws org.apache.spark.sql.AnalysisException if a query cannot run in its mode, or the
   *   checkpoint has other statements
   */
  def start(): StreamingQuery = start(Trigger.ProcessingTime(0L))

  /** The same with a trigger of Spark's; a continuous one is refused. */
  def start(trigger: Trigger): StreamingQuery = writer(trigger).start()

  /** The same with a name for the query. */
  def start(trigger: Trigger, name: String): StreamingQuery =
    writer(trigger).queryName(name).start()

  private def writer(trigger: Trigger): DataStreamWriter[_] = {
    val writes = new StatementWrites(statements.map(_.to).toSeq, checkpoint, parallel, current)
    rows.writeStream.outputMode("append").option("checkpointLocation", checkpoint)
      .trigger(trigger).foreachBatch((rows: DataFrame, batch: Long) => writes(rows, batch))
  }

  /** The rows of all statements: the number of one, and for each a struct of its columns. */
  private def rows: DataFrame = {
    check(statements.nonEmpty, "The statement set has no statements: call insert first.")
    val (to, queries) = (statements.map(_.to).toSeq, statements.map(_.query).toSeq)
    dataFrameOf(
      spark,
      UnresolvedStatements(
        to.map(_.name),
        to.map(_.mode.toString.toLowerCase(Locale.ROOT)),
        statements.map(_.from).toSeq,
        queries.map(executionOf(_).analyzed))
    )
  }
}

private object StatementSet {

  private def check(isRight: Boolean, otherwise: => String): Unit =
    if (!isRight) throw new IllegalArgumentException(otherwise)

  final private case class Statement(to: StatementWrites.To, query: Dataset[_], from: String)
}
