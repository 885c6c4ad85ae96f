package io.firesteel.lookup.examples

import io.firesteel.lookup.testing.ConnectorCheck
import java.nio.file.Path

import org.apache.spark.sql.{Row, SparkSession}

/** A test of the connector in Scala, by the kit that comes with firesteel. */
object CheckScalaCountries {

  def check(file: Path, spark: SparkSession): Unit = {
    val check = ConnectorCheck
      .of(new ScalaCountries(file.toString))
      .rows(Row("ch", "Switzerland", "Europe"), Row("cl", "Chile", "America"))
      .missing(Row("xx"))
    check.check() // the connector alone
    check.checkThrough(spark, "atlas.countries") // joins, compared with plain joins
  }
}
