package io.firesteel.lookup.files

import io.firesteel.core.errors.FiresteelException
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.DurationInt

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.firesteel.{Files, StoragePool}

/** Buckets in the memory of an executor process: shared, kept, dropped and counted. */
class FilesSharingSuite extends FilesFixture {

  override def beforeAll(): Unit = {
    super.beforeAll()
    write(
      spark.sql("SELECT id, repeat('x', 200) || id AS text FROM range(0, 20000, 1, 1)"),
      "wide",
      16,
      "id")
  }

  private def rowsOf(table: FilesTable, ids: Seq[Long]): Seq[UnsafeRow] =
    ids.map(id => FilesFixture.internal(Row(id), contextOf(table, Seq("id")).keys))

  test("a second lookup of the same files opens none") {
    val source = table("wide")
    val context = contextOf(source, Seq("id"))
    LoadedBuckets.dropIdle()
    assert(CountedFileSystem.opened(ask(source, context, Seq(Row(1L)))).size == 1)
    assert(CountedFileSystem.opened(ask(source, context, Seq(Row(1L)))).isEmpty)
    assert(LoadedBuckets.size == 1)
    LoadedBuckets.dropIdle()
    assert(LoadedBuckets.size == 0)
  }

  test("appended and replaced files are seen, and what they replace is let go") {
    write(spark.sql("SELECT id, 'old' AS v FROM range(40)"), "changing", 4, "id")
    def answer = {
      val source = table("changing")
      ask(source, contextOf(source, Seq("id")), (0L until 40L).map(Row(_))).map(_.getString(1))
    }
    LoadedBuckets.dropIdle()
    assert(answer == Seq.fill(40)("old"))
    append(spark.sql("SELECT id, 'new' AS v FROM range(40)"), "changing", 4, "id")
    assert(answer.groupBy(identity).map { case (k, v) => k -> v.length } ==
      Map("old" -> 40, "new" -> 40))
    assert(LoadedBuckets.size == 4)
    spark.sql("INSERT OVERWRITE changing SELECT id, 'newest' FROM range(3)")
    assert(answer == Seq.fill(3)("newest"))
  }

  test("tasks that ask for a bucket at the same time load it once") {
    val id = BucketId(
      BucketOrigin("none", "none", table("wide").schema(), table("wide").schema(), Nil, Map.empty),
      1,
      Nil)
    val loads = new AtomicInteger
    val leases = {
      implicit val pool: ExecutionContext =
        ExecutionContext.fromExecutor(java.util.concurrent.Executors.newCachedThreadPool())
      val all = Seq.fill(8)(Future(LoadedBuckets.lease(id, 0L) {
        Thread.sleep(100)
        val _ = loads.incrementAndGet()
        BucketIndex.empty
      }))
      Await.result(Future.sequence(all), 1.minute)
    }
    assert(loads.get == 1)
    leases.foreach(_.release())
    val again = LoadedBuckets.lease(id, 0L) {
      val _ = loads.incrementAndGet()
      BucketIndex.empty
    }
    again.release()
    assert(loads.get == 2)
  }

  test("a load that fails leaves nothing behind, and the next task tries again") {
    val id = BucketId(
      BucketOrigin("failing", "", table("wide").schema(), table("wide").schema(), Nil, Map.empty),
      1,
      Nil)
    val before = LoadedBuckets.size
    val failure = intercept[IllegalStateException] {
      LoadedBuckets.lease(id, 0L)(throw new IllegalStateException("no"))
    }
    assert(failure.getMessage == "no")
    assert(LoadedBuckets.size == before)
    LoadedBuckets.lease(id, 0L)(BucketIndex.empty).release()
  }

  test("an idle bucket expires after its time, and its memory is freed") {
    val source = load("table" -> "wide", "idle-time" -> "3s")
    LoadedBuckets.dropIdle()
    assert(ask(source, contextOf(source, Seq("id")), Seq(Row(1L))).length == 1)
    assert(LoadedBuckets.size == 1)
    val pool = Files.storage()
    val (free, held) = (pool.freeBytes, LoadedBuckets.bytes)
    assert(held > 100000)
    val deadline = System.nanoTime() + 20.seconds.toNanos
    while (LoadedBuckets.size > 0 && System.nanoTime() < deadline) Thread.sleep(50)
    assert(LoadedBuckets.size == 0)
    assert(pool.freeBytes >= free + held)
  }

  test("takes the memory of idle buckets first, and fails when that does not do") {
    val source = table("wide")
    val keys = (0L until 200L).map(Row(_)) // of every bucket
    val all = contextOf(source, Seq("id"))
    LoadedBuckets.dropIdle()
    assert(ask(source, all, keys).length == 200)
    val idle = LoadedBuckets.bytes
    val pool = Files.storage()
    val taken = takeAll(pool)
    try {
      assert(ask(source, contextOf(source, Seq("id"), Seq("id")), keys).length == 200)
      assert(LoadedBuckets.bytes < idle / 2)
      val rest = takeAll(pool)
      try {
        val refused = intercept[FiresteelException](ask(source, all, keys))
        assert(refused.getCondition == "FIRESTEEL_LOOKUP_FILES_NO_MEMORY")
      } finally pool.release(rest)
    } finally pool.release(taken)
    assert(ask(source, all, keys).length == 200)
  }

  /** Takes the free memory, and the memory of Spark's own cached blocks, such as broadcasts. */
  private def takeAll(pool: StoragePool): Long =
    Iterator
      .iterate(pool.freeBytes)(_ / 2)
      .takeWhile(_ >= 1024)
      .flatMap(step => Iterator.continually(step).takeWhile(pool.acquire("test", _)))
      .sum

  test("with whole buckets sent to each of 4 tasks, a task reads a quarter and holds a quarter") {
    val source = table("wide")
    val context = contextOf(source, Seq("id"))
    val keys = rowsOf(source, 0L until 20000L by 3)
    val partitioner = source.getPartitioner().get
    val byTask = keys.groupBy(partitioner.partition(_, 4)).toSeq.sortBy(_._1).map(_._2)
    val (custom, found) = measured(byTask.map(Seq(_)), source)
    val anyhow = keys.grouped((keys.length + 3) / 4).toSeq
    // One task after the other, each with nothing loaded, as if each had an executor of its own.
    val (plain, alsoFound) = measured(anyhow.map(Seq(_)), source)
    assert(found == keys.length && alsoFound == keys.length)
    assert(custom.map(_.rows).sum == 20000)
    assert(plain.map(_.rows) == Seq.fill(4)(20000L))
    custom.zip(plain).foreach { case (mine, whole) =>
      assert(mine.bytesRead * 3 < whole.bytesRead, s"$mine of $whole")
      assert(mine.bytesHeld * 3 < whole.bytesHeld, s"$mine of $whole")
    }
    assert(context.keys.fieldNames.toSeq == Seq("id"))
  }

  /**
   * Runs jobs one by one. Returns what each reported in Spark's own metrics, and the rows found.
   */
  private def measured(
      jobs: Seq[Seq[Seq[UnsafeRow]]],
      source: FilesTable): (Seq[Loaded], Int) = {
    var found = 0
    val all = jobs.map { keys =>
      LoadedBuckets.dropIdle()
      var loaded = Loaded()
      var accumulated = Map.empty[String, Any]
      val listener = new SparkListener {
        override def onTaskEnd(end: SparkListenerTaskEnd): Unit = {
          val metrics = end.taskMetrics
          accumulated = end.taskInfo.accumulables
            .flatMap(a => a.name.zip(a.update))
            .toMap
          loaded = Loaded(
            metrics.inputMetrics.bytesRead,
            metrics.inputMetrics.recordsRead,
            0L,
            metrics.peakExecutionMemory)
        }
      }
      spark.sparkContext.addSparkListener(listener)
      found += askEach(source.newLookup(contextOf(source, Seq("id"))), keys).map(_.length).sum
      val deadline = System.nanoTime() + 20.seconds.toNanos
      while (loaded == Loaded() && System.nanoTime() < deadline) Thread.sleep(20)
      spark.sparkContext.removeSparkListener(listener)
      assert(accumulated.get(LoadCounts.bytesRead).contains(loaded.bytesRead))
      assert(accumulated.get(LoadCounts.rowsLoaded).contains(loaded.rows))
      assert(accumulated.contains(LoadCounts.bucketsLoaded))
      loaded
    }
    (all, found)
  }
}
