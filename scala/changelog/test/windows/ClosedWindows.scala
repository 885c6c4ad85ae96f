package io.firesteel.changelog.windows

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}

import java.sql.Timestamp

import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

/** Streams whose windows a watermark closes, and what they have to answer after each micro-batch. */
abstract class ClosedWindows extends ChangelogSuite {

  protected val schema = StructType.fromDDL("ts TIMESTAMP, k STRING, v INT, input STRING")
  protected val start = Timestamp.valueOf("2026-01-01 12:00:00").getTime

  protected def row(second: Int, k: String, v: Integer, input: String = "l"): Row =
    Row(new Timestamp(start + second * 1000L), k, v, input)

  /** Rows out of order, within the watermark's delay. */
  protected def random(seed: Int, batches: Int = 5, size: Int = 30): Seq[Seq[Row]] = {
    val random = new Random(seed)
    Seq.tabulate(batches) { batch =>
      Seq.fill(if (random.nextInt(6) == 0) 0 else random.nextInt(size)) {
        row(
          batch * 20 + random.nextInt(24),
          if (random.nextInt(8) == 0) null else "abc".substring(random.nextInt(3)).take(1),
          if (random.nextInt(8) == 0) null else random.nextInt(5),
          if (random.nextBoolean()) "l" else "r"
        )
      }
    } :+ Seq(row(batches * 20 + 1000, "end", 0), row(batches * 20 + 1000, "end", 0, "r"))
  }

  protected def watermarked(sql: String, delay: String = "4 seconds"): ChangelogStream =
    new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> delay))

  /**
   * After every micro-batch the rows that came are those of the batch query whose windows the
   * watermark has closed: none earlier, none twice.
   */
  protected def closesOnce(
      sql: String,
      batches: Seq[Seq[Row]],
      mode: String = "append",
      delay: String = "4 seconds"): Unit = {
    val fed = watermarked(sql, delay)
    def started() = fed.startAs(mode, s"SELECT *, '+I' AS op FROM ($sql)")
    started()
    try batches.zipWithIndex.foreach { case (rows, i) =>
        if (i % 2 == 1) {
          fed.stop()
          started()
        }
        fed.feed(rows)
        val watermark = Timestamp.from(java.time.Instant.parse(
          Option(fed.running.lastProgress.eventTime.get("watermark")).get))
        val all = fed.answer()
        val closed =
          all.filter(r => !r.getAs[Timestamp]("window_end").after(watermark))
        assert(
          fed.emitted.map(r => Row.fromSeq(r.toSeq.init).toString).sorted == closed.map(
            _.toString).sorted,
          s"after micro-batch $i at $watermark")
      }
    finally fed.stop()
    val _ = assert(fed.emitted.nonEmpty, sql)
  }
}
