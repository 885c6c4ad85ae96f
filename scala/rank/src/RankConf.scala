package io.firesteel.rank

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of the room. */
object RankConf {

  val ENABLED: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.rank.enabled")
      .doc("Whether queries with a constant upper bound on `ROW_NUMBER`, `RANK` or `DENSE_RANK` " +
        "keep the first rows of each key in bounded heaps instead of sorting every row.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val MAX_LIMIT: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.rank.maxLimit")
      .doc("Largest n, in rows per key (distinct order values for `DENSE_RANK`), for which the " +
        "rule fires. At most 10,000,000.")
      .version("0.1.0")
      .intConf
      // A key's slots are one record of the arena, 16 bytes a slot, and a record is at most 1 GiB.
      .checkValue(n => n > 0 && n <= 10000000, "must be from 1 to 10000000")
      .createWithDefault(1000)

  val SAMPLE_ROWS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.rank.sampleRows")
      .doc("Rows after which a task decides whether its heaps drop enough rows to pay off.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(200000)

  val MAX_NEW_KEYS: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.rank.maxNewKeys")
      .doc(
        "Share of rows, from 0 to 1, that may have a new key in the second half of the sample. " +
          "Above it heaps drop nothing: a task below the exchange passes further rows through, " +
          "and a task above it sorts them. 1: tasks always use heaps.")
      .version("0.1.0")
      .doubleConf
      .checkValue(share => share >= 0 && share <= 1, "must be from 0 to 1")
      .createWithDefault(0.95)

  val MAX_TASK_MEMORY: ConfigEntry[Option[Long]] =
    SQLConf
      .buildConf("spark.firesteel.rank.maxTaskMemory")
      .doc("Largest number of bytes that one operator's heaps reserve in a task, which is twice " +
        "what they hold. Above it the operator below the exchange emits its rows, and the one " +
        "above it spills. Not set: Spark's memory manager alone is the limit.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ > 0, "must be positive")
      .createOptional

  val all: Seq[ConfigEntry[_]] =
    Seq(ENABLED, MAX_LIMIT, SAMPLE_ROWS, MAX_NEW_KEYS, MAX_TASK_MEMORY)
}
