package io.firesteel.core

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings that belong to no room. */
object CoreConf {

  val ENABLED: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.enabled")
      .doc("Whether any rule of firesteel may change a plan. Off: every plan is Spark's own.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val SAMPLE: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.sample")
      .doc(
        "Whether keys without statistics are counted in a sample of the source, read by a small " +
          "job while the query is planned, or of the rows that go through a shuffle below, for what " +
          "adaptive execution plans next.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val SAMPLE_MIN_SIZE: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.sampleMinSize")
      .doc("Size of a source, by Spark's estimate, from which a sample of it is worth its time.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(64L << 20)

  val SAMPLE_ROWS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.sampleRows")
      .doc("Rows of a sample: from the beginnings of four of the source's partitions, or from all tasks " +
        "of a shuffle.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(40000)

  val all: Seq[ConfigEntry[_]] = Seq(ENABLED, SAMPLE, SAMPLE_MIN_SIZE, SAMPLE_ROWS)
}
