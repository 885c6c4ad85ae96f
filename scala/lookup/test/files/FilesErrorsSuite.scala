package io.firesteel.lookup.files

import java.nio.file.{Files => Paths, StandardCopyOption}

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkException, SparkThrowable}
import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

/** Each error with its cause and its text. */
class FilesErrorsSuite extends FilesFixture {

  override def beforeAll(): Unit = {
    super.beforeAll()
    write(spark.sql("SELECT id, id % 3 AS three FROM range(100)"), "hundred", 8, "id")
  }

  private def folder(table: String): String = s"counted:${home.resolve(table)}"

  /** The condition, and the text. */
  private def error(body: => Any): (String, String) = {
    def ours(thrown: Throwable): Option[(String, String)] = thrown match {
      case null => None
      case known: SparkThrowable if String.valueOf(known.getCondition).startsWith("FIRESTEEL") =>
        Some((known.getCondition.stripPrefix("FIRESTEEL_LOOKUP_FILES_"), thrown.getMessage))
      case other => ours(other.getCause)
    }
    val thrown = intercept[Exception](body)
    // The cause of a failed task is the text of its exception.
    ours(thrown).getOrElse {
      val condition = "\\[FIRESTEEL_LOOKUP_FILES_([A-Z_]+)\\]".r.findFirstMatchIn(thrown.getMessage)
      (condition.fold(thrown.toString)(_.group(1)), thrown.getMessage)
    }
  }

  private def options(more: (String, String)*): (String, String) =
    error(load((Map("path" -> folder("hundred"), "buckets" -> "8", "bucket-by" -> "id") ++ more)
      .filter(_._2.nonEmpty)
      .toSeq: _*))

  test("unknown, missing and malformed options") {
    assert(options("bukets" -> "8")._1 == "UNKNOWN_OPTION")
    assert(options("bukets" -> "8")._2.contains("buckets, bucket-by"))
    assert(options("path" -> "")._1 == "MISSING_OPTION")
    assert(options("buckets" -> "")._1 == "MISSING_OPTION")
    assert(options("bucket-by" -> "")._1 == "MISSING_OPTION")
    assert(options("buckets" -> "none")._1 == "INVALID_OPTION")
    assert(options("buckets" -> "0")._1 == "INVALID_OPTION")
    assert(options("bucket-by" -> "id,")._1 == "INVALID_OPTION")
    assert(options("bucket-by" -> "key")._2.contains("columns of the files: id, three"))
    assert(options("idle-time" -> "soon")._1 == "INVALID_OPTION")
    assert(options("table" -> "hundred")._2.contains("because the option table gives it"))
  }

  test("options of the lookup join and of file systems pass") {
    val source = load(
      "path" -> folder("hundred"),
      "buckets" -> "8",
      "bucket-by" -> "id",
      "lookup.cache" -> "PARTIAL",
      "fs.counted.secret" -> "hidden",
      "mergeSchema" -> "false",
      "Idle-Time" -> "5 min"
    )
    assert(source.options.idleMillis == 300000L)
    assert(source.properties().get("lookup.cache") == "PARTIAL")
    val wrong = intercept[Exception](load(
      "path" -> folder("hundred"),
      "buckets" -> "8",
      "bucket-by" -> "id",
      "lookup.cahce" -> "PARTIAL"))
    assert(wrong.getMessage.contains("lookup.partial-cache.max-rows"))
    assert(source.options.reader.keySet == Set("fs.counted.secret", "mergeSchema"))
    assert(!source.toString.contains("hidden"))
  }

  test("tables without buckets, with partitions, of other formats, and views") {
    spark.sql("CREATE TABLE plain USING parquet AS SELECT 1 AS id")
    spark.sql("CREATE TABLE lines (id INT) USING json CLUSTERED BY (id) INTO 2 BUCKETS")
    spark.sql("CREATE TABLE parted (id INT, p INT) USING parquet PARTITIONED BY (p) " +
      "CLUSTERED BY (id) INTO 2 BUCKETS")
    spark.sql("CREATE VIEW seen AS SELECT * FROM hundred")
    assert(error(table("plain"))._2.contains("has no buckets"))
    assert(error(table("lines"))._2.contains("is stored as json"))
    assert(error(table("parted"))._2.contains("is partitioned by p"))
    assert(error(table("seen"))._2.contains("is a view"))
    assert(intercept[Exception](table("nowhere")).getMessage.contains("nowhere"))
  }

  test("a folder that is missing, contains folders, or has no schema") {
    assert(options("path" -> folder("nowhere"))._1 == "NO_FOLDER")
    Paths.createDirectories(home.resolve("parts").resolve("p=1"))
    assert(options("path" -> folder("parts"))._1 == "SUBFOLDER")
    Paths.createDirectories(home.resolve("nothing"))
    assert(options("path" -> folder("nothing"))._1 == "NO_SCHEMA")
  }

  private def lookup(table: FilesTable, keys: Long*): Seq[Row] =
    ask(table, contextOf(table, Seq("id")), keys.map(Row(_)))

  test("a file whose name has no bucket, or one that is out of range") {
    spark.range(3).write.parquet(folder("loose"))
    val loose = load("path" -> folder("loose"), "buckets" -> "8", "bucket-by" -> "id")
    assert(error(lookup(loose, 1L))._1 == "NO_BUCKET_ID")
    val few = load("path" -> folder("hundred"), "buckets" -> "4", "bucket-by" -> "id")
    val (condition, text) = error(lookup(few, 1L))
    assert(condition == "BUCKET_OUT_OF_RANGE")
    assert(text.contains("the last one is 3") && text.contains(".parquet"))
  }

  test("more buckets or other columns than were written") {
    val more = load("path" -> folder("hundred"), "buckets" -> "16", "bucket-by" -> "id")
    val (condition, text) = error(lookup(more, 0L until 100L: _*))
    assert(condition == "WRONG_BUCKET")
    assert(text.contains(".parquet") && text.contains("of 16 by the columns (id)"))
    val other = load("path" -> folder("hundred"), "buckets" -> "8", "bucket-by" -> "three")
    val context = contextOf(other, Seq("id", "three"))
    assert(error(ask(other, context, Seq(Row(1L, 1L))))._1 == "WRONG_BUCKET")
  }

  test("a damaged file gives Spark's error with its name, or is passed over when Spark would") {
    write(spark.sql("SELECT id FROM range(100)"), "damaged", 2, "id")
    val file = Paths.list(home.resolve("damaged")).iterator.asScala
      .find(_.toString.endsWith(".parquet"))
      .get
    Paths.write(file, Array.fill[Byte](100)(7))
    val source = table("damaged")
    val failure = intercept[SparkException](lookup(source, 0L until 100L: _*))
    assert(failure.getMessage.contains(file.getFileName.toString))
    val kept = withConf("spark.sql.files.ignoreCorruptFiles" -> true) {
      lookup(table("damaged"), 0L until 100L: _*)
    }
    assert(kept.nonEmpty && kept.length < 100)
    Paths.delete(file)
  }

  test("a load that is interrupted is no damaged file, and nobody gets a part of it") {
    write(spark.sql("SELECT id FROM range(100)"), "cut", 2, "id")
    withConf("spark.sql.files.ignoreCorruptFiles" -> true) {
      val source = table("cut")
      intercept[Exception](CountedFileSystem.cut(lookup(source, 0L until 100L: _*)))
      assert(lookup(source, 0L until 100L: _*).length == 100)
    }
  }

  test("a file that no longer exists when it is read") {
    write(spark.sql("SELECT id FROM range(100)"), "going", 1, "id")
    val source = table("going")
    val function = source.newLookup(contextOf(source, Seq("id")))
    val folder = home.resolve("going")
    val file = Paths.list(folder).iterator.asScala.find(_.toString.endsWith(".parquet")).get
    val moved =
      Paths.move(file, home.resolve("moved.parquet"), StandardCopyOption.REPLACE_EXISTING)
    val key = FilesFixture.internal(Row(1L), StructType(source.schema().take(1)))
    val failure = intercept[SparkException](askEach(function, Seq(Seq(key))))
    assert(failure.getMessage.contains(file.getFileName.toString))
    Paths.delete(moved)
  }
}
