package io.firesteel.json

import java.nio.charset.StandardCharsets.UTF_8
import java.time.{LocalDate, LocalDateTime, ZoneOffset}
import java.util.Random

import io.firesteel.testkit.TimedSuite

import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.unsafe.types.UTF8String

/** Times read by their digits are those of Spark. */
class PlainTimeSuite extends TimedSuite {

  private val time = new PlainTime

  test("each day from 1600 on, and those that are none") {
    val wrong = (LocalDate.of(1600, 1, 1).toEpochDay to LocalDate.of(2500, 1, 1).toEpochDay)
      .filterNot { day =>
        val bytes = LocalDate.ofEpochDay(day).toString.getBytes(UTF_8)
        time.readDate(bytes, 0, bytes.length) && time.days == day
      }
    assert(wrong.isEmpty)
    val none = Seq(
      "2023-02-29",
      "2024-02-30",
      "2024-04-31",
      "2024-00-01",
      "2024-01-00",
      "2024-13-01",
      "2024-1-001",
      "2024/01/01",
      "1599-01-01",
      "a024-01-01",
      "2024-01-0a",
      "20240101  "
    )
    assert(none.filter(text => time.readDate(text.getBytes(UTF_8), 0, text.length)).isEmpty)
  }

  test("times are those of Spark's parser") {
    val random = new Random(7)
    for (_ <- 0 until 20000) {
      val at = LocalDateTime.ofEpochSecond(
        (random.nextInt.toLong * 4) % 10000000000L,
        random.nextInt(1000000) * 1000,
        ZoneOffset.UTC)
      val text =
        if (random.nextBoolean()) at.toString else at.withNano(0).toString.replace('T', ' ')
      val bytes = text.getBytes(UTF_8)
      if (time.readTime(bytes, 0, bytes.length) && time.end == bytes.length) {
        val sparks = DateTimeUtils.stringToTimestamp(UTF8String.fromString(text), ZoneOffset.UTC)
        val _ = assert(sparks.contains(time.localMicros), text)
      }
    }
    succeed
  }
}
