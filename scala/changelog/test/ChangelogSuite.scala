package io.firesteel.changelog

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.core.CoreConf

import io.firesteel.checkpoint.LocalCheckpointFileManager
import io.firesteel.testkit.RoomSuite
import org.apache.spark.sql.{Row, SparkSessionExtensions}
import org.apache.spark.sql.execution.streaming.state.RocksDBCheckpointMetadata
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.scalatest.Assertion

/** The room alone, and streams that are fed micro-batch by micro-batch. */
abstract class ChangelogSuite extends RoomSuite {

  require((CoreConf.all ++ ChangelogConf.all).nonEmpty, "reading the settings registers them")

  // Spark 4.0 marks RocksDB's snapshots with the format that is set where the JVM first asks for the
  // mark, and reads no others. Asked before any test, it is that of kept checkpoints, and of 4.1.
  require(RocksDBCheckpointMetadata.VERSION == 1, "a session has set another format")

  protected val hdfs: String =
    "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
  protected val rocksDb: String =
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
  protected val providers: Seq[String] = Seq(hdfs, rocksDb)

  override protected def settings: Map[String, String] = ChangelogSuite.settings

  override protected def install(extensions: SparkSessionExtensions): Unit =
    ChangelogRoom.install(extensions)

  protected def withProvider[T](provider: String)(body: => T): T =
    withConf(SQLConf.STATE_STORE_PROVIDER_CLASS.key -> provider)(body)

  protected def stream(
      schema: String,
      sql: String,
      source: ChangelogStream.Source = ChangelogStream.Rows): ChangelogStream =
    new ChangelogStream(spark, StructType.fromDDL(schema), sql, source)

  /**
   * Feeds micro-batches and checks after each that the changelog, applied row by row, is the batch
   * query's answer over what has come so far.
   *
   * @param restarts micro-batches before which the query is stopped and started again
   */
  protected def assertFollows(
      schema: String,
      sql: String,
      batches: Seq[Seq[Row]],
      restarts: Set[Int] = Set.empty,
      source: ChangelogStream.Source = ChangelogStream.Rows): Assertion =
    follow(stream(schema, sql, source), _.start(), batches, restarts)

  /** The same of the upsert stream, if columns of the result identify its rows. */
  protected def assertUpserts(
      schema: String,
      sql: String,
      batches: Seq[Seq[Row]],
      source: ChangelogStream.Source = ChangelogStream.Rows): Boolean = {
    val fed = stream(schema, sql, source)
    fed.upsertKey.map(key => follow(fed, _.startUpserts(key), batches, Set.empty)).nonEmpty
  }

  /** Checks after each micro-batch that complete mode's whole result is the batch query's answer. */
  protected def assertWhole(
      schema: String,
      sql: String,
      batches: Seq[Seq[Row]],
      restarts: Set[Int] = Set.empty,
      source: ChangelogStream.Source = ChangelogStream.Rows): Assertion = {
    val fed = stream(schema, sql, source)
    try {
      fed.startAs("complete", sql)
      batches.zipWithIndex.filter(_._1.nonEmpty).foreach { case (rows, i) =>
        if (restarts.contains(i)) {
          fed.stop()
          fed.startAs("complete", sql)
        }
        fed.feed(rows)
        val (has, wanted) = (ChangelogStream.bag(fed.last), ChangelogStream.bag(fed.answer()))
        assert(has == wanted, s"micro-batch $i")
      }
      succeed
    } finally fed.stop()
  }

  private def follow(
      fed: ChangelogStream,
      start: ChangelogStream => Unit,
      batches: Seq[Seq[Row]],
      restarts: Set[Int]): Assertion =
    try {
      start(fed)
      batches.zipWithIndex.foreach { case (rows, i) =>
        if (restarts.contains(i)) fed.restart()
        fed.feed(rows)
        fed.difference.foreach(d => fail(s"micro-batch $i: $d"))
      }
      succeed
    } finally fed.stop()

  /** The message of the error with which a query is refused. */
  protected def refusal(schema: String, sql: String, mode: String = "append"): String = {
    val fed = stream(schema, sql)
    val error = intercept[org.apache.spark.sql.AnalysisException](fed.startAs(mode, sql))
    error.getMessage
  }
}

object ChangelogSuite {

  val settings: Map[String, String] =
    Map(
      "spark.sql.shuffle.partitions" -> "2",
      SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key ->
        classOf[LocalCheckpointFileManager].getName,
      // A test has its own checkpoint, which nobody reads after it.
      "spark.sql.streaming.minBatchesToRetain" -> "2",
      "spark.sql.streaming.numRecentProgressUpdates" -> "2"
    )
}
