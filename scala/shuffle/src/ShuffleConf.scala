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
        "Whether shuffles are removed that a shuffle by fewer keys makes redundant, sorts are " +
          "removed whose input is already in order, and local aggregates are adaptive.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val MIN_KEYS_PER_PARTITION: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.minKeysPerPartition")
      .doc(
        "Least number of different values of the remaining keys for each partition of the " +
          "shuffle, by statistics or a sample. With fewer values some partitions become much " +
          "larger than others. If statistics have the size, only the partitions count that " +
          "adaptive execution will leave. 0: no check of keys, layouts and sizes.")
      .version("0.1.0")
      .doubleConf
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(10.0)

  val MAX_KEY_SHARE: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.maxKeyShare")
      .doc(
        "Most rows with one value of the remaining keys, as a multiple of the mean of a " +
          "partition, by statistics or a sample.")
      .version("0.1.0")
      .doubleConf
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(0.5)

  val SAMPLE: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.sample")
      .doc(
        "Whether keys without statistics are counted in a sample: of the source, read by a small " +
          "job during planning, or of the rows of a shuffle below, for the next plan of adaptive " +
          "execution.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val SAMPLE_MIN_SIZE: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.sampleMinSize")
      .doc("Smallest source, by Spark's estimate, that is sampled during planning.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(64L << 20)

  val SAMPLE_ROWS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.sampleRows")
      .doc(
        "Rows of a sample: the first rows of four partitions of the source, or rows of all tasks " +
          "of a shuffle.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(40000)

  val UNEVEN_SIZE: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.unevenSize")
      .doc(
        "Smallest partition of a shuffle by fewer keys that causes a warning, if it is also more " +
          "than five times the mean. Only with adaptive execution.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(64L << 20)

  val ADAPTIVE_LOCAL_AGGREGATE: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.adaptiveLocalAggregate.enabled")
      .doc(
        "Whether a local aggregate emits its rows unaggregated if, by a sample, few rows of a " +
          "task have equal keys. A task aggregates its remaining rows as soon as many have equal " +
          "keys.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val DISTINCT_VALUE_RATE: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.adaptiveLocalAggregate.distinctValueRate")
      .doc(
        "Least number of different keys divided by rows of a task, from 0 to 1, with which the " +
          "task emits its rows unaggregated. With fewer it aggregates them. 0: no check of the " +
          "keys.")
      .version("0.1.0")
      .doubleConf
      .checkValue(rate => rate >= 0 && rate <= 1, "must be between 0 and 1")
      .createWithDefault(0.5)

  val LOCAL_AGGREGATE_SAMPLE_MIN_SIZE: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.shuffle.adaptiveLocalAggregate.sampleMinSize")
      .doc(
        "Smallest source for each core, by Spark's estimate, that is sampled for local aggregates " +
          "only. A sample that was read for a shuffle is used without this bound.")
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
