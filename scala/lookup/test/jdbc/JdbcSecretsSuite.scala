package io.firesteel.lookup.jdbc

import io.firesteel.core.jdbc.Secrets
import io.firesteel.testkit.Logged
import java.sql.{SQLException, SQLTransientException}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** No password is in messages, plans or logs. */
class JdbcSecretsSuite extends JdbcSuite {

  /** A URL with a login, which this driver puts into messages and texts. */
  override protected def url: String =
    s"jdbc:flaky:h2:mem:secrets;DB_CLOSE_DELAY=-1;PASSWORD=$password"

  override protected def login: Map[String, String] =
    Map("url" -> url, "user" -> "sa", "driver" -> classOf[FlakyDriver].getName)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    java.sql.DriverManager.registerDriver(new FlakyDriver)
    FlakyDriver.reset()
    execute("CREATE TABLE t (id INT, v INT)", "INSERT INTO t VALUES (1, 10)")
  }

  private def leak: SQLException = {
    val e = new SQLException(s"cannot do $url", "42000", new RuntimeException(s"inner: $url"))
    e.setNextException(new SQLException(s"next: $url"))
    e.addSuppressed(new RuntimeException(s"beside: $url"))
    e
  }

  test("strikes out known values, and what looks like a password") {
    val secrets =
      Secrets.of(Map("password" -> "Open-Sesame", "sslPassword" -> "pw", "user" -> "joe"))
    assert(
      secrets.redact("joe: Open-Sesame, pw, spwx, jdbc:x://h?user=joe&password=other&ssl=true") ===
        "joe: *********(redacted), *********(redacted), spwx, " +
        "jdbc:x://h?user=joe&password=*********(redacted)&ssl=true")
    assert(secrets.redact(null) === null)
  }

  test("knows the logins that a URL may hold") {
    val urls = Seq(
      "jdbc:postgresql://h/d?user=u&password=Abra%20cadabra&ssl=true",
      "jdbc:sqlserver://h;databaseName=d;password=Abra cadabra",
      "jdbc:mysql://u:Abra%20cadabra@h/d",
      "jdbc:oracle:thin:u/Abra cadabra@//h:1521/d"
    )
    urls.foreach { u =>
      assert(!Secrets.of(Map("url" -> u)).redact(s"failed: $u").contains("cadabra"), u)
    }
    assert(Secrets.of(
      Map("url" -> urls.head)).redact("said Abra cadabra") === "said *********(redacted)")
  }

  test("a copy of an exception keeps its kind, state, code and place, and all that hangs on it") {
    val secrets = Secrets.of(login)
    val original = new SQLTransientException(url, "08001", 17, leak)
    val cleaned = secrets.clean(original).asInstanceOf[SQLTransientException]
    assert(cleaned.getSQLState === "08001")
    assert(cleaned.getErrorCode === 17)
    assert(cleaned.getStackTrace === original.getStackTrace)
    assert(!Logged.textOf(cleaned).contains(password))
    assert(Seq("inner", "beside").forall(Logged.textOf(cleaned).contains))
    val harmless = new SQLException("nothing in it")
    assert(secrets.clean(harmless) eq harmless)
  }

  test("no text of the connector's parts has the password") {
    val t = table("dbtable" -> "t")
    val settings = JdbcSettings.of((login ++ Map("dbtable" -> "t")).asJava)
    val lookup = function(t, Seq("ID"))
    val parts = Seq[Any](
      t,
      t.name(),
      t.properties(),
      settings,
      settings.secrets,
      lookup,
      new Connections(settings),
      t.newScanBuilder(CaseInsensitiveStringMap.empty()).build().description()
    )
    parts.foreach(part => assert(!part.toString.contains(password)))
  }

  test("no error has the password: connecting, reading the schema, looking up, scanning") {
    val t = table("dbtable" -> "t")
    val frame = spark.read.format("firesteel-jdbc").options(login + ("dbtable" -> "t")).load()
    val lookup = function(t, Seq("ID"))
    def failing(where: String, plan: java.util.Queue[Throwable])(work: => Unit): Unit = {
      // Twice: before a scan Spark also asks for the server's version, and ignores that failure.
      Seq(leak, leak).foreach(plan.add)
      val thrown = withClue(where)(intercept[Exception](work))
      plan.clear()
      val text = Logged.textOf(thrown)
      assert(!text.contains(password), text)
      val _ = assert(text.contains("cannot do"), text)
    }
    failing("open", FlakyDriver.connects)(opened(lookup)(()))
    opened(lookup) {
      failing("lookup", FlakyDriver.queries) {
        val _ = asked(lookup, StructType(t.schema.take(1)), t.schema)(Seq(1))
      }
    }
    failing("schema: connect", FlakyDriver.connects) { val _ = table("dbtable" -> "t") }
    failing("schema: query", FlakyDriver.queries) { val _ = table("dbtable" -> "t") }
    spark.sparkContext.setLogLevel("OFF") // Spark's log of the failed task
    failing("scan", FlakyDriver.connects) { val _ = frame.collect() }
    spark.sparkContext.setLogLevel("ERROR")
  }

  test("Hikari and Spark log no password, at their most talkative") {
    val lines = Logged("com.zaxxer.hikari", "org.apache.spark.sql.execution.datasources.jdbc") {
      val pools = new ConnectionPools(10)
      val own = Map("dbtable" -> "t", "password" -> password, "lookup.jdbc.pool-size" -> "7")
      val settings = JdbcSettings.of((login ++ own).asJava)
      val pool = pools.acquire(settings)
      assert(pool.use(_.isValid(1)))
      intercept[SQLException](pool.use(_ => throw leak))
      pools.release(settings)
      spark.read.format("firesteel-jdbc").options(login ++ own).load().collect()
      Thread.sleep(500)
    }
    assert(lines.exists(_.contains("maximumPoolSize")), "the dump of the configuration")
    assert(lines.exists(_.contains("connection to jdbc:flaky")), "the text of a connection")
    assert(lines.filter(_.contains(password)) === Nil)
    assert(lines.filter(_.contains("Timed-out")) === Nil)
  }
}
