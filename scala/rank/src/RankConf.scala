package io.firesteel.rank

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of the room. */
object RankConf {

  val ENABLED: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.rank.enabled")
      .doc("Whether `ROW_NUMBER`, `RANK` and `DENSE_RANK` under a constant upper bound keep the " +
        "first rows of a key in bounded heaps instead of sorting every row.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val MAX_LIMIT: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.rank.maxLimit")
      .doc("Largest n, in rows per key, for which the room fires; at most 10,000,000.")
      .version("0.1.0")
      .intConf
      // The slots of a key are one record of the arena, 16 bytes each, and a record has 1 GiB at most.
      .checkValue(n => n > 0 && n <= 10000000, "must be from 1 to 10000000")
      .createWithDefault(1000)

  val SAMPLE_ROWS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.rank.sampleRows")
      .doc("Rows after which a task judges whether its heaps drop enough rows to be worth while.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(200000)

  val MAX_NEW_KEYS: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.rank.maxNewKeys")
      .doc(
        "Share of rows, from 0 to 1, that may still bring a new key at the end of the sample. " +
          "Above it heaps have nothing to drop: a task below the exchange passes further rows " +
          "through, and a task above it sorts them.")
      .version("0.1.0")
      .doubleConf
      .checkValue(share => share >= 0 && share <= 1, "must be from 0 to 1")
      .createWithDefault(0.95)

  val MAX_TASK_MEMORY: ConfigEntry[Option[Long]] =
    SQLConf
      .buildConf("spark.firesteel.rank.maxTaskMemory")
      .doc("Bytes that the heaps of one operator may ask for in one task, twice what they hold, before " +
        "they are handed downstream or spilled, beside what Spark's memory manager grants.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ > 0, "must be positive")
      .createOptional

  val all: Seq[ConfigEntry[_]] =
    Seq(ENABLED, MAX_LIMIT, SAMPLE_ROWS, MAX_NEW_KEYS, MAX_TASK_MEMORY)
}
