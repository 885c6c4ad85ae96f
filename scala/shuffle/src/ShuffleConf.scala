package io.firesteel.shuffle

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of the room. */
object ShuffleConf {

  val ENABLED: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.enabled")
      .doc(
        "The room's switch: shuffles that a coarser one makes needless are removed, sorts of what is in " +
          "order too, and local aggregates are adaptive.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val MIN_KEYS_PER_PARTITION: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.minKeysPerPartition")
      .doc(
        "Different values that the remaining keys must have for each partition of the shuffle, by " +
          "statistics or a sample. With fewer, some partitions get much more than others. Where " +
          "statistics tell the size, these are the partitions that adaptive execution will leave. " +
          "0: the values are not looked at.")
      .version("0.1.0")
      .doubleConf
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(10.0)

  val MAX_KEY_SHARE: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.maxKeyShare")
      .doc(
        "Rows that one value of the remaining keys may have, as a multiple of a partition's mean, " +
          "where statistics or a sample tell.")
      .version("0.1.0")
      .doubleConf
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(0.5)

  val SAMPLE: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.sample")
      .doc(
        "Whether keys without statistics are counted in a sample of the source, read by a small " +
          "job while the query is planned, or of the rows that go through a shuffle below, for what " +
          "adaptive execution plans next.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val SAMPLE_MIN_SIZE: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.sampleMinSize")
      .doc("Size of a source, by Spark's estimate, from which a sample of it is worth its time.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(64L << 20)

  val SAMPLE_ROWS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.sampleRows")
      .doc("Rows of a sample: from the beginnings of four of the source's partitions, or from all tasks " +
        "of a shuffle.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(40000)

  val UNEVEN_SIZE: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.unevenSize")
      .doc(
        "Size of a partition of a shuffle by fewer keys from which a warning is given, if it is also " +
          "more than five times the mean. Only with adaptive execution.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(64L << 20)

  val ADAPTIVE_LOCAL_AGGREGATE: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.adaptiveLocalAggregate.enabled")
      .doc(
        "Whether rows go to the final aggregate one by one, where by a sample few of a task have " +
          "equal keys. A task goes on by aggregating as soon as its rows say otherwise.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val DISTINCT_VALUE_RATE: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.adaptiveLocalAggregate.distinctValueRate")
      .doc(
        "Share of a task's rows, from 0 to 1, that must have a key of their own for it to hand rows on; " +
          "with fewer it aggregates them. 0: the keys are not looked at.")
      .version("0.1.0")
      .doubleConf
      .checkValue(rate => rate >= 0 && rate <= 1, "must be between 0 and 1")
      .createWithDefault(0.5)

  val LOCAL_AGGREGATE_SAMPLE_MIN_SIZE: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.adaptiveLocalAggregate.sampleMinSize")
      .doc(
        "Size of a source for each core, by Spark's estimate, from which a sample is taken for local " +
          "aggregates alone. One that was taken for the sake of a shuffle serves them, too.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(512L << 20)

  val all: Seq[ConfigEntry[_]] = Seq(
    ENABLED,
    MIN_KEYS_PER_PARTITION,
    MAX_KEY_SHARE,
    SAMPLE,
    SAMPLE_MIN_SIZE,
    SAMPLE_ROWS,
    UNEVEN_SIZE,
    ADAPTIVE_LOCAL_AGGREGATE,
    DISTINCT_VALUE_RATE,
    LOCAL_AGGREGATE_SAMPLE_MIN_SIZE
  )
}
