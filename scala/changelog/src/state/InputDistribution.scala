package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, If, IsNull, Literal, Murmur3Hash, Or}

/** How the rows of one input reach the partitions of an operator's state. */
sealed private[changelog] trait InputDistribution

private[changelog] object InputDistribution {

  /**
   * Rows with equal values in these columns reach one partition. The inputs of one operator agree
   * by position: rows with equal values meet. [[WholeKey]] sends all rows to one partition;
   * [[InputDistribution.spread]] spreads rows with null keys.
   */
  final case class Clustered(keys: Seq[Attribute]) extends InputDistribution

  /**
   * Every row reaches every partition of the state. The operator sees the number of the partition
   * in a column after the input's columns.
   */
  case object Replicated extends InputDistribution

  /**
   * A last key column for rows with a null in their key, which match nothing. Without it they would
   * all reach one partition; it spreads them by other columns. It is 0 for rows without a null key.
   *
   * It is part of the state's key, so an entry's partition can be computed from the entry.
   *
   * @param by columns of the row that have the same values when the row is retracted
   */
  def spread(keys: Seq[Attribute], by: Seq[Attribute]): Alias = {
    val isNull = keys.map(IsNull(_): Expression).reduceOption(Or(_, _))
    val hash = Murmur3Hash(by, 42)
    Alias(isNull.fold[Expression](Literal(0))(If(_, hash, Literal(0))), "spread")()
  }
}

/**
 * Where the rows of an operator's state lie. It is decided when a query starts for the first time,
 * and the operator's record has it: an entry stays in its partition.
 *
 * @param by places of the key's columns by whose hash rows are distributed, in this order; none for
 *   all columns in their order
 * @param inPlace for each input, whether its rows lie so already, so that no shuffle is needed
 * @param choices what the query chose when it began
 * @param version the [[PlanVersion]] by which the query was read
 * @param guest the operator's number among those that share a store, if the store is another one's
 * @param why for each input why its rows are shuffled, in words for `explain`; none if there is no
 *   operator below that could have placed them
 */
final private[changelog] case class Placement(
    by: Seq[Int],
    inPlace: Seq[Boolean],
    choices: PlanChoices,
    version: Int,
    guest: Option[Int] = None,
    why: Seq[Option[String]] = Nil) {

  /** The columns of a key by whose hash rows are distributed. */
  def of[A](keys: Seq[A]): Seq[A] = if (by.isEmpty) keys else by.map(keys)

  /** What is done with the rows of the inputs, in words; none if all come shuffled from sources. */
  def text(names: Seq[String]): Option[String] = {
    val texts = names.indices.map { i =>
      if (inPlace.lift(i).contains(true)) "none, rows lie by these keys already"
      else ("by the keys" +: why.lift(i).flatten.toSeq).mkString(": ")
    }
    Option.when(inPlace.contains(true) || why.exists(_.nonEmpty)) {
      if (texts.distinct.size == 1) texts.head
      else names.zip(texts).map { case (name, text) => s"$name: $text" }.mkString("; ")
    }
  }
}

private[changelog] object Placement {

  /** Every input is shuffled by the whole key. */
  val ownShuffles: Placement = Placement(Nil, Nil, PlanChoices.none, PlanVersion.current)
}
