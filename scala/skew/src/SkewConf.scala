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
        "Whether several `DISTINCT` aggregates and `collect_set` are computed in one pass over " +
          "the rows, aggregates of one input without `GROUP BY` are merged, and exact " +
          "percentiles are computed from arrays of numbers.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val MERGE_AGGREGATES: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.skew.mergeAggregates")
      .doc(
        "Whether several aggregates without `GROUP BY` over one input, joined without a " +
          "condition, are computed in one pass over it with `FILTER`.")
      .version("0.1.0")
      .booleanConf
      .createWithDefault(true)

  val PHASES: ConfigEntry[String] =
    SQLConf
      .buildConf("spark.firesteel.skew.aggPhaseStrategy")
      .doc(
        "`AUTO`: several `DISTINCT`s are computed in two phases, split by value; so is " +
          "`collect_set` if groups are known to be few. `TWO_PHASE`: every supported aggregate, " +
          "including one `DISTINCT`, and `collect_set` with any number of groups. `ONE_PHASE`: " +
          "none. The hints `TWO_PHASE` and `ONE_PHASE` overrule it for their `SELECT`.")
      .version("0.1.0")
      .stringConf
      .transform(_.toUpperCase(java.util.Locale.ROOT))
      .checkValues(Set("AUTO", "ONE_PHASE", "TWO_PHASE"))
      .createWithDefault("AUTO")

  val MAX_GROUPS: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.skew.maxSetGroups")
      .doc(
        "Largest number of groups, by statistics of the keys or in a sample, for which " +
          "`collect_set` is computed in two phases. With more groups it is only if one has half " +
          "of the sample's rows.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(100)

  val SAMPLE_MIN_SIZE: ConfigEntry[Long] =
    SQLConf
      .buildConf("spark.firesteel.skew.sampleMinSize")
      .doc(
        "Smallest input, by Spark's estimate, for which `collect_set` is computed in two phases; " +
          "and smallest source that is sampled during planning, if no statistics show " +
          "that groups are few.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ >= 0, "must not be negative")
      .createWithDefault(64L << 20)

  val MAX_TASK_MEMORY: ConfigEntry[Option[Long]] =
    SQLConf
      .buildConf("spark.firesteel.skew.maxTaskMemory")
      .doc(
        "Most bytes of groups, distinct values and numbers of percentiles that one operator " +
          "holds in one task. At this " +
          "bound, or earlier if Spark's memory manager refuses, it sends them (below the " +
          "exchange) or spills them to disk (above it). Not set: only the memory manager decides.")
      .version("0.1.0")
      .bytesConf(ByteUnit.BYTE)
      .checkValue(_ > 0, "must be positive")
      .createOptional

  val SAMPLE_VALUES: ConfigEntry[Int] =
    SQLConf
      .buildConf("spark.firesteel.skew.sampleValues")
      .doc(
        "Values of a column, and rows of a task, after which a task decides whether to go on " +
          "looking for duplicates below the exchange.")
      .version("0.1.0")
      .intConf
      .checkValue(_ > 0, "must be positive")
      .createWithDefault(100000)

  val MAX_NEW_VALUES: ConfigEntry[Double] =
    SQLConf
      .buildConf("spark.firesteel.skew.maxNewValues")
      .doc(
        "Largest share, from 0 to 1, of new values in the second half of the sample. Above it a " +
          "task sends the column's further values without looking for duplicates.")
      .version("0.1.0")
      .doubleConf
      .checkValue(share => share >= 0 && share <= 1, "must be from 0 to 1")
      .createWithDefault(0.8)

  val SORT_PERCENTILES: ConfigEntry[Boolean] =
    SQLConf
      .buildConf("spark.firesteel.skew.sortPercentiles")
      .doc("Whether exact percentiles are computed from arrays of numbers instead of a hash map.")
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
