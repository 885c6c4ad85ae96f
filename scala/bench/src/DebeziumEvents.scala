package io.firesteel.bench

import java.nio.file.Path
import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.streaming.Trigger

/** Debezium's events as a changelog, read by this project's JSON and by Spark's. */
final class DebeziumEvents(
    spark: SparkSession,
    scratch: Path,
    progress: Progress,
    arguments: Arguments) {
  import DebeziumEvents._

  private val data = new DataFolder(arguments.data, progress)

  def run(): Seq[Figure] = {
    StreamedFiles.make(spark, data, table(arguments.rows), "parquet").stream(spark, perBatch = 2)
      .createOrReplaceTempView("topic")
    queries.map { case (title, sql, columns) =>
      def within[A](on: Boolean)(body: => A): A =
        Contestant(
          "",
          "",
          StreamingSettings.inMemory + ("spark.firesteel.json.enabled" -> on.toString))
          .within(spark)(body)
      val sides = Seq(ours -> true, sparks -> false).map { case (name, on) =>
        name -> (() => within(on)(time(sql)))
      }
      val sums = Seq(true, false).map { on =>
        progress.step(s"$title: answer")(within(on)(answer(sql, columns)))
      }
      if (sums.distinct.size != 1) throw new WrongAnswer(s"$title: ${sums.mkString(", ")}")
      val _ = progress.step(s"$title: warm-up") {
        WarmUp.until(i => Rounds.order(sides, i).map { case (name, run) => name -> run() })
      }
      val rounds = Rounds.inTurn(progress, title, arguments.pairs)(sides: _*)
      Figure(name, title, "in memory", sparks, ours, rounds, Bound.AtLeast(1.0))
    }
  }

  private def time(sql: String): Run = ScratchCheckpoint.in(scratch) { checkpoint =>
    System.gc()
    val start = System.nanoTime()
    spark.sql(s"SELECT *, row_kind() AS op FROM ($sql)").writeStream.format("noop")
      .outputMode("append").option("checkpointLocation", checkpoint.toString)
      .trigger(Trigger.AvailableNow).start().awaitTermination()
    Run((System.nanoTime() - start) / 1e9, Nil)
  }

  /** The sum of all changes. */
  private def answer(sql: String, columns: Seq[String]): Checksum =
    ScratchCheckpoint.in(scratch) { checkpoint =>
      val sum = new AtomicReference(Checksum.none)
      spark.sql(s"SELECT *, row_kind() AS op FROM ($sql)").writeStream.outputMode("append")
        .option("checkpointLocation", checkpoint.toString).trigger(Trigger.AvailableNow)
        .foreachBatch { (batch: DataFrame, _: Long) =>
          val changes =
            Checksum.read(batch.selectExpr(Checksum.ofChanges(columns, "op"): _*).head())
          val _ = sum.updateAndGet(_ + changes)
        }.start().awaitTermination()
      sum.get
    }
}

object DebeziumEvents {

  val name: String = "events"

  val (ours, sparks) = ("firesteel's JSON", "Spark's JSON")

  val note: String =
    """Events of Debezium, as text in Parquet in five micro-batches: a quarter inserts rows of eight
      |columns, and each of the others updates one, with the whole row before and after it, some 500
      |bytes. `from_debezium` takes three columns, by the key and by `before`. *firesteel's JSON* and
      |*Spark's JSON*: with `spark.firesteel.json.enabled` true and false; all else is the same.
      |The sums of both changelogs are equal.""".stripMargin

  private val schema = "'id BIGINT, city STRING, amount BIGINT'"

  /** Title, query, and columns of its result that are summed. */
  private val queries = Seq(
    (
      "a sum by city, rows by their keys",
      "SELECT abs(hash(city)) AS c, count(*) AS n, sum(amount) AS s FROM " +
        s"from_debezium(TABLE(topic), $schema, keys => array('id')) GROUP BY city",
      Seq("c", "n", "s")),
    (
      "a sum by city, rows before and after",
      "SELECT abs(hash(city)) AS c, count(*) AS n, sum(amount) AS s FROM " +
        s"from_debezium(TABLE(topic), $schema) GROUP BY city",
      Seq("c", "n", "s"))
  )

  private def table(rows: Long): Table = {
    val keys = rows / 4
    def row(version: String) = Seq(
      "id" -> s"pmod(id, ${keys}L)",
      "city" -> s"concat('city-', pmod(xxhash64($version, 1), 1000L))",
      "name" -> s"concat('name of ', md5(CAST($version AS STRING)))",
      "email" -> s"concat(left(md5(CAST($version + 1 AS STRING)), 12), '@example.org')",
      "amount" -> s"pmod(xxhash64($version, 2), 100000L)",
      "rate" -> s"CAST(pmod(xxhash64($version, 3), 10000L) AS DOUBLE) / 100",
      "active" -> s"pmod($version, 2L) = 0",
      "note" -> s"repeat('some words ', CAST(pmod($version, 8L) AS INT))"
    ).map { case (column, sql) => s"'$column', $sql" }.mkString("named_struct(", ", ", ")")
    val source = "named_struct('version', '2.7', 'connector', 'postgresql', 'table', 'people')"
    val event = s"named_struct('before', IF(id < $keys, NULL, ${row(s"(id - ${keys}L)")}), " +
      s"'after', ${row("id")}, 'source', $source, 'op', IF(id < $keys, 'c', 'u'), 'ts_ms', id)"
    val text = s"to_json($event, map('ignoreNullFields', 'false'))"
    Table("debezium", rows, Seq("value" -> text), 10)
  }
}
