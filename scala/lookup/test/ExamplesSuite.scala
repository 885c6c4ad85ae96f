package io.firesteel.lookup

import io.firesteel.core.decide.Explain
import io.firesteel.lookup.examples.{CheckJavaCountries, CheckScalaCountries, JavaCountries, ScalaCountries, ScalaCountriesCatalog}
import io.firesteel.lookup.testing.ConnectorCheck
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Row

/** The connectors of the manual, joined as a reader would join them. */
class ExamplesSuite extends LookupSuite {

  private val lines = Seq(
    "ch,Switzerland,Europe",
    "cl,Chile,America",
    "is,Iceland,Europe",
    "jp,Japan,Asia",
    "ke,Kenya,Africa",
    "mn,Mongolia,Asia")

  private lazy val folder: Path = {
    val made = Files.createTempDirectory("firesteel-countries")
    lines.groupBy(_.head).foreach { case (letter, its) =>
      Files.write(made.resolve(s"$letter.csv"), its.asJava)
    }
    Files.write(made.resolve("countries"), lines.asJava)
    made
  }

  override protected def settings: Map[String, String] = super.settings ++ Map(
    "spark.sql.catalog.scala" -> classOf[ScalaCountriesCatalog].getName,
    "spark.sql.catalog.scala.path" -> folder.resolve("countries").toString,
    "spark.sql.catalog.atlas" -> classOf[ScalaCountriesCatalog].getName,
    "spark.sql.catalog.atlas.path" -> folder.resolve("countries").toString,
    "spark.sql.catalog.java" -> classOf[JavaCountries.Catalog].getName,
    "spark.sql.catalog.java.folder" -> folder.toString
  )

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .range(0, 300, 1, 4)
      .selectExpr(
        "id",
        "element_at(array('ch', 'cl', 'is', 'jp', 'ke', 'mn', 'xx', '', NULL), " +
          "CAST(id % 9 AS INT) + 1) AS code",
        "if(id % 2 = 0, 'Europe', 'Asia') AS continent"
      )
      .createOrReplaceTempView("calls")
    val row = (line: String) => line.split(',').mkString("('", "', '", "')")
    spark.sql(lines.map(row).mkString("VALUES ", ", ", "")).toDF("code", "country", "continent")
      .createOrReplaceTempView("plain")
  }

  for (language <- Seq("scala", "java")) {
    val shuffles = Seq("false" -> "none: not asked for", "true" -> "custom: By")
    for ((shuffle, planned) <- shuffles; cache <- Seq("NONE", "PARTIAL")) {
      test(s"the connector in $language joins, shuffle=$shuffle, cache $cache") {
        Seq(
          "JOIN {c} AS c ON o.code = c.code",
          "LEFT JOIN {c} AS c ON o.code = c.code",
          "LEFT JOIN {c} AS c ON o.code = c.code AND c.continent = 'Asia'",
          "JOIN {c} AS c ON o.code = c.code AND o.continent = c.continent"
        ).foreach { join =>
          val hint = s"/*+ LOOKUP('table'='c', 'shuffle'='$shuffle', 'lookup.cache'='$cache', " +
            "'lookup.partial-cache.max-rows'='100') */"
          val text = s"SELECT {hint} o.id, c.country, c.continent FROM calls AS o $join"
          val ours = spark.sql(text.replace("{c}", s"$language.countries").replace("{hint}", hint))
          val theirs = spark.sql(text.replace("{c}", "plain").replace("{hint}", ""))
          assertSameRows(ours.collect().toSeq, theirs.collect().toSeq, ours.toString)
          val values = Explain.of(executed(ours)).fired.head.values
          assert(values("shuffle").startsWith(planned))
          assert(values("lookup") == "code=o.code")
        }
      }
    }

    test(s"the connector in $language says what it cannot be asked") {
      val join = s"SELECT * FROM calls AS o JOIN $language.countries AS c "
      val thrown = intercept[Exception](
        spark.sql(join + "ON o.continent = c.continent").collect())
      assert(thrown.getMessage.contains("FIRESTEEL_LOOKUP_NO_KEY"))
    }
  }

  test("the connectors pass the checks that authors run") {
    CheckScalaCountries.check(folder.resolve("countries"), spark)
    CheckJavaCountries.check(folder)
  }

  test("the check names a row that a join lacks, and a join that is none") {
    val check = ConnectorCheck.of(new ScalaCountries(folder.resolve("countries").toString))
      .rows(Row("ch", "Switzerland", "Asia"))
    val lacking = intercept[AssertionError](check.checkThrough(spark, "atlas.countries"))
    assert(lacking.getMessage.contains("a left join (shuffle=false, lookup.cache=NONE) did not"))
    val right = ConnectorCheck.of(new ScalaCountries(folder.resolve("countries").toString))
      .rows(Row("ch", "Switzerland", "Europe"))
    val scanned = spark.table("plain").where("code = 'ch'")
    scanned.createOrReplaceTempView("one_country")
    val plain = intercept[AssertionError](right.checkThrough(spark, "one_country"))
    assert(plain.getMessage.contains("one_country"))
  }
}
