package io.firesteel.bench

import java.nio.file.Paths

import org.apache.spark.sql.SparkSession

/** Times sums by `OVER` beside Apache Flink, and writes their page. */
object OverMain extends SuiteMain("over") {

  private val batches = 10

  val filesPerBatch: Int = 2

  /** Files of a table. */
  val parts: Int = batches * filesPerBatch

  override protected def names: Seq[String] = OverCases.all.map(_.name)

  override protected def size(arguments: Arguments): String = f"${arguments.rows}%,d rows"

  override protected def queries(
      spark: SparkSession,
      arguments: Arguments,
      progress: Progress,
      asked: Seq[String]): Seq[SuiteQuery] = {
    val files = new OverFiles(spark, arguments.data, progress)
    OverCases.all.filter(its => asked.contains(its.name)).map { its =>
      val question = its.question(arguments.rows)
      val read = files.inOrder(question.table)
      val jobs = new FlinkJobs(
        question,
        files.forTasks(question.table),
        Paths.get("target/bench").resolve(suite))
      SuiteQuery(
        its.name,
        question.sql,
        question.answer,
        question.mode,
        compared = question.sql,
        tables = () => read.batch(spark).createOrReplaceTempView(question.table.name),
        streams =
          () => read.stream(spark, filesPerBatch).createOrReplaceTempView(question.table.name),
        timed = jobs.timed,
        sum = Some(jobs.answer)
      )
    }
  }

  override protected def page(results: SuiteResults): String = OverPage.of(results)
}
