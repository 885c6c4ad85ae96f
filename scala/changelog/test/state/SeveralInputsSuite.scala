package io.firesteel.changelog.state

import io.firesteel.changelog.ChangelogSuite
import io.firesteel.changelog.checkpoint.RepartitionState
import io.firesteel.testkit.SinceSpark

import java.nio.file.Files

import org.apache.spark.sql.{DataFrame, Encoders, Row, SparkSessionExtensions}
import org.apache.spark.sql.firesteel.{dataFrameOf, executionOf}
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/**
 * Operators with two and three inputs, of which some are replicated, end to end: restarted before each
 * micro-batch, and after the second with another number of partitions.
 */
class SeveralInputsSuite extends ChangelogSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit = {
    super.install(extensions)
    extensions.injectPlannerStrategy(_ => MatchCounter.Plan)
  }

  private def counted(inputs: Int, replicated: Int): Unit = {
    val streams = (0 until inputs).map { _ =>
      memoryStream[Row](spark)(Encoders.row(StructType.fromDDL("k STRING")))
    }
    val checkpoint = Files.createTempDirectory("firesteel-several").toString
    val shown = scala.collection.mutable.Map.empty[String, Long]
    def start() = dataFrameOf(
      spark,
      MatchCounter.of(streams.map(s => executionOf(s.toDF()).analyzed), replicated))
      .writeStream.outputMode("append").option("checkpointLocation", checkpoint)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        batch.collect().foreach(row => shown += row.getString(0) -> row.getLong(1))
      }.start()
    val random = new scala.util.Random(inputs * 10 + replicated)
    val fed = Array.fill(inputs)(Vector.empty[String])
    (0 until 4).foreach { batch =>
      val query = start() // anew for each micro-batch
      try {
        streams.indices.foreach { i =>
          val rows = Vector.fill(random.nextInt(6))(s"k${random.nextInt(4)}")
          fed(i) ++= rows
          if (rows.nonEmpty) streams(i).addData(rows.map(Row(_)))
        }
        query.processAllAvailable()
      } finally query.stop()
      if (batch == 1 && repartitions) {
        val _ = RepartitionState(spark, checkpoint, if (inputs == 2) 5 else 1)
      }
      val others = fed.takeRight(replicated).map(_.size.toLong).product
      val wanted = fed.head.distinct.map { key =>
        key -> fed.dropRight(replicated).map(_.count(_ == key).toLong).product * others
      }.filter(_._2 > 0).toMap
      assert(shown == wanted, s"micro-batch $batch of $inputs inputs, $replicated replicated")
    }
  }

  /** Before 4.2, Spark cannot write state in RocksDB in another number of partitions. */
  private def repartitions: Boolean =
    SinceSpark.is("4.2") ||
      !spark.conf.get(SQLConf.STATE_STORE_PROVIDER_CLASS.key).contains("RocksDB")

  for { provider <- providers; (inputs, replicated) <- Seq((2, 0), (2, 1), (3, 0), (3, 1), (3, 2)) }
    test(s"$inputs inputs, $replicated replicated, ${provider.split('.').last}") {
      withConf(SQLConf.STATE_STORE_PROVIDER_CLASS.key -> provider)(counted(inputs, replicated))
    }
}
