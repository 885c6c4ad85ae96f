package io.firesteel.changelog.plan.frames

import org.apache.spark.sql.catalyst.expressions.Expression

/**
 * How far the frames of a row reach in one direction.
 *
 * @param rows as many rows
 * @param values as far as these values of the order's only column; each is computed from the row
 * @param peers to the last row with an equal order
 * @param isWhole to the partition's end
 */
final private[changelog] case class OverReach(
    rows: Int = 0,
    values: Seq[Expression] = Nil,
    peers: Boolean = false,
    isWhole: Boolean = false) {

  def |(other: OverReach): OverReach = OverReach(
    math.max(rows, other.rows),
    (values ++ other.values).distinct,
    peers || other.peers,
    isWhole || other.isWhole)

  /** What `explain` shows. */
  def text: String =
    if (isWhole) "all"
    else {
      val parts = Seq(
        if (rows > 0) Some(s"$rows rows") else None,
        if (values.nonEmpty) Some("a range") else None,
        if (peers) Some("equal rows") else None).flatten
      if (parts.isEmpty) "none" else parts.mkString(" and ")
    }
}
