package io.firesteel.extension

import io.firesteel.FiresteelExtensions
import io.firesteel.testkit.RoomSuite
import org.apache.spark.SparkConf
import org.apache.spark.sql.{AnalysisException, SparkSessionExtensions}

/** A misspelt setting is refused wherever an extension can see it. */
class SettingNamesSuite extends RoomSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit =
    new FiresteelExtensions().apply(extensions)

  private def refused(body: => Any): AnalysisException = {
    val error = intercept[AnalysisException](body)
    assert(error.getCondition == "FIRESTEEL_UNKNOWN_SETTING")
    error
  }

  test("at the session's start, with the near names") {
    val conf = new SparkConf(false).set("spark.firesteel.rank.enable", "true")
    val message = refused(SettingNames.checkAtStart(conf)).getMessage
    assert(message.contains("what the session starts with"))
    assert(message.contains("spark.firesteel.rank.enable does not exist"))
    assert(message.contains("spark.firesteel.rank.enabled"))
  }

  test("at SQL SET, which then sets nothing") {
    val error = refused(spark.sql("SET spark.firesteel.rank.maxLimits=5"))
    assert(error.getMessage.contains("nothing was set"))
    assert(spark.conf.getOption("spark.firesteel.rank.maxLimits").isEmpty)
  }

  private val misspelt = "spark.firesteel.rnak.enabled"

  private def misspelling[T](body: => T): T = {
    spark.conf.set(misspelt, "true")
    try body
    finally spark.conf.unset(misspelt)
  }

  test("at the query after spark.conf.set, with how to unset it and the near names") {
    val message = misspelling(refused(spark.sql("SELECT 1")).getMessage)
    assert(message.contains(s"""spark.conf.unset("$misspelt")"""))
    assert(message.contains(s"RESET $misspelt"))
    assert(message.contains("spark.firesteel.rank.enabled"))
  }

  Seq(s"RESET $misspelt", s"RESET `$misspelt`", "RESET").foreach { reset =>
    test(s"$reset mends it") {
      misspelling {
        spark.sql(reset).show()
        assert(spark.sql("SELECT 1").collect().length == 1)
      }
    }
  }

  Seq("SET spark.firesteel.rank.enabled=true", "SET -v", "SHOW TABLES", "USE default").foreach {
    command =>
      test(s"$command works while a key is misspelt, and its answer can be looked at") {
        misspelling {
          spark.sql(command).collect()
          spark.sql(command).show()
        }
      }
  }

  test("known names pass, and a value of the wrong type is Spark's own error") {
    spark.sql("SET spark.firesteel.rank.maxLimit=5").collect()
    spark.sql("RESET spark.firesteel.rank.maxLimit").collect()
    val error = intercept[Exception](spark.sql("SET spark.firesteel.rank.maxLimit=-1").collect())
    assert(error.getMessage.contains("spark.firesteel.rank.maxLimit"))
    assert(error.getMessage.contains("from 1 to 10000000"))
  }

  test("SET -v lists every setting with its meaning") {
    val listed = spark.sql("SET -v").collect().map(r => r.getString(0) -> r.getString(2)).toMap
    Configs.all.foreach(entry => assert(listed.get(entry.key).exists(_.nonEmpty), entry.key))
  }
}
