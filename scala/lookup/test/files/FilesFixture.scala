package io.firesteel.lookup.files

import java.nio.file.{Files => Paths, Path => LocalPath}

import scala.jdk.CollectionConverters._

import io.firesteel.lookup.{LookupContext, LookupFunction, SyncLookupFunction, TaskInfo}
import io.firesteel.testkit.RoomSuite
import org.apache.commons.io.FileUtils
import org.apache.spark.sql.{DataFrame, Row, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.scalatest.Assertion

/** Bucketed tables written by Spark, in a folder with spaces in its name, and ways to ask them. */
abstract class FilesFixture extends RoomSuite {

  override def install(extensions: SparkSessionExtensions): Unit = ()

  protected lazy val home: LocalPath = Paths.createTempDirectory("firesteel 100% files ")

  override protected def afterAll(): Unit =
    try super.afterAll()
    finally FileUtils.deleteDirectory(home.toFile)

  override protected def settings: Map[String, String] = Map(
    "spark.sql.warehouse.dir" -> home.resolve("ware house").toUri.toString,
    "spark.sql.timeType.enabled" -> "true",
    "spark.hadoop.fs.counted.impl" -> classOf[CountedFileSystem].getName
  )

  /** Writes a table on a file system that records opened files. */
  protected def write(data: DataFrame, table: String, buckets: Int, by: String*): Unit = {
    spark.sql(s"DROP TABLE IF EXISTS $table")
    append(data, table, buckets, by: _*)
  }

  protected def append(data: DataFrame, table: String, buckets: Int, by: String*): Unit =
    data.write
      .mode("append")
      .option("path", s"counted:${home.resolve(table)}")
      .bucketBy(buckets, by.head, by.tail: _*)
      .saveAsTable(table)

  protected def load(options: (String, String)*): FilesTable = {
    val written = new CaseInsensitiveStringMap(options.toMap.asJava)
    val source = new FilesSource
    source.getTable(source.inferSchema(written), Array.empty, written) match {
      case table: FilesTable => table
      case other => fail(s"not a table of files: $other")
    }
  }

  protected def table(name: String): FilesTable = load("table" -> name)

  /** The context of a query by `keys`; with all columns, unless the caller names some. */
  protected def contextOf(
      table: FilesTable,
      keys: Seq[String],
      columns: Seq[String] = Nil,
      filters: Seq[Predicate] = Nil): LookupContext = {
    val schema = table.schema()
    val wanted = if (columns.isEmpty) schema.fieldNames.toSeq else columns
    new LookupContext(
      StructType(schema.filter(f => keys.contains(f.name))),
      StructType(schema.filter(f => wanted.contains(f.name))),
      filters.toArray,
      customShuffle = false,
      numPartitions = 0
    )
  }

  /** The rows that a function answers in one task. */
  protected def ask(table: FilesTable, context: LookupContext, keys: Seq[Row]): Seq[Row] = {
    val internal = keys.map(FilesFixture.internal(_, context.keys))
    val answer = askEach(table.newLookup(context), Seq(internal)).head
    FilesFixture.external(answer.toSeq, context.columns)
  }

  /** The rows that a function answers in tasks, one for each list of keys. */
  protected def askEach(
      function: LookupFunction,
      keys: Seq[Seq[UnsafeRow]]): Seq[Array[UnsafeRow]] = {
    val tasks = spark.sparkContext.parallelize(keys, keys.length)
    val sync = function match {
      case sync: SyncLookupFunction => sync
      case other => fail(s"not synchronous: $other")
    }
    tasks.mapPartitions(FilesFixture.answers(sync, _)).collect().toSeq
  }

  /**
   * Asks by every key that occurs, and by one that does not, and compares with Spark's own join.
   */
  protected def assertAnswers(name: String, keys: String*): Assertion = {
    val source = table(name)
    val context = contextOf(source, keys)
    val named = context.keys.fieldNames.map(n => s"`$n`").mkString(", ")
    val asked = spark.sql(s"SELECT DISTINCT $named FROM $name").na.drop("any")
    val expected = spark.table(name).join(asked, context.keys.fieldNames.toSeq)
    val columns = source.schema().fieldNames.map(n => s"`$n`").toSeq
    assertSameRows(
      ask(source, context, asked.collect().toSeq),
      expected.selectExpr(columns: _*).collect().toSeq,
      s"$name by $named")
  }
}

object FilesFixture {

  def internal(row: Row, schema: StructType): UnsafeRow = {
    val converted = CatalystTypeConverters.createToCatalystConverter(schema)(row)
    UnsafeProjection.create(schema)(converted.asInstanceOf[InternalRow]).copy()
  }

  def external(rows: Seq[InternalRow], schema: StructType): Seq[Row] = {
    val convert = CatalystTypeConverters.createToScalaConverter(schema)
    rows.map(row => convert(row).asInstanceOf[Row])
  }

  private def answers(
      function: SyncLookupFunction,
      keys: Iterator[Seq[UnsafeRow]]): Iterator[Array[UnsafeRow]] = {
    function.open(TaskInfo(0, 1, 0, "test"))
    try {
      val asked: Seq[InternalRow] = keys.flatten.toSeq
      // As in the engine, the function is called in another thread than the task's.
      val answered = new java.util.concurrent.FutureTask(() =>
        function
          .lookup(asked.asJava)
          .asScala
          .map { case row: UnsafeRow => row.copy(); case other => sys.error(s"$other") }
          .toArray)
      val thread = new Thread(answered, "asks")
      thread.start()
      Iterator.single(
        try answered.get()
        catch { case failed: java.util.concurrent.ExecutionException => throw failed.getCause })
    } finally function.close()
  }
}
