package io.firesteel.changelog.statements

import io.firesteel.changelog.{ChangelogStream, ConsumedTable}
import io.firesteel.testkit.Interpreted

import java.nio.file.Files

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, Encoders, Row, SparkSession}
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.types.StructType

/**
 * A statement set over a stream `{t}` that is fed by hand, and the table that a consumer makes of
 * each statement's rows.
 *
 * @param views queries over `{t}` and each other, by the names that statements read them by
 * @param own the same in Scala
 */
final class FedStatements(
    spark: SparkSession,
    schema: StructType,
    statements: Seq[FedStatements.Statement],
    views: Seq[(String, String)] = Nil,
    own: Map[String, DataFrame => DataFrame] = Map.empty) {

  private val input = memoryStream[Row](spark)(Encoders.row(schema))
  private val prefix = s"set${FedStatements.next()}"
  private val fed = mutable.ArrayBuffer.empty[Row]
  private var query: StreamingQuery = _
  private val all = statements.map(_ => mutable.ArrayBuffer.empty[Row])
  private val tables = statements.map(_ => new ConsumedTable)

  /** The rows of the last micro-batch, by statement. */
  var last: Seq[Seq[Row]] = Nil

  /** Whether the sink fails at the next micro-batch, when it has read all of it. */
  var failsNext: Boolean = false

  /** Called with the rows of a micro-batch that fails. */
  var failing: Seq[Seq[Row]] => Unit = _ => ()

  var checkpoint: String = Files.createTempDirectory("firesteel-statements").toString

  input.toDF().createOrReplaceTempView(s"${prefix}_t")
  own.foreach { case (name, of) => of(input.toDF()).createOrReplaceTempView(s"${prefix}_$name") }
  views.foreach { case (name, sql) =>
    spark.sql(reading(sql)).createOrReplaceTempView(s"${prefix}_$name")
  }

  private def reading(sql: String, of: String = prefix): String =
    (views.map(_._1) ++ own.keys :+ "t").foldLeft(sql) { (text, name) =>
      text.replace(s"{$name}", s"${of}_$name")
    }

  def start(): Unit = startAs(statements)

  def startAs(statements: Seq[FedStatements.Statement]): Unit = {
    val queries = statements.zipWithIndex.map { case (statement, i) =>
      val name = s"${prefix}_q$i"
      spark.sql(reading(statement.sql)).createOrReplaceTempView(name)
      s"TABLE($name)"
    }
    def list(texts: Seq[String]) = texts.mkString("array('", "', '", "')")
    val names = list(statements.indices.map(i => s"s$i"))
    query = spark.sql(
      s"SELECT * FROM firesteel_statement_set(${queries.mkString(", ")}, names => $names, " +
        s"modes => ${list(statements.map(_.mode))})").writeStream
      .option("checkpointLocation", checkpoint)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        last = statements.indices.map { i =>
          batch.where(s"statement = $i").select(s"s$i.*").collect().toSeq
        }
        if (failsNext) {
          failsNext = false
          failing(last)
          throw new IllegalStateException("the sink fails")
        }
        last.zip(all).foreach { case (rows, seen) => seen ++= rows }
        last.zip(statements).zip(tables).foreach { case ((rows, statement), table) =>
          if (statement.mode == "complete") table.become(rows)
          else if (statement.hasKinds) rows.foreach(table.consume)
          else rows.foreach(row => table.consume(Row.fromSeq(row.toSeq :+ "+I")))
        }
      }.start()
  }

  /** Gives rows that the checkpoint has already, before the start. */
  def addBefore(rows: Seq[Row]): Unit = {
    fed ++= rows
    val _ = input.addData(rows)
    answers.zip(tables).foreach { case (rows, table) => table.become(rows) }
  }

  def feed(rows: Seq[Row]): Unit = {
    fed ++= rows
    input.addData(rows)
    query.processAllAvailable()
  }

  /** Gives rows to a query that fails at them, and starts it again. */
  def failAt(rows: Seq[Row]): Unit = {
    fed ++= rows
    failsNext = true
    input.addData(rows)
    scala.util.Try(query.processAllAvailable())
    query.stop()
    start()
    query.processAllAvailable()
  }

  def running: StreamingQuery = query

  /** A text with the names of what it reads. */
  def readingOf(sql: String): String = reading(sql)

  /** The rows of each statement so far. */
  def seen: Seq[Seq[Row]] = all.map(_.toSeq)

  def stop(): Unit = if (query != null) query.stop()

  def restart(): Unit = {
    stop()
    start()
  }

  /** How the table of a statement differs from the batch query's answer. */
  def differences: Seq[String] =
    statements.zip(tables).zip(answers).flatMap { case ((statement, table), answer) =>
      val wanted = ChangelogStream.bag(answer)
      table.wrong.orElse(Option.when(wanted != table.rows) {
        s"only the statement's: ${(table.rows.toSet -- wanted.toSet).take(5)}, only the batch's: " +
          s"${(wanted.toSet -- table.rows.toSet).take(5)}, last: $last"
      }).map(text => s"${statement.sql}: $text")
    }

  /** The batch query's answer for each statement. */
  private def answers: Seq[Seq[Row]] = {
    val batch = s"${prefix}_batch"
    spark.createDataFrame(fed.asJava, schema).createOrReplaceTempView(s"${batch}_t")
    views.foreach { case (name, sql) =>
      spark.sql(reading(sql, batch)).createOrReplaceTempView(s"${batch}_$name")
    }
    statements.map { statement =>
      val sql = reading(statement.sql.replace(FedStatements.kinds, ""), batch)
      Interpreted(spark)(spark.sql(sql).collect().toSeq)
    }
  }
}

object FedStatements {

  /** The text by which a statement asks for kinds, as the last column. */
  val kinds: String = ", row_kind() AS op"

  final case class Statement(sql: String, mode: String = "append") {
    def hasKinds: Boolean = sql.contains(kinds)
  }

  private var count = 0
  private def next(): Int = synchronized {
    count += 1
    count
  }
}
