package io.firesteel.lookup

import java.util.concurrent.TimeUnit

import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of the room. Options of a hint or of a connector override them. */
object LookupConf {

  val ENABLED: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.lookup.enabled")
      .doc("Whether joins with a lookup connector, a `LOOKUP` hint or `FOR SYSTEM_TIME AS OF` a " +
        "column are lookup joins. If false, hints are ignored, and a table that only a lookup " +
        "can read is refused.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val BATCH_SIZE: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.lookup.batchSize")
      .doc("Most distinct keys in one question to the store.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(1000)

  val MAX_BUFFERED_ROWS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.lookup.maxBufferedRows")
      .doc(
        "Most rows that a task holds while they wait for the answers to their keys. The limit of " +
          "64 MiB applies as well.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(100000)

  val CAPACITY: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.lookup.async.capacity")
      .doc("Most questions that a task with an asynchronous connector has under way. Flink: " +
        "`table.exec.async-lookup.buffer-capacity`, which counts rows.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(100)

  val TIMEOUT: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.lookup.timeout")
      .doc("Longest time for a question, including retries on a miss. After it the task fails. " +
        "Flink: `table.exec.async-lookup.timeout`.")
      .version("0.1.0")
      .timeConf(TimeUnit.MILLISECONDS)
      .checkValue(_ > 0, "must be positive")
      .createWithDefaultString("3min")

  val CACHE_SCOPE: ConfigEntry[String] =
    SQLConf
      .buildConf("spark.firesteel.lookup.cacheScope")
      .doc(
        "The tasks that share a PARTIAL cache. `executor`: all tasks of a query in one executor, " +
          "including those of later micro-batches. `task`: each task has its own.")
      .version("0.1.0")
      .stringConf
      .checkValues(Set("executor", "task"))
      .createWithDefault("executor")

  val SHUFFLE_PARTITIONS: ConfigEntry[Option[Int]] =
    SQLConf
      .buildConf("spark.firesteel.lookup.shufflePartitions")
      .doc("Number of partitions of a custom shuffle, which are the shards of a connector. By " +
        "default `spark.sql.shuffle.partitions`.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createOptional

  val all: Seq[ConfigEntry[_]] = Seq(
    ENABLED,
    BATCH_SIZE,
    MAX_BUFFERED_ROWS,
    CAPACITY,
    TIMEOUT,
    CACHE_SCOPE,
    SHUFFLE_PARTITIONS)
}
