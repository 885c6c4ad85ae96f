package io.firesteel.skew

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/** Settings of the room. */
object SkewConf {

  val ENABLED: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.skew.enabled")
      .doc(
        "The room's switch: several `DISTINCT` aggregates and `collect_set` in one pass over the rows, " +
          "global aggregates of one input merged, percentiles from sorted numbers.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val MERGE_AGGREGATES: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.skew.mergeAggregates")
      .doc(
        "Whether several aggregates without `GROUP BY` over one input, put side by side by joins " +
          "without a condition, are computed in one pass over it with `FILTER`.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val PHASES: ConfigEntry[String] =
    SQLConf
      .buildConf("spark.firesteel.skew.aggPhaseStrategy")
      .doc(
        "`AUTO`: several `DISTINCT`s are computed in two phases, split by value; `collect_set` " +
          "is, too, where groups are known to be few. `TWO_PHASE`: whatever can be, is, one " +
          "`DISTINCT` and `collect_set` of any groups included. `ONE_PHASE`: nothing is.")
      .version("0.1.0")
      .stringConf
      .transform(_.toUpperCase(java.util.Locale.ROOT))
      .checkValues(Set("AUTO", "ONE_PHASE", "TWO_PHASE"))
      .createWithDefault("AUTO")

  val MAX_GROUPS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.skew.maxSetGroups")
      .doc(
        "Groups, by statistics of the keys or in a sample, up to which `collect_set` is computed in " +
          "two phases; of more only where one has half of the rows of a sample.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(100)

  val SAMPLE_MIN_SIZE: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.skew.sampleMinSize")
      .doc(
        "Size of the rows, by Spark's estimate, from which `collect_set` is computed in two phases, and of a " +
          "source from which a sample is read while the query is planned, to know groups of which no " +
          "statistics say that they are few.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(64L << 20)

  val MAX_TASK_MEMORY: ConfigEntry[Option[Long]] =
    SQLConf
      .buildConf("spark.firesteel.skew.maxTaskMemory")
      .doc("Bytes of groups and distinct values that one operator may hold in one task before " +
        "they are sent on (below the exchange) or written to disk (above it), beside what Spark's " +
        "memory manager grants.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ > 0, "must be positive")
      .createOptional

  val SAMPLE_VALUES: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.skew.sampleValues")
      .doc(
        "Values of a column after which a task judges whether looking for duplicates below the " +
          "exchange is worth while.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(100000)

  val MAX_NEW_VALUES: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.skew.maxNewValues")
      .doc(
        "Share, from 0 to 1, of values that may be new in the latter half of the sample. Above " +
          "it a task sends a column's further values on without looking for duplicates.")
      .version("0.1.0")
      .doubleConf
      .checkValue(share => share >= 0 && share <= 1, "must be from 0 to 1")
      .createWithDefault(0.8)

  val SORT_PERCENTILES: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.skew.sortPercentiles")
      .doc("Whether exact percentiles are computed from sorted numbers instead of a hash map.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val all: Seq[ConfigEntry[_]] = Seq(
    ENABLED,
    MERGE_AGGREGATES,
    SORT_PERCENTILES,
    PHASES,
    MAX_GROUPS,
    SAMPLE_MIN_SIZE,
    MAX_TASK_MEMORY,
    SAMPLE_VALUES,
    MAX_NEW_VALUES)
}
