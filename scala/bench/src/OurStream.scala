package io.firesteel.bench

import io.firesteel.core.decide.Explain
import java.nio.file.Path
import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.firesteel.streaming.StreamingQueryWrapper
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

/** One run of a stream, outside the clock. */
final case class StreamedOnce(
    answer: Checksum,
    batches: Int,
    state: StateSize,
    operators: Seq[String])

/**
 * Runs cases as streams over their table's files, with some files in each micro-batch.
 * Each run has a [[ScratchCheckpoint]].
 */
final class OurStream(spark: SparkSession, tasks: TaskLog, scratch: Path) {

  /** Lets queries read the table of a case by its name, as a stream. */
  def register(question: StreamingCase, files: StreamedFiles): Unit =
    files
      .stream(spark, StreamingBenchmark.filesPerBatch)
      .createOrReplaceTempView(question.table.name)

  /**
   * Wall time from SQL text to the commit of the last micro-batch, in a sink that drops the rows.
   */
  def time(sql: String, mode: String): Run =
    timed(s"SELECT *, row_kind() AS op FROM ($sql)", mode)

  /** The same for reading the columns only. */
  def timeScan(question: StreamingCase): Run =
    timed(s"SELECT ${question.reads.mkString(", ")} FROM ${question.table.name}", "append")

  private def timed(sql: String, mode: String): Run = ScratchCheckpoint.in(scratch) { checkpoint =>
    System.gc() // before the clock starts, so that nobody pays for another's garbage
    tasks.time {
      spark
        .sql(sql)
        .writeStream
        .format("noop")
        .outputMode(mode)
        .option("checkpointLocation", checkpoint.toString)
        .trigger(Trigger.AvailableNow)
        .start()
        .awaitTermination()
    }
  }

  /**
   * Runs a query for its whole changelog, which a consumer sums row by row.
   *
   * @param columns of the result that are summed
   */
  def answer(sql: String, columns: Seq[String]): StreamedOnce =
    ScratchCheckpoint.in(scratch) { checkpoint =>
      val sum = new AtomicReference(Checksum.none)
      val query = spark
        .sql(s"SELECT *, row_kind() AS op FROM ($sql)")
        .writeStream
        .outputMode("append")
        .option("checkpointLocation", checkpoint.toString)
        .trigger(Trigger.AvailableNow)
        .foreachBatch { (batch: DataFrame, _: Long) =>
          val changes = batch.selectExpr(Checksum.ofChanges(columns, "op"): _*)
          val changed = Checksum.read(changes.head())
          val _ = sum.updateAndGet(_ + changed)
        }
        .start()
      query.awaitTermination()
      val operators = query.lastProgress.stateOperators
      StreamedOnce(
        sum.get,
        query.recentProgress.count(_.numInputRows > 0),
        StateSize(operators.map(_.numRowsTotal).sum, operators.map(_.memoryUsedBytes).sum),
        OurStream.operators(query)
      )
    }
}

object OurStream {

  /** Stateful operators of the last micro-batch with their strategies, from the sink down. */
  def operators(query: StreamingQuery): Seq[String] = query match {
    case wrapper: StreamingQueryWrapper =>
      Explain.of(wrapper.streamingQuery.lastExecution.executedPlan).fired.flatMap { fired =>
        fired.values.get("operator").map { operator =>
          val more = Seq("strategy", "changelogMode").flatMap(fired.values.get)
          (operator +: more).mkString(" ")
        }
      }
    case _ => Nil
  }
}
