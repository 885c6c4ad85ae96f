package io.firesteel.lookup.jdbc

import io.firesteel.core.errors.FiresteelException
import io.firesteel.lookup.jdbc.FlakyDriver.failure
import java.sql.{SQLException, SQLNonTransientConnectionException, SQLRecoverableException}
import java.sql.{SQLSyntaxErrorException, SQLTransientException}

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType
import org.scalatest.BeforeAndAfterEach

/** Failures that may pass are retried; others are raised at once. */
class JdbcRetrySuite extends JdbcSuite with BeforeAndAfterEach {

  override protected def url: String = "jdbc:flaky:h2:mem:retry;DB_CLOSE_DELAY=-1"

  override protected def login: Map[String, String] =
    super.login + ("driver" -> classOf[FlakyDriver].getName)

  override protected def execute(statements: String*): Unit = {
    java.sql.DriverManager.registerDriver(new FlakyDriver)
    super.execute(statements: _*)
  }

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    execute("CREATE TABLE t (id INT, v INT)", "INSERT INTO t VALUES (1, 10), (2, 20)")
  }

  override protected def beforeEach(): Unit = FlakyDriver.reset()

  private def find(failures: Throwable*)(options: (String, String)*): Seq[Row] = {
    val t = table(options :+ ("dbtable" -> "t"): _*)
    val lookup = function(t, Seq("ID"))
    FlakyDriver.lookups.set(0)
    opened(lookup) {
      failures.foreach(FlakyDriver.queries.add)
      asked(lookup, StructType(t.schema.take(1)), t.schema)(Seq(1), Seq(2))
    }
  }

  test("a failure that may pass is tried again, and no row is doubled") {
    val passing = Seq(
      new SQLTransientException("later"),
      new SQLRecoverableException("again"),
      new SQLNonTransientConnectionException("lost"),
      failure("08006"),
      failure("40001"),
      failure("53300"),
      failure("57P01")
    )
    passing.foreach { e =>
      assert(find(e)().map(_.getInt(1)).sorted === Seq(10, 20), e)
      assert(FlakyDriver.lookups.get === 2, e)
    }
  }

  test("a permanent failure is an error at once, with the statement") {
    val lasting = Seq(
      new SQLSyntaxErrorException("no such thing", "42000"),
      failure("22003"),
      failure("57014"),
      new SQLException("no state"))
    lasting.foreach { e =>
      val thrown = intercept[FiresteelException](find(e)())
      assert(thrown.getCondition === "FIRESTEEL_LOOKUP_JDBC_QUERY_FAILED", e)
      assert(thrown.getMessage.contains("\"ID\" IN (?, ?)"), e)
      assert(thrown.getMessage.contains(e.getMessage), e)
      assert(FlakyDriver.lookups.get === 1, e)
    }
  }

  test("gives up after the retries that the option allows") {
    val thrown = intercept[FiresteelException](
      find(Seq.fill(9)(failure("08006")): _*)("lookup.max-retries" -> "2"))
    assert(thrown.getCondition === "FIRESTEEL_LOOKUP_JDBC_UNAVAILABLE")
    assert(thrown.getMessage.contains("failed 3 times"))
    assert(FlakyDriver.lookups.get === 3)
  }

  test("three retries, when the option is not given") {
    assert(find(Seq.fill(3)(failure("08006")): _*)().size === 2)
  }

  test("no retries, when the option says so") {
    intercept[FiresteelException](find(failure("08006"))("lookup.max-retries" -> "0"))
    assert(FlakyDriver.lookups.get === 1)
  }

  test("a refused login is not tried again, whatever else it is called") {
    FlakyDriver.connects.add(new SQLNonTransientConnectionException("who are you?", "28P01"))
    val thrown = intercept[FiresteelException](table("dbtable" -> "t"))
    assert(thrown.getCondition === "FIRESTEEL_LOOKUP_JDBC_LOGIN_REFUSED")
    assert(FlakyDriver.connections.get === 0)
  }

  test("a refused login of a task is an error without waiting for a time-out") {
    val lookup = function(table("dbtable" -> "t", "lookup.jdbc.pool-size" -> "3"), Seq("ID"))
    FlakyDriver.connects.add(new SQLException("who are you?", "28000"))
    val begin = System.nanoTime()
    val thrown = intercept[FiresteelException](opened(lookup)(()))
    assert(thrown.getCondition === "FIRESTEEL_LOOKUP_JDBC_LOGIN_REFUSED")
    assert(System.nanoTime() - begin < 5e9)
  }

  test("a connection that is refused for now is tried again") {
    val lookup = function(table("dbtable" -> "t", "lookup.jdbc.pool-size" -> "2"), Seq("ID"))
    FlakyDriver.connects.add(failure("08001"))
    FlakyDriver.connects.add(failure("57P03"))
    opened(lookup)(())
  }

  test("a connection that failed is not used again") {
    val before = find()("lookup.jdbc.pool-size" -> "1")
    val connections = FlakyDriver.connections.get
    find(failure("08006"))("lookup.jdbc.pool-size" -> "1")
    assert(before.size === 2)
    // One for reading the schema, and one instead of the failed one.
    assert(FlakyDriver.connections.get === connections + 2)
  }
}
