package io.firesteel.lookup.jdbc

import io.firesteel.core.errors.FiresteelException
import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.types.{IntegerType, StringType, StructType}

/** Errors name the wrong option, and say what to do. */
class JdbcOptionsSuite extends JdbcSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    execute("CREATE TABLE customers (id INT, name VARCHAR(20))")
  }

  private def refused(options: Map[String, String]): Throwable with SparkThrowable =
    intercept[Exception](tableOf(options)).asInstanceOf[Throwable with SparkThrowable]

  private def assertRefused(
      options: Map[String, String],
      condition: String)(says: String*): Unit = {
    val thrown = refused(options)
    assert(thrown.getCondition === s"FIRESTEEL_LOOKUP_$condition")
    says.foreach(part => assert(thrown.getMessage.contains(part)))
  }

  test("a missing url or table is named") {
    assertRefused(login - "url" + ("dbtable" -> "customers"), "JDBC_MISSING_OPTION")("option url")
    assertRefused(login, "JDBC_MISSING_OPTION")("option dbtable")
  }

  test("an unknown option of ours is refused, with the near ones") {
    assertRefused(
      login ++ Map("dbtable" -> "customers", "lookup.batchsize" -> "10"),
      "UNKNOWN_OPTION")("lookup.batchsize", "lookup.batch-size")
  }

  test("a value that is no number, or too small, is refused") {
    for ((option, value) <- Seq(
        "lookup.batch-size" -> "0",
        "lookup.jdbc.pool-size" -> "many",
        "lookup.max-retries" -> "-1")) {
      assertRefused(login ++ Map("dbtable" -> "customers", option -> value), "BAD_OPTION")(
        option,
        "whole number")
    }
  }

  test("a driver that is not there is named, with what to add") {
    assertRefused(
      login ++ Map("dbtable" -> "t", "driver" -> "org.nowhere.Driver"),
      "JDBC_NO_DRIVER")(
      "class org.nowhere.Driver",
      "spark.jars")
    assertRefused(
      Map("url" -> "jdbc:nosuch://h?password=Abracadabra", "dbtable" -> "t"),
      "JDBC_NO_DRIVER")(
      "jdbc:nosuch://h?password=*********(redacted)",
      "spark.jars")
  }

  test("a refused login is called that") {
    assertRefused(
      login ++ Map("dbtable" -> "customers", "password" -> "wrong-Password"),
      "JDBC_LOGIN_REFUSED")(
      "user and password")
  }

  test("the error for an unknown table has the database's message") {
    assertRefused(
      login + ("dbtable" -> "nowhere"),
      "JDBC_QUERY_FAILED")("NOWHERE", "SELECT * FROM nowhere")
  }

  test("an unknown column of a given schema is named, with those that there are") {
    val schema = new StructType().add("ID", IntegerType).add("NAM", StringType)
    val t = new JdbcProvider()
      .getTable(schema, Array.empty, (login + ("dbtable" -> "customers")).asJava)
      .asInstanceOf[JdbcLookupTable]
    val thrown = intercept[FiresteelException](rows(t, Seq("ID"))(Seq(1)))
    assert(thrown.getCondition === "FIRESTEEL_LOOKUP_JDBC_UNKNOWN_COLUMN")
    assert(thrown.getMessage.contains("no column NAM. Its columns: ID, NAME"))
  }

  test("a statement that fails shows no values of keys") {
    val schema = new StructType().add("ID", IntegerType).add("NAME", IntegerType)
    execute("INSERT INTO customers VALUES (1, 'Ada')")
    val t = new JdbcProvider()
      .getTable(schema, Array.empty, (login + ("dbtable" -> "customers")).asJava)
      .asInstanceOf[JdbcLookupTable]
    val thrown = intercept[FiresteelException](rows(t, Seq("ID"))(Seq(1)))
    assert(thrown.getCondition === "FIRESTEEL_LOOKUP_JDBC_QUERY_FAILED")
    assert(thrown.getMessage.contains("\"ID\" IN (?)"))
  }
}
