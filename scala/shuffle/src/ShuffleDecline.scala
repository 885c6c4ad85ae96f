package io.firesteel.shuffle

import io.firesteel.core.decide.{Decline, DeclineDoc}

/** Why a shuffle stays in the plan although a shuffle by fewer keys could replace it. */
sealed abstract class ShuffleDecline(reason: String, override val message: String)
  extends Decline {
  final override def code: String = s"SHUFFLE.$reason"
}

object ShuffleDecline {

  final case class FewKeys(keys: String, facts: KeyFacts, partitions: Int, bound: BigInt)
    extends ShuffleDecline(
      "FEW_KEYS",
      s"$keys has too few values to spread the rows evenly over the partitions"
    ) {
    override def values: Map[String, String] = Map(
      "keys" -> keys,
      "distinct" -> facts.distinct.toString,
      "bound" -> bound.toString,
      "partitions" -> partitions.toString,
      "source" -> facts.source)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class LargeKey(keys: String, facts: KeyFacts, bound: Double)
    extends ShuffleDecline("LARGE_KEY", s"one value of $keys has too many rows") {
    override def values: Map[String, String] = Map(
      "keys" -> keys,
      "share" -> f"${facts.largestShare}%.4f",
      "bound" -> f"$bound%.4f",
      "source" -> facts.source)
    override def setting: Option[String] = Some(ShuffleConf.MAX_KEY_SHARE.key)
  }

  final case class FewGroups(keys: String, facts: KeyFacts, rate: Double, bound: Double)
    extends ShuffleDecline(
      "FEW_GROUPS",
      s"there are few groups by $keys compared to the rows below; to remove their shuffle saves " +
        "nothing"
    ) {
    override def values: Map[String, String] = Map(
      "keys" -> keys,
      "groups for each row below" -> f"$rate%.4f",
      "bound" -> bound.toString,
      "source" -> facts.source)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class UnknownKeys(keys: String, why: String)
    extends ShuffleDecline("UNKNOWN_KEYS", s"the number of values of $keys is unknown: $why") {
    override def values: Map[String, String] = Map("keys" -> keys, "why" -> why)
    override def setting: Option[String] = Some(ShuffleConf.SAMPLE_MIN_SIZE.key)
  }

  final case class UnknownSizes(keys: String, by: String)
    extends ShuffleDecline(
      "UNKNOWN_SIZES",
      s"a table is stored by $by, and the number of rows for each value of it is unknown") {
    override def values: Map[String, String] = Map("keys" -> keys, "by" -> by)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class ReusedShuffle(keys: String)
    extends ShuffleDecline(
      "REUSED",
      "the plan uses the shuffle below twice; changed for one use, it would run twice") {
    override def values: Map[String, String] = Map("keys" -> keys)
  }

  final case class FewPartitions(keys: String, partitions: Int, tasks: Int)
    extends ShuffleDecline(
      "FEW_PARTITIONS",
      s"an input is partitioned by $keys already, but has fewer partitions than tasks that run " +
        "at a time") {
    override def values: Map[String, String] =
      Map("keys" -> keys, "partitions" -> partitions.toString, "bound" -> tasks.toString)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class ManyPartitions(keys: String, partitions: Int, bound: Int)
    extends ShuffleDecline(
      "MANY_PARTITIONS",
      s"an input is partitioned by $keys already, but has many more partitions than adaptive " +
        "execution would leave") {
    override def values: Map[String, String] =
      Map("keys" -> keys, "partitions" -> partitions.toString, "bound" -> bound.toString)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class SmallTable(keys: String, bytes: Option[BigInt], bound: BigInt)
    extends ShuffleDecline(
      "SMALL_TABLE",
      s"a table is stored by $keys, but to bring it the rows of the other input costs more than " +
        "it saves") {
    override def values: Map[String, String] = Map(
      "keys" -> keys,
      "bytes" -> bytes.fold("unknown")(_.toString),
      "bound" -> bound.toString)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class SmallInput(keys: String, bytes: Option[BigInt], bound: BigInt)
    extends ShuffleDecline(
      "SMALL_INPUT",
      "an input of a join may be small enough for a broadcast, which Spark learns from the " +
        "shuffle") {
    override def values: Map[String, String] = Map(
      "keys" -> keys,
      "bytes" -> bytes.fold("unknown")(_.toString),
      "bound" -> bound.toString)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class LargeBucket(keys: String, share: Double, bound: Double)
    extends ShuffleDecline("LARGE_BUCKET", s"one bucket of a table by $keys is too large") {
    override def values: Map[String, String] =
      Map("keys" -> keys, "share" -> f"$share%.4f", "bound" -> f"$bound%.4f")
    override def setting: Option[String] = Some(ShuffleConf.MAX_KEY_SHARE.key)
  }

  final case class StoredTable(spark: String)
    extends ShuffleDecline(
      "STORED_TABLE_NEEDS_SPARK_4_2",
      "a source reports how a table lies, which could spare a shuffle; before Spark 4.2.1 such " +
        "tables are left to Spark"
    ) {
    override def values: Map[String, String] = Map("spark" -> spark)
  }

  final case class UnionLayout(spark: String)
    extends ShuffleDecline(
      "UNION_NEEDS_SPARK_4_1",
      "the shuffle above a UNION ALL could go; before Spark 4.1 a union does not say how its rows " +
        "lie") {
    override def values: Map[String, String] = Map("spark" -> spark)
  }

  final case class OtherExchange(keys: String, operator: String)
    extends ShuffleDecline(
      "OTHER_EXCHANGE",
      s"the shuffle by $keys could go, but another extension has made it its own, $operator") {
    override def values: Map[String, String] = Map("keys" -> keys, "operator" -> operator)
  }

  /** Not a decline, but a result of firing. */
  final case class Uneven(keys: String, largest: Long, mean: Long)
    extends ShuffleDecline(
      "UNEVEN",
      s"a shuffle by $keys has made one partition much larger than the others") {
    override def values: Map[String, String] =
      Map("keys" -> keys, "largest" -> largest.toString, "mean" -> mean.toString)
    override def setting: Option[String] = Some(ShuffleConf.MAX_KEY_SHARE.key)
  }

  private val analyze = "`ANALYZE TABLE … COMPUTE STATISTICS FOR COLUMNS`"
  private val minKeys = ShuffleConf.MIN_KEYS_PER_PARTITION.key
  private val maxShare = ShuffleConf.MAX_KEY_SHARE.key

  val docs: Seq[DeclineDoc] = Seq(
    DeclineDoc(
      "SHUFFLE.FEW_KEYS",
      "The remaining keys have too few values to spread the rows evenly.",
      Some(minKeys),
      cure = "Nothing, if the keys have few values; if their statistics are out of date, run " +
        s"$analyze."
    ),
    DeclineDoc(
      "SHUFFLE.FEW_GROUPS",
      "The shuffle above has few groups compared to the rows of the shuffle below. To remove it " +
        "saves nothing, and rows may become less even.",
      Some(minKeys)
    ),
    DeclineDoc(
      "SHUFFLE.LARGE_KEY",
      "One value of the remaining keys has too many rows.",
      Some(maxShare),
      cure = "Nothing, if the value is needed; if it is null or a placeholder, filter it out " +
        "below."
    ),
    DeclineDoc(
      "SHUFFLE.UNKNOWN_KEYS",
      "The number of values of the remaining keys is unknown: there are no column statistics, no " +
        "sample could be read, and no finished shuffle below has counted them.",
      Some(ShuffleConf.SAMPLE_MIN_SIZE.key),
      cure = s"Run $analyze, for keys of a join or window with " +
        "`spark.sql.statistics.histogram.enabled`; or set the least size of a sampled source to 0."
    ),
    DeclineDoc(
      UnknownSizes("", "").code,
      "A table is stored by values of its columns, or of functions such as `days(ts)`, and the " +
        "number of rows for each value is unknown.",
      Some(minKeys),
      cure = "Store the table in buckets of the key, such as `bucket(16, id)`."
    ),
    DeclineDoc(
      FewPartitions("", 0, 0).code,
      "An input is partitioned by some of the keys already, but has fewer partitions than tasks " +
        "that run at a time.",
      Some(minKeys),
      cure = "Write the table in more buckets, or give `repartition` a larger number."
    ),
    DeclineDoc(
      ManyPartitions("", 0, 0).code,
      "An input is partitioned by some of the keys already, but has more than eight times the " +
        "partitions that adaptive execution would leave.",
      Some(minKeys),
      cure = "Write the table in fewer buckets, or give `repartition` a smaller number."
    ),
    DeclineDoc(
      SmallTable("", None, 0).code,
      "A table that its source keeps by some of the keys is smaller than the rows that would be " +
        "brought to it, or its size is unknown.",
      Some(minKeys),
      cure = "If the size is unknown, run `ANALYZE TABLE … COMPUTE STATISTICS`, or let the " +
        "source report it."
    ),
    DeclineDoc(
      SmallInput("", None, 0).code,
      "An input of a join is the result of other joins or of groups, and its size is unknown or, by " +
        "statistics, small. With the shuffle, adaptive execution may find that it can be " +
        "broadcast.",
      Some(minKeys),
      cure = s"If the size is unknown, run $analyze on the joined tables; or give the join a " +
        "hint such as `MERGE`."
    ),
    DeclineDoc(
      LargeBucket("", 0, 0).code,
      "One bucket of a bucketed table is too large.",
      Some(maxShare),
      cure = "Bucket the table by columns with more even values."),
    DeclineDoc(ReusedShuffle("").code, ReusedShuffle("").message),
    DeclineDoc(
      StoredTable("").code,
      "A source reports how a table lies, which could spare a shuffle. Spark before 4.2.1 has " +
        "faults with such tables, so they are left to it.",
      cure = "Run Spark 4.2.1 or later."
    ),
    DeclineDoc(
      UnionLayout("").code,
      "The shuffle above a `UNION ALL` could go. A union does not say how its rows lie before " +
        "Spark 4.1.",
      cure = "Run Spark 4.1 or later."
    ),
    DeclineDoc(
      OtherExchange("", "").code,
      "The shuffle could go, but another extension has replaced it by an operator of its own, " +
        "before this rule ran.",
      cure = "Name `io.firesteel.FiresteelExtensions` before the other extension in " +
        "`spark.sql.extensions`."
    ),
    DeclineDoc(
      Uneven("", 0, 0).code,
      "Reported after the query has run: a shuffle was removed, and one partition has become " +
        "much larger than the others.",
      Some(maxShare),
      cure = s"For the next run lower `$maxShare`, or run $analyze with " +
        "`spark.sql.statistics.histogram.enabled`."
    ),
    Decline.switchedOffDoc("shuffle", ShuffleConf.ENABLED)
  )
}
