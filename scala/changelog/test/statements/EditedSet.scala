package io.firesteel.changelog.statements

import io.firesteel.changelog.{ChangelogStream, ConsumedTable}

import java.nio.file.{Files, Path}

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

/**
 * A statement set over a folder of files, which is started with other statements each time, and the
 * table that a consumer makes of each statement's rows.
 */
final class EditedSet(spark: SparkSession) {
  import EditedSet._

  private val source = Files.createTempDirectory("firesteel-edited")
  private val tables = mutable.Map.empty[String, ConsumedTable]
  private var files = 0
  val checkpoint: Path = Files.createTempDirectory("firesteel-statements")

  /** The statement whose target fails. */
  @volatile var failing: String = ""

  private val schema = "k STRING, v INT"

  private def views(prefix: String, rows: DataFrame): Unit = {
    rows.createOrReplaceTempView(s"${prefix}_t")
    of.foreach { case (name, sql) =>
      spark.sql(reading(prefix, sql)).createOrReplaceTempView(s"${prefix}_$name")
    }
  }

  private def reading(prefix: String, sql: String): String =
    ("t" +: of.map(_._1)).foldLeft(sql)((text, name) =>
      text.replace(s"{$name}", s"${prefix}_$name"))

  def add(rows: (String, Int)*): Unit = {
    val lines = rows.map { case (k, v) => s"""{"k": "$k", "v": $v}""" }
    val _ = Files.writeString(source.resolve(s"$files.json"), lines.mkString("\n"))
    files += 1
  }

  /** Starts the set, and waits until it has read all files. */
  def run(statements: Of*): StreamingQuery = {
    val query = start(statements: _*)
    query.awaitTermination()
    query
  }

  def start(statements: Of*): StreamingQuery = {
    views(
      "edited",
      spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        .json(source.toString))
    val set = new StatementSet(spark, checkpoint.toString)
    statements.foreach { its =>
      val target = StatementTarget.function { (rows: DataFrame, _: Long) =>
        val seen = rows.collect().toSeq
        if (its.name == failing) throw new IllegalStateException(s"${its.name} fails")
        val table = tables.getOrElseUpdate(its.name, new ConsumedTable)
        if (its.mode == "complete") table.become(seen)
        else if (its.sql.contains(kinds)) seen.foreach(table.consume)
        else seen.foreach(row => table.consume(org.apache.spark.sql.Row.fromSeq(row.toSeq :+ "+I")))
      }
      val query = its.own(spark.sql(reading("edited", its.sql)))
      set.insert(its.name, query, target, its.mode, its.from)
    }
    set.start(Trigger.AvailableNow())
  }

  /** How the tables of statements differ from the batch query's answers. */
  def differences(statements: Of*): Seq[String] = {
    views("all", spark.read.schema(schema).json(source.toString))
    statements.flatMap { its =>
      val rows = spark.sql(reading("all", its.sql.replace(kinds, ""))).collect().toSeq
      val (wanted, table) = (ChangelogStream.bag(rows), tables(its.name))
      table.wrong.orElse(Option.when(table.rows != wanted)(s"${table.rows}, not $wanted"))
        .map(text => s"${its.name}: $text")
    }
  }

  /** The table of a statement: each row and how often it is there. */
  def rows(name: String): Map[String, Int] = tables(name).rows

  /** A consumer that begins anew. */
  def forget(name: String): Unit = { val _ = tables.remove(name) }

  def operators: Seq[String] = {
    val state = checkpoint.resolve("state").toFile
    Option(state.list()).toSeq.flatten.filter(_.forall(_.isDigit)).sortBy(_.toInt)
  }
}

object EditedSet {

  val kinds: String = FedStatements.kinds

  /** @param own what else the query does */
  final case class Of(
      name: String,
      sql: String,
      mode: String = "append",
      from: String = "",
      own: DataFrame => DataFrame = identity) {
    def begins(at: String): Of = copy(from = at)
  }

  /** Views, each over those before. */
  private val of = Seq(
    "sums" -> "SELECT k, count(*) AS n, sum(v) AS s FROM {t} GROUP BY k",
    "top" -> ("SELECT k, v FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS p " +
      "FROM {t}) WHERE p <= 2"),
    "told" -> "SELECT *, uuid() AS id FROM {t}"
  )
}
