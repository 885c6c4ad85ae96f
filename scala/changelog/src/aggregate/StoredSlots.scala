package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.Slot

import org.apache.spark.sql.types.DataType

/**
 * The columns of an aggregate's slots in the value of its store. A new checkpoint has them in the
 * order of the slots. Later they are found by name, so that the query may list its calls in another
 * order.
 *
 * @param slots the number of rows, and the other slots; each with the names of its columns in a new checkpoint
 * @param slotsOf for each call its slots
 * @param kept for each call the names of its columns in the checkpoint; none for a new one
 * @param order all columns of the store, in order
 */
final private[aggregate] class StoredSlots(
    slots: Seq[(Seq[String], Slot)],
    slotsOf: Seq[Seq[Int]],
    kept: Option[Seq[Seq[String]]],
    order: Seq[String])
  extends Serializable {

  private val names: Seq[Seq[String]] = {
    // The columns of a call are those of its slots, in order.
    val found = slotsOf.zip(kept.getOrElse(Nil)).flatMap { case (of, columns) =>
      val ends = of.map(slots(_)._1.size).scanLeft(0)(_ + _)
      of.zip(ends.zip(ends.tail).map { case (from, until) => columns.slice(from, until) })
    }.toMap
    slots.indices.map(i => found.get(i).filter(_.size == slots(i)._1.size).getOrElse(slots(i)._1))
  }

  // The number of rows comes first, whether a call asks for it or not.
  private val sorted: Seq[Int] = 0 +: slots.indices.tail.sortBy(i => order.indexOf(names(i).head))

  /** Name and type of each column, in the order of the store. */
  val fields: Seq[(String, DataType)] =
    sorted.flatMap(i => names(i).zip(slots(i)._2.fields.map(_._2)))

  /** Index of each slot's first column. */
  val at: Array[Int] = {
    val starts = sorted.map(slots(_)._1.size).scanLeft(0)(_ + _)
    val found = new Array[Int](slots.size)
    sorted.zip(starts).foreach { case (slot, start) => found(slot) = start }
    found
  }

  /** For each call the names of its columns. */
  val ofCalls: Seq[Seq[String]] = slotsOf.map(_.flatMap(names))
}
