package io.firesteel.shuffle

import io.firesteel.core.decide.{Decline, DeclineDoc}

/** Why a shuffle that a coarser one could replace is left in a plan. */
sealed abstract class ShuffleDecline(reason: String, override val message: String)
  extends Decline {
  final override def code: String = s"SHUFFLE.$reason"
}

object ShuffleDecline {

  final case class FewKeys(keys: String, facts: KeyFacts, partitions: Int, bound: BigInt)
    extends ShuffleDecline(
      "FEW_KEYS",
      s"$keys has too few values to spread the rows over the partitions by it alone"
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
    extends ShuffleDecline("LARGE_KEY", s"one value of $keys has too many of the rows") {
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
      s"there are too few groups by $keys, beside the rows below, for their shuffle to be worth sparing"
    ) {
    override def values: Map[String, String] = Map(
      "keys" -> keys,
      "groups for each row below" -> f"$rate%.4f",
      "bound" -> bound.toString,
      "source" -> facts.source)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class UnknownKeys(keys: String, why: String)
    extends ShuffleDecline("UNKNOWN_KEYS", s"nothing is known of the values of $keys: $why") {
    override def values: Map[String, String] = Map("keys" -> keys, "why" -> why)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class UnknownSizes(keys: String, by: String)
    extends ShuffleDecline(
      "UNKNOWN_SIZES",
      s"a table lies by $by, and how many rows have which value of that is not known") {
    override def values: Map[String, String] = Map("keys" -> keys, "by" -> by)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class ReusedShuffle(keys: String)
    extends ShuffleDecline(
      "REUSED",
      "the shuffle below is used twice in the plan; changed for one use, it would have to run twice") {
    override def values: Map[String, String] = Map("keys" -> keys)
  }

  final case class FewPartitions(keys: String, partitions: Int, tasks: Int)
    extends ShuffleDecline(
      "FEW_PARTITIONS",
      s"an input lies by $keys already, but in too few parts to keep all tasks busy") {
    override def values: Map[String, String] =
      Map("keys" -> keys, "partitions" -> partitions.toString, "bound" -> tasks.toString)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class ManyPartitions(keys: String, partitions: Int, bound: Int)
    extends ShuffleDecline(
      "MANY_PARTITIONS",
      s"an input lies by $keys already, but in many more parts than adaptive execution would leave") {
    override def values: Map[String, String] =
      Map("keys" -> keys, "partitions" -> partitions.toString, "bound" -> bound.toString)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class SmallTable(keys: String, bytes: Option[BigInt], bound: BigInt)
    extends ShuffleDecline(
      "SMALL_TABLE",
      s"a table lies by $keys already, but to bring it the rows of the other input costs more than it saves") {
    override def values: Map[String, String] = Map(
      "keys" -> keys,
      "bytes" -> bytes.fold("unknown")(_.toString),
      "bound" -> bound.toString)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class SmallInput(keys: String, bytes: Option[BigInt], bound: BigInt)
    extends ShuffleDecline(
      "SMALL_INPUT",
      "what joins below give may turn out to be small enough for a broadcast, once it has been shuffled") {
    override def values: Map[String, String] = Map(
      "keys" -> keys,
      "bytes" -> bytes.fold("unknown")(_.toString),
      "bound" -> bound.toString)
    override def setting: Option[String] = Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
  }

  final case class LargeBucket(keys: String, share: Double, bound: Double)
    extends ShuffleDecline("LARGE_BUCKET", s"one bucket of a table by $keys has too much of it") {
    override def values: Map[String, String] =
      Map("keys" -> keys, "share" -> f"$share%.4f", "bound" -> f"$bound%.4f")
    override def setting: Option[String] = Some(ShuffleConf.MAX_KEY_SHARE.key)
  }

  /** Not a decline, but what came of firing. */
  final case class Uneven(keys: String, largest: Long, mean: Long)
    extends ShuffleDecline(
      "UNEVEN",
      s"a shuffle by $keys alone has left one partition much larger than the others") {
    override def values: Map[String, String] =
      Map("keys" -> keys, "largest" -> largest.toString, "mean" -> mean.toString)
    override def setting: Option[String] = Some(ShuffleConf.MAX_KEY_SHARE.key)
  }

  val docs: Seq[DeclineDoc] = Seq(
    DeclineDoc(
      "SHUFFLE.FEW_KEYS",
      "The keys that remain have too few values to spread the rows by them alone.",
      Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)),
    DeclineDoc(
      "SHUFFLE.FEW_GROUPS",
      "Above the shuffle are groups by the keys that remain, so few beside the rows of the shuffle below that to " +
        "leave it out gains nothing, and rows may be less even.",
      Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
    ),
    DeclineDoc(
      "SHUFFLE.LARGE_KEY",
      "One value of the keys that remain has too many of the rows.",
      Some(ShuffleConf.MAX_KEY_SHARE.key)),
    DeclineDoc(
      "SHUFFLE.UNKNOWN_KEYS",
      "Nothing is known of the values of the keys that remain: there are no statistics " +
        "(`ANALYZE TABLE … COMPUTE STATISTICS FOR COLUMNS`), no sample was worth its time, and no shuffle " +
        "below that has run has counted them.",
      Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
    ),
    DeclineDoc(
      UnknownSizes("", "").code,
      "A table lies by values, or by those of functions such as `days(ts)`, and how many rows have which is not known.",
      Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
    ),
    DeclineDoc(
      FewPartitions("", 0, 0).code,
      "An input lies by some of the keys already, but in fewer parts than tasks can run at a time.",
      Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
    ),
    DeclineDoc(
      ManyPartitions("", 0, 0).code,
      "An input lies by some of the keys already, but in many more parts than adaptive execution would leave of its size.",
      Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
    ),
    DeclineDoc(
      SmallTable("", None, 0).code,
      "A table that its source keeps by some of the keys is smaller than what would be brought to it, or its size is not known.",
      Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
    ),
    DeclineDoc(
      SmallInput("", None, 0).code,
      "An input of a join comes out of other joins and lies by some of the keys already, but by statistics it is so " +
        "little, or so little is known, that adaptive execution may find it small enough for a broadcast, which it " +
        "would not without the shuffle.",
      Some(ShuffleConf.MIN_KEYS_PER_PARTITION.key)
    ),
    DeclineDoc(
      LargeBucket("", 0, 0).code,
      "One bucket of a bucketed table has too much of it.",
      Some(ShuffleConf.MAX_KEY_SHARE.key)),
    DeclineDoc(ReusedShuffle("").code, ReusedShuffle("").message),
    DeclineDoc(
      Uneven("", 0, 0).code,
      "Said after the query has run: it was done, and one partition got much larger than the others.",
      Some(ShuffleConf.MAX_KEY_SHARE.key)
    ),
    DeclineDoc("SHUFFLE.SWITCHED_OFF", "The room is switched off.", Some(ShuffleConf.ENABLED.key))
  )
}
