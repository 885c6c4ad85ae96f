package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, If, IsNull, Literal, Murmur3Hash, Or}

/** How the rows of one input reach the partitions of an operator's state. */
sealed private[changelog] trait InputDistribution

private[changelog] object InputDistribution {

  /**
   * Rows that are equal in these columns come to one partition. Inputs of one operator agree by
   * place: equal values of theirs meet. [[WholeKey]] brings all rows to one partition,
   * [[InputDistribution.spread]] keeps rows with null keys apart.
   */
  final case class Clustered(keys: Seq[Attribute]) extends InputDistribution

  /**
   * Every row comes to every partition of the state. The operator sees, behind the input's columns,
   * one with the partition's number.
   */
  case object Replicated extends InputDistribution

  /**
   * A last key column for rows that match nothing because a key is null: it spreads them by other
   * columns, where all would come to one partition. Of rows without null keys it is 0.
   *
   * It is part of the state's key, so that an entry can be brought to its partition again.
   *
   * @param by columns of the row that are the same when it is retracted
   */
  def spread(keys: Seq[Attribute], by: Seq[Attribute]): Alias = {
    val isNull = keys.map(IsNull(_): Expression).reduceOption(Or(_, _))
    val hash = Murmur3Hash(by, 42)
    Alias(isNull.fold[Expression](Literal(0))(If(_, hash, Literal(0))), "spread")()
  }
}
