package io.firesteel.json.files

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import io.firesteel.core.decide.Explain
import io.firesteel.json.JsonSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.firesteel.lastBatchOf
import org.scalatest.Assertion

/** Scans of JSON files: Spark's answers, and which of them are read here. */
class JsonFilesSuite extends JsonSuite {

  private val schema =
    "id BIGINT, name STRING, price DOUBLE, at TIMESTAMP, user STRUCT<name: STRING, age: INT>, " +
      "tags ARRAY<STRING>, note STRING"

  private val lines = (0 until 300).map {
    case i if i % 37 == 3 => ""
    case i if i % 41 == 4 => s"""{"id":$i,"name":"cut"""
    case i if i % 43 == 5 => s"""[{"id":$i},{"id":${i + 1000}}]"""
    case i if i % 47 == 6 => s"""{"id":"$i","name":1.50,"note":{"a": [1, 2.0]}}"""
    case i if i % 53 == 7 => s"""{'id':$i}"""
    case i =>
      s"""{"id":$i, "name":"né ${i % 7}","price":${i / 4.0},"at":"2026-01-0${i % 9 + 1}T12:00:00Z",""" +
        s""""user":{"name":"u${i % 5}","age":${i % 90}},"tags":["a","b\\n"],"note":{"x" : ${i}.10}}"""
  }

  private lazy val folder: File = {
    val folder = Files.createTempDirectory("json-files").toFile
    for (part <- Seq("d=1", "d=2")) {
      val file = new File(folder, s"$part/lines.json")
      val _ = file.getParentFile.mkdirs()
      val _ = Files.write(file.toPath, lines.mkString("\n").getBytes(UTF_8))
    }
    folder
  }

  private def read(options: (String, String)*): DataFrame =
    spark.read.options(options.toMap).schema(schema).json(s"$folder/d=1")

  private def rules(data: DataFrame): Seq[String] =
    Explain.of(executed(data)).fired.map(_.rule).distinct

  private def check(sql: String): Assertion = {
    val _ = assertSameOutcome(sql)
    assert(fired(sql).distinct == Seq("ReadJsonFiles"), sql)
  }

  test("columns, conditions, counts") {
    read().createOrReplaceTempView("f")
    val _ = check("SELECT * FROM f")
    val _ = check("SELECT name, id + 1 FROM f WHERE price > 20 AND name <> 'né 3'")
    val _ = check("SELECT count(*) FROM f")
    val _ = check("SELECT user.name, count(*), sum(price), min(note) FROM f GROUP BY 1")
    val _ = check("SELECT a.id FROM f a JOIN f b ON a.id = b.user.age")
    read().selectExpr("id", "_metadata.file_name", "input_file_name()")
      .createOrReplaceTempView("places")
    check("SELECT * FROM places")
  }

  test("explain tells what Spark has read") {
    val data = read().select("id", "name")
    val _ = data.collect()
    val explained = Explain.of(executed(data))
    val _ = assert(explained.plan.contains("FileScan json") &&
      explained.plan.contains("Format: JSON by firesteel"))
    val told = explained.fired.head.values("read by Spark")
    val expected =
      "36 of 299 documents (29: not plain JSON; 7: a value is not exact, most often id BIGINT)"
    assert(told == expected)
  }

  test("columns of partitions") {
    spark.read.schema(schema).json(folder.toString).createOrReplaceTempView("parts")
    val _ = check("SELECT id, d FROM parts WHERE d = 2")
    check("SELECT d, count(*) FROM parts GROUP BY d")
  }

  test("modes, and a column for corrupt records") {
    for (mode <- Seq("PERMISSIVE", "DROPMALFORMED", "FAILFAST")) {
      read("mode" -> mode).createOrReplaceTempView("f")
      val _ = check("SELECT id, name FROM f")
      val _ = check("SELECT id, name FROM f WHERE id < 3")
      spark.read.option("mode", mode).option("columnNameOfCorruptRecord", "bad")
        .schema(s"$schema, bad STRING").json(s"$folder/d=1").createOrReplaceTempView("f")
      val _ = check("SELECT id, bad FROM f")
      // Spark refuses a query of this column alone.
      val _ = assertSameOutcome("SELECT bad FROM f")
      spark.read.option("mode", mode).option("columnNameOfCorruptRecord", "id")
        .schema(schema).json(s"$folder/d=1").createOrReplaceTempView("f")
      val _ = assertSameOutcome("SELECT name FROM f")
    }
  }

  test("compressed files, other separators, and options of writing") {
    read().write.option("compression", "gzip").json(s"$folder/zipped")
    spark.read.schema(schema).json(s"$folder/zipped").createOrReplaceTempView("f")
    val _ = check("SELECT * FROM f")
    read().write.option("lineSep", ";;").option("ignoreNullFields", "false")
      .json(s"$folder/separated")
    spark.read.schema(schema).options(Map("lineSep" -> ";;", "ignoreNullFields" -> "false"))
      .json(s"$folder/separated").createOrReplaceTempView("f")
    check("SELECT * FROM f")
  }

  test("a table") {
    spark.sql("CREATE TABLE told (id INT, c CHAR(5), v VARCHAR(9)) USING json")
    spark.sql("INSERT INTO told VALUES (1, 'a', 'b'), (2, 'cc', NULL)")
    val _ = check("SELECT * FROM told WHERE c = 'a'")
    spark.sql("ALTER TABLE told ADD COLUMN more INT DEFAULT 7")
    val _ = assertSameAnswer("SELECT * FROM told")
    assert(declines("SELECT * FROM told") == Set("JSON.SCHEMA"))
  }

  test("what is Spark's") {
    def reasons(options: (String, String)*): Set[String] = {
      read(options: _*).createOrReplaceTempView("f")
      declines("SELECT * FROM f")
    }
    def why(options: (String, String)*): Set[String] = {
      read(options: _*).createOrReplaceTempView("f")
      val _ = assertSameOutcome("SELECT * FROM f")
      reasons(options: _*)
    }
    val option = Set("JSON.OPTION")
    val _ = assert(why("multiLine" -> "true") == option)
    val _ = assert(why("encoding" -> "UTF-8") == option)
    val _ = assert(why("timestampFormat" -> "yyyy") == option)
    val _ = assert(reasons("allowComments" -> "maybe") == option)
    val _ = assert(reasons("lineSep" -> "") == option)
    spark.read.format("json").schema("m MAP<INT, STRING>").load(s"$folder/d=1")
      .createOrReplaceTempView("f")
    val _ = assertSameOutcome("SELECT * FROM f")
    val _ = assert(declines("SELECT * FROM f") == Set("JSON.TYPE"))
    val _ = assert(why("timeZone" -> "America/Los_Angeles") == Set.empty)
    val _ = assert(why("maxFilesPerTrigger" -> "1", "recursiveFileLookup" -> "true") == Set.empty)
    Seq("maxNestingDepth", "maxNumLen", "maxStringLen")
      .foreach(limit => assert(why(limit -> "5") == option, limit))
    withConf("spark.firesteel.json.enabled" -> false) {
      assert(why() == Set("JSON.SWITCHED_OFF"))
    }
    withConf("spark.sql.files.archive.reader.enabled" -> true)(assert(why() == option))
    withConf("spark.sql.json.enableExactStringParsing" -> false) {
      assert(why() == Set("JSON.LEGACY"))
    }
  }

  test("conditions see the rows that pushed filters leave") {
    val of = new File(folder, "pushed.json")
    val lines = Seq("n", "x", "n").zipWithIndex.map { case (k, i) =>
      s"""{"k":"$k","v":"${if (k == "x") "abc" else i}","a":${if (k == "x") -1 else i},"b":$i}"""
    }
    val _ = Files.write(of.toPath, lines.mkString("\n").getBytes(UTF_8))
    spark.read.schema("k STRING, v STRING, a INT, b INT").json(of.getPath).createOrReplaceTempView(
      "pushed")
    for (on <- Seq(true, false)) withConf("spark.sql.json.filterPushdown.enabled" -> on) {
      Seq(
        "CAST(v AS INT) = 0 AND k = 'n'",
        "IF(k = 'n', true, raise_error('no')) AND a >= 0",
        "monotonically_increasing_id() % 2 = 0 AND a >= 0",
        "1 / (a + 1) > 0 AND k = 'n'",
        "b IS NOT NULL AND nullif(b, 1) IS NULL"
      ).foreach(condition => check(s"SELECT * FROM pushed WHERE $condition"))
    }
  }

  test("the settings of the session that has the files") {
    val of = new File(folder, "times.json")
    val text = "{\"t\":\"2026-01-01 12:00:00\",\"i\":0}\nbad"
    val _ = Files.write(of.toPath, text.getBytes(UTF_8))
    spark.read.schema("t TIMESTAMP, i INT, _corrupt_record STRING, bad STRING").json(of.getPath)
      .createOrReplaceGlobalTempView("times")
    val other = spark.newSession()
    other.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    other.conf.set("spark.sql.columnNameOfCorruptRecord", "bad")
    val sql = "SELECT unix_seconds(t), i, _corrupt_record, bad FROM global_temp.times"
    val ours = other.sql(sql).collect().toSeq
    other.conf.set("spark.firesteel.enabled", false)
    assertSameRows(ours, other.sql(sql).collect().toSeq, sql)
  }

  test("a stream") {

    /** The rows that Spark counts, the answer, and the rules of the last micro-batch. */
    def run(name: String): (Long, Seq[Row], Seq[String]) = {
      val query = spark.readStream.schema(schema).json(s"$folder/d=1")
        .where("id > 5").selectExpr("id", "note")
        .writeStream.format("memory").queryName(name).start()
      try {
        query.processAllAvailable()
        val rules = Explain.of(lastBatchOf(query).get.executedPlan).fired.map(_.rule)
        (query.recentProgress.map(_.numInputRows).sum, spark.table(name).collect().toSeq, rules)
      } finally query.stop()
    }
    val (count, rows, rules) = run("ours")
    val (sparksCount, sparksRows, _) = stock(run("sparks"))
    val _ = assert(rules == Seq("ReadJsonFiles") && count == sparksCount)
    assertSameRows(rows, sparksRows, "the stream")
  }

  test("an answer that is kept, and the same files twice") {
    val data = read().select("id", "name")
    val _ = data.cache()
    try {
      val _ = assert(rules(data.where("id > 5")) == Seq("ReadJsonFiles"))
    } finally {
      val _ = data.unpersist()
    }
    read().createOrReplaceTempView("f")
    val groups = "(SELECT id, count(*) FROM f GROUP BY id)"
    check(s"SELECT * FROM $groups UNION ALL $groups")
  }
}
