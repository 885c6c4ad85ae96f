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
