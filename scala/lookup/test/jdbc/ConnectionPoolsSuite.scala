package io.firesteel.lookup.jdbc

import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.types.StructType
import org.scalatest.concurrent.Eventually.{eventually, timeout}
import org.scalatest.time.SpanSugar._

/** Tables with equal settings share a pool, which is closed when no task uses it. */
class ConnectionPoolsSuite extends JdbcSuite {

  private val pools = new ConnectionPools(idleMillis = 200)

  private def settings(options: (String, String)*): JdbcSettings =
    JdbcSettings.of((login ++ Map("dbtable" -> "t") ++ options).asJava)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    execute("CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)")
  }

  test("tasks that connect alike share a pool, also for different tables") {
    val one = pools.acquire(settings())
    val other = pools.acquire(settings("dbtable" -> "u", "lookup.batch-size" -> "5"))
    assert(one eq other)
    Seq.fill(2)(pools.release(settings()))
  }

  test("another login or size is another pool") {
    val one = pools.acquire(settings())
    val larger = pools.acquire(settings("lookup.jdbc.pool-size" -> "9"))
    assert(one ne larger)
    pools.release(settings())
    pools.release(settings("lookup.jdbc.pool-size" -> "9"))
  }

  test("a pool is closed some time after its last task, not before") {
    val pool = pools.acquire(settings())
    val same = pools.acquire(settings())
    pools.release(settings())
    Thread.sleep(400)
    assert(pool.use(!_.isClosed))
    pools.release(settings())
    assert(same.use(!_.isClosed))
    eventually(timeout(5.seconds))(assert(pools.size === 0))
  }

  test("a pool that is wanted again in time stays open") {
    val pool = pools.acquire(settings())
    pools.release(settings())
    Thread.sleep(100)
    assert(pools.acquire(settings()) eq pool)
    Thread.sleep(300)
    assert(pool.use(!_.isClosed))
    pools.release(settings())
  }

  test("a connection is used again, and there are never more than the option says") {
    val pool = pools.acquire(settings("lookup.jdbc.pool-size" -> "2"))
    (1 to 20).foreach(_ => pool.use(_.isValid(1)))
    assert(pool.open === 1)
    val held = new CountDownLatch(2)
    val go = new CountDownLatch(1)
    val holders = (1 to 6).map { _ =>
      val work: Runnable = () =>
        pool.use { _ =>
          held.countDown()
          go.await()
        }
      val thread = new Thread(work)
      thread.start()
      thread
    }
    assert(held.await(10, TimeUnit.SECONDS))
    Thread.sleep(200)
    assert(pool.open === 2)
    go.countDown()
    holders.foreach(_.join())
    assert(pool.open === 2)
    pools.release(settings("lookup.jdbc.pool-size" -> "2"))
  }

  test("closing a function ends a statement that still runs") {
    execute("""CREATE ALIAS IF NOT EXISTS slow FOR "java.lang.Thread.sleep(long)"""")
    val slow = tableOf(
      login + ("query" -> "SELECT id, slow(20) AS nothing FROM system_range(1, 2000) AS r(id)"))
    val lookup = function(slow, Seq("ID"), Seq("ID", "NOTHING"))
    lookup.open(io.firesteel.lookup.TaskInfo(0, 1, 0, suiteName))
    val keys = internal(StructType(slow.schema.take(1)), (1L to 900L).map(Seq(_)))
    val answer = lookup.lookupAsync(keys.asJava)
    Thread.sleep(500)
    lookup.close()
    eventually(timeout(10.seconds))(assert(answer.isCompletedExceptionally))
  }
}
