package io.firesteel.tests

import io.firesteel.FiresteelExtensions
import io.firesteel.changelog.{ChangelogSuite, JoinedRows}
import io.firesteel.lookup.{InputDataPartitioner, MemoryCatalog, MemoryStore, MemoryStores, StoreBehaviour}
import java.nio.file.Files

import scala.jdk.CollectionConverters._

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.{Encoders, Row, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.firesteel.lastBatchOf
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.types.StructType

/** Changelogs whose rows are looked up in a store: two rooms at once. */
class LookupOnChangelogSuite extends ChangelogSuite with JoinedRows {

  override protected def settings: Map[String, String] =
    super.settings + ("spark.sql.catalog.mem" -> classOf[MemoryCatalog].getName)

  override protected def install(extensions: SparkSessionExtensions): Unit =
    new FiresteelExtensions().apply(extensions)

  private val names = Seq(
    Row("a", "Anna", "en", 2),
    Row("a", "Anne", "fr", 1),
    Row("b", "Bert", "en", 2),
    Row("c", "Cleo", "en", 3),
    Row(null, "Nobody", "en", 1),
    Row("d", null, "en", 1),
    Row("a", "Anna", "en", 2)
  )

  /** What the store `mem.names` has from now on. */
  private def has(
      rows: Seq[Row],
      behaviour: StoreBehaviour = StoreBehaviour(),
      partitioner: Option[InputDataPartitioner] = None): MemoryStore = {
    val columns = StructType.fromDDL("k STRING, name STRING, lang STRING, least INT")
    spark.createDataFrame(rows.asJava, columns).createOrReplaceTempView("names")
    val converter = CatalystTypeConverters.createToCatalystConverter(columns)
    val stored = rows.map(converter(_).asInstanceOf[InternalRow])
    MemoryStores.put(new MemoryStore("names", columns, stored, behaviour, Map.empty), partitioner)
  }

  private val queries = Seq(
    s"SELECT {hint} c.k, n, name FROM $counts JOIN mem.names AS d ON c.k = d.k",
    s"SELECT {hint} c.k, n, name FROM $counts LEFT JOIN mem.names AS d ON c.k = d.k",
    s"SELECT {hint} c.k, s, d.* FROM $counts LEFT JOIN mem.names AS d ON c.k = d.k AND lang = 'en' AND n > 1",
    s"SELECT {hint} c.k, name FROM $counts JOIN mem.names AS d ON c.k = d.k AND n >= least WHERE s <> 3",
    s"SELECT {hint} n, name FROM $counts LEFT JOIN mem.names AS d ON c.k = d.k AND c.n = d.least",
    s"SELECT {hint} lang, count(*) AS c, sum(n) AS n FROM $counts JOIN mem.names AS d ON c.k = d.k GROUP BY lang",
    s"""SELECT {hint} place, name FROM (SELECT * FROM (SELECT k, row_number() OVER (ORDER BY n DESC, k) AS place
       |FROM $counts) WHERE place <= 2) AS c LEFT JOIN mem.names AS d ON c.k = d.k AND lang = 'en'""".stripMargin,
    "SELECT {hint} n, name FROM (SELECT count(*) AS n FROM {t}) AS c LEFT JOIN mem.names AS d ON c.n = d.least + 3 AND d.k = 'a'",
    "SELECT {hint} c.k, name FROM (SELECT k FROM (SELECT DISTINCT k, v FROM {t})) AS c JOIN mem.names AS d " +
      "WHERE d.k = concat(left(string(CAST('today' AS DATE)), 0), 'a')",
    "SELECT {hint} c.k, name FROM (SELECT k FROM (SELECT DISTINCT k, v FROM {t})) AS c JOIN mem.names AS d " +
      "ON d.k = concat(left(string(CAST('today' AS DATE)), 0), 'a')",
    "SELECT lang, count(*) AS n FROM (SELECT {hint} t.k, lang FROM {t} AS t JOIN mem.names AS d ON t.k = d.k) GROUP BY lang"
  )

  test("a time to live names a side of a join as in Flink, beside a lookup") {
    has(names)
    val fed = stream(
      schema,
      "SELECT /*+ LOOKUP('table'='d'), STATE_TTL('x' = '1d', 'y' = '0s') */ x.k, y.v, name " +
        "FROM {t} AS x JOIN {t} AS y ON x.k = y.k JOIN mem.names AS d ON x.k = d.k"
    )
    try {
      fed.start()
      fed.feed(Seq(Row("a", 1)))
      fed.difference.foreach(fail(_))
      val plan = lastBatchOf(fed.running).get.executedPlan.toString
      assert(plan.contains("ttl=86400000 ms and forever"), plan)
    } finally fed.stop()
  }

  test("clauses and hints of lookups in a statement set, and parameters") {
    has(names)
    val visits = memoryStream(spark)(Encoders.STRING)
    visits.toDF().selectExpr("value AS k", "current_timestamp() AS ts")
      .createOrReplaceTempView("set_visits")
    val tables = Seq("set_names", "set_hinted")
    def drop(): Unit = tables.foreach(table => spark.sql(s"DROP TABLE IF EXISTS $table"))
    drop()
    tables.foreach(table => spark.sql(s"CREATE TABLE $table (k STRING, name STRING) USING parquet"))
    try {
      val (folder, key) = (Files.createTempDirectory("firesteel-set").toString, "b")
      val text =
        """EXECUTE STATEMENT SET OPTIONS ('checkpoint' = :cp, 'trigger' = 'availableNow') BEGIN
        INSERT INTO set_names SELECT v.k, d.name FROM set_visits AS v
          JOIN mem.names FOR SYSTEM_TIME AS OF v.ts AS d ON v.k = d.k WHERE v.k = :key;
        INSERT INTO set_hinted SELECT /*+ LOOKUP('table'='d') */ v.k, d.name FROM set_visits AS v
          JOIN mem.names AS d ON v.k = d.k;
      END"""
      visits.addData("b", "c")
      val started =
        if (SPARK_VERSION < "4.1")
          spark.sql(text.replace(":cp", s"'$folder'").replace(":key", s"'$key'"))
        else spark.sql(text, Map("cp" -> folder, "key" -> key))
      assert(started.count() == 1)
      spark.streams.active.foreach(_.awaitTermination())
      def rows(table: String) = spark.table(table).collect().toSet
      assert(rows("set_names") == Set(Row("b", "Bert")))
      assert(rows("set_hinted") == Set(Row("b", "Bert"), Row("c", "Cleo")))
    } finally {
      spark.streams.active.foreach(_.stop())
      drop()
    }
  }

  private val hints = Seq(
    "",
    "/*+ LOOKUP('table'='d', 'async'='true', 'output-mode'='allow_unordered') */",
    "/*+ LOOKUP('table'='d', 'shuffle'='true') */"
  )

  private val byFirstLetter = new InputDataPartitioner {
    override def partition(keys: InternalRow, numPartitions: Int): Int =
      keys.getUTF8String(0).toString.head % numPartitions
  }

  for {
    (sql, i) <- queries.zipWithIndex
    (hint, j) <- hints.zipWithIndex
    if i == 1 || i % hints.size == j
  } test(s"$i, $j: ${sql.replace("\n", " ").take(90)}") {
    has(names, StoreBehaviour(async = j == 1), Some(byFirstLetter).filter(_ => i != 7))
    withProvider(providers((i + j) % 2)) {
      assertFollows(schema, sql.replace("{hint}", hint), batches, restarts = Set(1, 3))
    }
  }

  test("several values of one document of a table that is looked up") {
    val _ = has(Seq(
      Row("a", """{"x": "gold", "y": "EU"}""", "en", 2),
      Row("b", """{"x": "tin", "y": "EU"}""", "en", 1)))
    val left = "(SELECT * FROM VALUES ('a'), ('b'), ('z') AS t(k)) AS t"
    val both = "get_json_object(d.name, '$.x') = 'gold' AND get_json_object(d.name, '$.y') = 'EU'"
    val parsed = "(SELECT k, from_json(name, 'x STRING, y STRING') AS j FROM {d}) AS d"
    Seq(
      s"SELECT t.k, lang FROM $left JOIN {d} AS d ON t.k = d.k WHERE $both",
      s"SELECT t.k, lang FROM $left LEFT JOIN {d} AS d ON t.k = d.k AND $both",
      s"SELECT t.k, get_json_object(name, '$$.x'), get_json_object(name, '$$.y') FROM $left JOIN {d} AS d " +
        "ON t.k = d.k",
      s"SELECT t.k, j.x, j.y FROM $left JOIN $parsed ON t.k = d.k AND j.x < j.y"
    ).foreach { sql =>
      val theirs = spark.sql(sql.replace("{d}", "names")).collect().toSeq
      assertSameRows(spark.sql(sql.replace("{d}", "mem.names")).collect().toSeq, theirs, sql)
    }
  }

  test("a table that is itself a lookup join is read whole") {
    has(names)
    spark.range(
      7).selectExpr("substr('abcdxyz', id + 1, 1) AS k").createOrReplaceTempView("letters")
    assertFollows(
      schema,
      s"""SELECT {hint} c.k, n, name FROM $counts LEFT JOIN (SELECT d.k, name FROM letters AS l JOIN mem.names AS d
         |ON l.k = d.k) AS x ON c.k = x.k""".stripMargin.replace("{hint}", ""),
      batches,
      restarts = Set(2)
    )
  }

  test("a row goes with the answers that it came with, and its going asks nothing") {
    has(Seq(Row("a", "old", "en", 1)))
    val fed = stream(
      schema,
      """SELECT c.k, n, name FROM (SELECT k, n FROM (SELECT k, count(*) AS n FROM {t} GROUP BY k) WHERE n < 3) AS c
        |JOIN mem.names AS d ON c.k = d.k""".stripMargin
    )
    try {
      fed.start()
      fed.feed(Seq(Row("a", 1)))
      val store = has(Seq(Row("a", "new", "en", 1), Row("a", "newer", "en", 1)))
      fed.feed(Seq(Row("a", 1)))
      assert(fed.last.map(_.toString).sorted ==
        Seq("[a,1,old,-D]", "[a,2,new,+I]", "[a,2,newer,+I]"))
      val asked = store.keysAsked.size
      fed.feed(Seq(Row("a", 1)))
      assert(fed.last.map(_.toString).sorted == Seq("[a,2,new,-D]", "[a,2,newer,-D]"))
      assert(store.keysAsked.size == asked)
    } finally fed.stop()
  }

  test("explain says why rows are not sent to where the connector wants them") {
    has(names, partitioner = Some(byFirstLetter))
    val input = "SELECT c.k, name FROM"
    spark.readStream.format("rate").load()
      .selectExpr("CAST(value AS STRING) AS k", "1 AS v").createOrReplaceTempView("numbers")
    val text = spark
      .sql("SELECT * FROM firesteel_explain(\"" + s"$input $counts JOIN mem.names AS d ON c.k = d.k"
        .replace(
          "{t}",
          "numbers").replace("SELECT c.k", s"SELECT ${hints.last} c.k") + "\", 'append')")
      .collect().map(_.toString).mkString("\n")
    assert(text.contains("none: the lookup's answers are kept in state for retractions"), text)
  }
}
