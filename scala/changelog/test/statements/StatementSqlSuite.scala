package io.firesteel.changelog.statements

import io.firesteel.changelog.ChangelogSuite

import java.nio.file.Files

import org.apache.spark.sql.{AnalysisException, DataFrame, Encoders, Row}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.firesteel.streaming.{memoryStream, MemoryStream}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.scalatest.Assertion

/** Statement sets in SQL, and by the class for Scala. */
class StatementSqlSuite extends ChangelogSuite {

  private def folder(): String = Files.createTempDirectory("firesteel-statements").toString

  private def withTables(tables: String*)(test: => Assertion): Assertion = {
    def drop(): Unit = tables.foreach { table =>
      spark.sql(s"DROP TABLE IF EXISTS ${table.takeWhile(_ != ' ')}")
    }
    drop()
    try {
      tables.foreach(table => spark.sql(s"CREATE TABLE $table USING parquet"))
      test
    } finally {
      spark.streams.active.foreach(_.stop())
      drop()
    }
  }

  private def visits(): MemoryStream[(String, Int)] = {
    val encoder = Encoders.tuple(Encoders.STRING, Encoders.scalaInt)
    val stream = memoryStream(spark)(encoder)
    stream.toDF().toDF("k", "v").createOrReplaceTempView("visits")
    stream
  }

  private def started(text: String): StreamingQuery = {
    val row = spark.sql(text).head()
    val query = spark.streams.get(row.getString(0))
    assert(query.runId.toString == row.getString(1))
    query
  }

  private def rows(table: String): Set[Row] = spark.table(table).collect().toSet

  test("INSERT INTO appends, INSERT OVERWRITE replaces, in one query that goes on") {
    withTables("kept (k STRING, v INT)", "counts (n BIGINT, k STRING)") {
      val (stream, checkpoint) = (visits(), folder())
      def start() = started(s"""
        -- two targets of one stream
        EXECUTE STATEMENT SET OPTIONS ('checkpoint' = '$checkpoint', name = 'visits')
        BEGIN
          INSERT INTO kept SELECT k, v FROM visits WHERE v > 1;
          WITH counted AS (SELECT k, count(*) AS n FROM visits GROUP BY k)
            INSERT OVERWRITE counts (k, n) SELECT k, n FROM counted;
        END;""")
      val query = start()
      assert(query.name == "visits")
      stream.addData("a" -> 1, "b" -> 2, "a" -> 3)
      query.processAllAvailable()
      assert(rows("kept") == Set(Row("b", 2), Row("a", 3)))
      assert(rows("counts") == Set(Row(2L, "a"), Row(1L, "b")))
      query.stop()
      stream.addData("b" -> 9)
      val again = start()
      again.processAllAvailable()
      assert(again.id == query.id)
      again.stop()
      assert(rows("kept").size == 3 && rows("counts") == Set(Row(2L, "a"), Row(2L, "b")))
    }
  }

  test("tables are those of the current catalog") {
    val catalog = "spark.sql.catalog.derby"
    withConf(
      catalog -> "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
      s"$catalog.url" -> "jdbc:derby:memory:statements;create=true",
      s"$catalog.driver" -> "org.apache.derby.jdbc.EmbeddedDriver"
    ) {
      visits().addData("a" -> 1, "b" -> 2)
      spark.sql("USE derby")
      try {
        Seq("v", "w").foreach(table => spark.sql(s"CREATE TABLE $table (n INT)"))
        started(s"""EXECUTE STATEMENT SET OPTIONS ('checkpoint' = '${folder()}')
          BEGIN INSERT INTO v SELECT v AS n FROM visits; END""").processAllAvailable()
        val set = new StatementSet(spark, folder())
          .insert("w", spark.sql("SELECT v AS n FROM visits"), StatementTarget.table("w"))
        set.start(Trigger.AvailableNow()).awaitTermination()
      } finally {
        spark.streams.active.foreach(_.stop())
        val _ = spark.sql("USE spark_catalog")
      }
      assert(Seq("v", "w").forall(table => rows(s"derby.$table") == Set(Row(1), Row(2))))
    }
  }

  test("values of parameters, a trigger, targets side by side, and two WITH") {
    assume(spark.version >= "4.1", "Spark 4.0 does not bind parameters of a command's queries")
    withTables("a (k STRING)", "b (k STRING)") {
      visits().addData("a" -> 1, "b" -> 2)
      def one(table: String) =
        s"WITH t AS (SELECT k FROM visits WHERE v = :v$table) INSERT INTO $table SELECT k FROM t;"
      val _ = spark.sql(
        s"""EXECUTE /* é😀 */ STATEMENT SET
           OPTIONS ('checkpoint' = :cp, 'trigger' = 'availableNow', 'parallel' = true)
           BEGIN ${one("a")} ${one("b")} END""",
        Map[String, Any]("cp" -> folder(), "va" -> 1, "vb" -> 2)
      )
      spark.streams.active.foreach(_.awaitTermination())
      assert(rows("a") == Set(Row("a")) && rows("b") == Set(Row("b")))
    }
  }

  test("what a text gets wrong is said, and nothing starts") {
    withTables("a (k STRING)") {
      visits()
      spark.range(1).createOrReplaceTempView("few")
      val (into, cp) = ("INSERT INTO a SELECT k FROM visits;", s"'checkpoint' = '${folder()}'")
      def wrong(options: String, statements: String): String =
        intercept[AnalysisException] {
          spark.sql(s"EXECUTE STATEMENT SET OPTIONS ($options) BEGIN $statements END")
        }.getMessage
      Seq(
        wrong(cp, "INSERT INTO a SELECT CAST(id AS STRING) FROM few;") -> "a is not streaming",
        wrong("'trigger' = 'availableNow'", into) -> "checkpoint is missing",
        wrong(s"$cp, 'triger' = 'x'", into) -> "triger is unknown",
        wrong(s"$cp, 'trigger' = 'soon'", into) -> "trigger is 'soon'",
        wrong(s"$cp, 'parallel' = 'often'", into) -> "parallel is 'often'",
        wrong(s"$cp, $cp", into) -> "there twice",
        wrong("1", into) -> "1 is no option",
        wrong(cp, into + into) -> "write to a:",
        wrong(cp, "SELECT 1;") -> "INSERT INTO and INSERT OVERWRITE",
        wrong(cp, "INSERT INTO none SELECT k FROM visits;") -> "TABLE_OR_VIEW_NOT_FOUND",
        wrong(cp, "INSERT INTO a SELECT k, v FROM visits;") -> "TOO_MANY_DATA_COLUMNS"
      ).foreach { case (message, part) => assert(message.contains(part)) }
      val syntax = intercept[ParseException] {
        spark.sql(
          s"EXECUTE STATEMENT SET OPTIONS ($cp) BEGIN INSERT INTO a SELEC k FROM visits; END")
      }
      assert(
        syntax.getMessage.contains("EXECUTE STATEMENT SET") && syntax.getMessage.contains("SELEC"))
      intercept[ParseException](spark.sql("EXECUTE STATEMENT SET INSERT INTO a SELECT 1"))
      assert(spark.streams.active.isEmpty)
    }
  }

  test("the class for Scala: functions, formats and tables; a failed target is written again") {
    withTables("counted (k STRING, n BIGINT)") {
      val (stream, checkpoint, files) = (visits(), folder(), folder())
      @volatile var fails = false
      val seen = new java.util.concurrent.ConcurrentLinkedQueue[(Long, Set[Row])]
      def start(parallel: Boolean) = {
        val function = StatementTarget.function { (rows: DataFrame, batch: Long) =>
          if (fails) throw new IllegalStateException("the target is away")
          val _ = seen.add(batch -> rows.collect().toSet)
        }
        val set = new StatementSet(spark, checkpoint, parallel)
          .insert(
            "kept",
            spark.table("visits"),
            StatementTarget.format("json", Map("path" -> files)))
          .insert(
            "changes",
            spark.sql("SELECT k, count(*) AS n, row_kind() AS op FROM visits GROUP BY k"),
            function)
          .insert(
            "counts",
            spark.sql("SELECT k, count(*) AS n FROM visits GROUP BY k"),
            StatementTarget.table("counted"),
            "complete")
        assert(set.names == Seq("kept", "changes", "counts"))
        set.start(Trigger.AvailableNow())
      }
      def kept = spark.read.schema("k STRING, v INT").json(files).count()
      stream.addData("a" -> 1)
      start(parallel = true).awaitTermination()
      fails = true
      Seq(true, false).foreach { parallel =>
        if (parallel) stream.addData("a" -> 2)
        val failed = intercept[Exception](start(parallel).awaitTermination())
        assert(failed.getMessage.contains("the target is away"))
        assert(kept == 2L)
      }
      fails = false
      start(parallel = false).awaitTermination()
      assert(kept == 2L && rows("counted") == Set(Row("a", 2L)))
      assert(seen.toArray.toSeq == Seq(
        0L -> Set(Row("a", 1L, "+I")),
        1L -> Set(Row("a", 1L, "-U"), Row("a", 2L, "+U"))))
    }
  }
}
