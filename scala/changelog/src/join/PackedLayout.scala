package io.firesteel.changelog.join

import io.firesteel.changelog.plan.JoinedSide
import io.firesteel.changelog.state.{Slots, StateLayout}
import org.apache.spark.sql.types.{ArrayType, DataType, IntegerType, LongType, StructField, StructType}

/**
 * Entries that hold several rows of a key.
 *
 * {{{
 *   key of the join | place | left          | right         | spread
 *   k=1             | 0     | rows          | rows          |
 *   k=2             | 0     |               | rows          | left: 20 rows in 3 buckets
 *   k=2             | 2     | rows          |               |
 *   k=2             | 4     | rows          |               |
 *   k=2             | 6     | rows          |               |
 * }}}
 *
 * The entry at place 0 has the rows of both sides, so a key is read and written once. A side with
 * more rows than that entry may hold is spread over buckets: the left one over the places 2, 4, 6,
 * the right one over 3, 5, 7. Each row is there with its number of copies, and with the number of
 * its matches where that decides whether it is in the result and is not the same for all rows of a
 * key.
 */
private[join] object PackedLayout {

  private val operator = "join"

  def of(spec: JoinSpec): StateLayout = StateLayout(
    operator,
    StructType(
      spec.left.keys.zipWithIndex.map { case (key, i) =>
        val name = if (spec.isInSlots) Slots.name else s"key_$i"
        StateLayout.field(operator, name, key.dataType)
      } :+ StateLayout.field(operator, "place", IntegerType)),
    StructType(Seq(
      StateLayout.field(operator, "left", ArrayType(element(spec.left))),
      StateLayout.field(operator, "right", ArrayType(element(spec.right))),
      StateLayout.field(operator, "spread", spread)
    )),
    prefix = 0
  )

  /** The fields of an element: the row, its copies and, if they are counted, its matches. */
  private def element(side: JoinedSide): DataType = StructType(
    Seq(
      StructField(
        "row",
        StructType(side.stored.zipWithIndex.map { case (c, i) =>
          StructField(s"column_$i", c.dataType)
        })),
      StructField("copies", LongType)) ++
      (if (side.countsMatches) Seq(StructField("matches", LongType)) else Nil))

  private val spread: DataType = StructType(
    Seq("left", "right").flatMap { side =>
      Seq(StructField(s"${side}_rows", LongType), StructField(s"${side}_buckets", IntegerType))
    })

  /** Whether a store with these columns of its value has this layout. */
  def isOf(columns: Seq[String]): Boolean = columns.contains(s"${operator}_left")
}
