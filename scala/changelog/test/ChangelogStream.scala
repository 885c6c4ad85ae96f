package io.firesteel.changelog

import io.firesteel.changelog.plan.{ChangelogOperator, PruneColumns, ResultKeys}
import io.firesteel.changelog.plan.parse.ParseQuery
import io.firesteel.changelog.plan.parse.conditions.CommonConditions

import io.firesteel.testkit.{BesideComet, Interpreted, WithConf}
import java.nio.file.Files
import java.sql.Timestamp
import java.time.Instant

import scala.collection.mutable
import scala.util.Try

import org.apache.spark.sql.{DataFrame, Encoders, Row, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.types.StructType

/**
 * A query over a stream `{t}` that is fed by hand, its changelog, and the table that a consumer
 * makes of it.
 *
 * @param prepared what `{t}` is of the rows that are fed
 */
final class ChangelogStream(
    spark: SparkSession,
    schema: StructType,
    sql: String,
    source: ChangelogStream.Source = ChangelogStream.Rows,
    watermark: Option[(String, String)] = None,
    prepared: DataFrame => DataFrame = identity) {

  private val input = memoryStream[Row](spark)(Encoders.row(schema))

  /** Where state lies; another stream may go on with it. */
  var checkpoint: String = Files.createTempDirectory("firesteel-changelog").toString
  private val name = s"t${ChangelogStream.next()}"
  private val fed = mutable.ArrayBuffer.empty[Row]

  private val parts = source.parts

  /** Spark numbers the columns anew at each start, as in a new program. */
  private def createViews(): Unit = {
    val rows = prepared(watermark.foldLeft(input.toDF()) { case (rows, (column, delay)) =>
      rows.withWatermark(column, delay)
    })
    rows.toDF(rows.columns.toSeq: _*).createOrReplaceTempView(name)
    parts.foreach { case (part, _) =>
      spark.table(name).where(s"input = '$part'").drop("input")
        .createOrReplaceTempView(s"${name}_$part")
    }
  }

  createViews()

  private var query: StreamingQuery = _

  /** Every row that was emitted, in order; its kind is the last column. */
  val emitted: mutable.ArrayBuffer[Row] = mutable.ArrayBuffer.empty

  /** The rows of the last micro-batch, in order. */
  var last: Seq[Row] = Nil

  /** Whether the sink fails at the next micro-batch, when it has read all of it. */
  var failsNext: Boolean = false

  /** What a consumer of every change has. */
  private val table = new ConsumedTable
  private var wrong: Option[String] = None
  private var watermarkBefore: Option[Timestamp] = None

  /** What a consumer of upserts has, by key. */
  private val upserted = mutable.Map.empty[String, String]
  private var keyAt: Seq[Int] = _

  def start(): Unit = startAs("append", s"SELECT *, row_kind() AS op FROM ($sql)")

  /** An upsert stream: what comes replaces what has the same values in the `key` columns. */
  def startUpserts(key: Seq[Int]): Unit = {
    keyAt = key
    startAs("update", s"SELECT *, row_kind() AS op FROM ($sql)")
  }

  /** A text with what the stream reads in the places of `{t}`, or of its parts. */
  def reading(text: String): String =
    if (parts.isEmpty) text.replace("{t}", source.call(name))
    else parts.foldLeft(text) { case (all, (part, its)) =>
      all.replace(s"{$part}", its.call(s"${name}_$part"))
    }

  /**
   * Starts any query over `{t}` in any mode.
   *
   * @param hasKinds whether the last column tells the kinds of rows
   */
  def startAs(mode: String, text: String, hasKinds: Boolean = true): Unit = {
    createViews()
    query = spark.sql(reading(text)).writeStream
      .outputMode(mode)
      .option("checkpointLocation", checkpoint)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        last = batch.collect().toSeq
        if (failsNext) {
          failsNext = false
          throw new IllegalStateException("the sink fails")
        }
        emitted ++= last
        if (mode == "append" && hasKinds) last.foreach(table.consume)
        else if (keyAt != null) last.foreach(upsert)
      }
      .start()
  }

  def feed(rows: Seq[Row]): Unit = feedLate(rows)(_ => false)

  /** @param isLate whether the query drops a row, so that the answer does not count it */
  def feedLate(rows: Seq[Row])(isLate: Row => Boolean): Unit = {
    last = Nil
    fed ++= rows.filterNot(isLate)
    input.addData(rows)
    query.processAllAvailable()
  }

  /**
   * Rows that a checkpoint has already seen: told again to the source, and to the consumer as one.
   */
  def addBefore(rows: Seq[Row]): Unit = {
    fed ++= rows
    input.addData(rows)
    table.become(answer())
  }

  /** Rows for the source alone. */
  def add(rows: Seq[Row]): Unit = {
    val _ = input.addData(rows)
  }

  def stop(): Unit = if (query != null) query.stop()

  def restart(): Unit = {
    val _ = lastWatermark
    stop()
    start()
  }

  def running: StreamingQuery = query

  /** The watermark of the last micro-batch: it decides which rows of the next one are late. */
  def lastWatermark: Option[Timestamp] = {
    val ran = query.recentProgress.filter(_.durationMs.containsKey("addBatch"))
    ran.lastOption.flatMap(its => Option(its.eventTime.get("watermark"))).foreach { text =>
      watermarkBefore = Some(Timestamp.from(Instant.parse(text)))
    }
    watermarkBefore
  }

  /** The batch query over all that was fed. */
  def answer(text: String = sql): Seq[Row] = {
    import scala.jdk.CollectionConverters._
    def view(rows: Seq[Row], of: ChangelogStream.Source, columns: StructType, named: String) = {
      prepared(spark.createDataFrame(of.table(rows).asJava, of.schemaOf(columns)))
        .createOrReplaceTempView(named)
      named
    }
    val over =
      if (parts.isEmpty) text.replace("{t}", view(fed.toSeq, source, schema, s"${name}_batch"))
      else parts.foldLeft(text) { case (all, (part, its)) =>
        val rows = fed.toSeq.filter(_.getString(0) == part).map(row => Row.fromSeq(row.toSeq.tail))
        all.replace(
          s"{$part}",
          view(rows, its, StructType(schema.tail), s"${name}_batch_$part"))
      }
    WithConf(spark, BesideComet.off)(Interpreted(spark)(spark.sql(over).collect().toSeq))
  }

  /** How the consumer's table differs from the batch query's answer; none when it does not. */
  def difference: Option[String] = table.wrong.orElse(wrong).orElse(unexpected).orElse {
    val wanted = ChangelogStream.bag(answer())
    val has =
      if (keyAt == null) table.rows
      else upserted.values.groupBy(identity).map { case (row, same) => row -> same.size }
    if (wanted == has) None
    else Some(
      s"""
         |only the changelog's: ${(has.toSet -- wanted.toSet).take(8).mkString("; ")}
         |only the batch's:     ${(wanted.toSet -- has.toSet).take(8).mkString("; ")}
         |last emitted: ${last.take(20).mkString("; ")}
         |fed: ${fed.mkString("; ")}""".stripMargin)
  }

  private def upsert(change: Row): Unit = if (wrong.isEmpty) {
    val row = Row.fromSeq(change.toSeq.init)
    val key = ChangelogStream.text(Row.fromSeq(keyAt.map(row.get)))
    change.getString(change.length - 1) match {
      case "-D" if upserted.get(key).contains(ChangelogStream.text(row)) =>
        val _ = upserted.remove(key)
      case "-D" => wrong = Some(s"-D $row is of no row; the key has ${upserted.get(key)}")
      case "+I" if upserted.contains(key) => wrong = Some(s"+I $row is there: ${upserted(key)}")
      case "+I" | "+U" => upserted(key) = ChangelogStream.text(row)
      case other => wrong = Some(s"$other in update mode")
    }
  }

  /** Columns by which inference says that rows of the result are told apart. */
  def upsertKey: Option[Seq[Int]] = {
    val (plan, read) = inferred(updateBefore = false)
    ResultKeys(read).headOption.map { key =>
      key.toSeq.map(id => plan.output.indexWhere(_.exprId == id))
    }
  }

  private def inferred(updateBefore: Boolean): (LogicalPlan, ChangelogOperator) = {
    val plan = CommonConditions.nullSafe(executionOf(spark.sql(reading(sql))).analyzed)
    (plan, PruneColumns(new ParseQuery(updateBefore, None).read(plan)))
  }

  /** None of a query that is no changelog by itself. */
  private lazy val changes =
    Try(inferred(updateBefore = keyAt == null)._2.facts.changes).toOption

  /** A kind of the last micro-batch that inference says no row has: update mode relies on it. */
  private def unexpected: Option[String] = {
    val never = changes.toSeq.flatMap { its =>
      (if (its.deletes) Nil else Seq("-D")) ++ (if (its.updates) Nil else Seq("-U", "+U"))
    }
    if (never.isEmpty) None
    else last.map(row => row.getString(row.length - 1)).find(never.contains)
      .map(kind => s"$kind of a result that has $changes")
  }
}

object ChangelogStream {

  /** What a query reads for `{t}`, and what table it then answers for. */
  trait Source {
    def call(name: String): String
    def table(fed: Seq[Row]): Seq[Row]
    def schemaOf(fed: StructType): StructType

    /** Inputs that a query names instead of `{t}`, such as `{a}`; none if there is one input. */
    def parts: Seq[(String, Source)] = Nil
  }

  /** Several inputs, fed together: a first column `input` says which one a row is of. */
  final class Inputs(override val parts: Seq[(String, Source)]) extends Source {
    override def call(name: String): String = name
    override def table(fed: Seq[Row]): Seq[Row] = fed
    override def schemaOf(fed: StructType): StructType = fed
  }

  /** Rows that only come. */
  object Rows extends Source {
    override def call(name: String): String = name
    override def table(fed: Seq[Row]): Seq[Row] = fed
    override def schemaOf(fed: StructType): StructType = fed
  }

  /** Rows with their kinds in the last column, as a table function reads them. */
  final class Changes(of: String => String, applied: Seq[Row] => Seq[Row]) extends Source {
    override def call(name: String): String = of(name)
    override def table(fed: Seq[Row]): Seq[Row] = applied(fed)
    override def schemaOf(fed: StructType): StructType = StructType(fed.init)
  }

  private var made = 0

  private def next(): Int = synchronized {
    made += 1
    made
  }

  def bag(rows: Seq[Row]): Map[String, Int] =
    rows.groupBy(text).map { case (row, same) => row -> same.length }

  /** A row's text; which of both zeros a group or an extreme shows is nobody's promise. */
  def text(value: Any): String = value match {
    case null => "NULL"
    case row: Row => row.toSeq.map(text).mkString("[", ", ", "]")
    case d: Double if d == 0.0 => "0.0"
    case f: Float if f == 0.0f => "0.0"
    case d: Double => f"$d%.10g"
    case bytes: Array[Byte] => bytes.mkString("0x", ",", "")
    case items: Iterable[_] => items.map(text).mkString("(", ", ", ")")
    case decimal: java.math.BigDecimal => decimal.toPlainString
    case other => other.toString
  }
}
