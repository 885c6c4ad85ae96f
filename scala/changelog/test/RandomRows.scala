package io.firesteel.changelog

import io.firesteel.changelog.state.RowsOperator.Change

import scala.collection.mutable
import scala.util.Random

/**
 * Micro-batches of rows that come, go and are replaced, and the table that they make. The same for
 * the same seed.
 *
 * @param row a row that comes
 * @param gone how many of ten changes take a row back
 */
final class RandomRows(random: Random, row: Random => Seq[Any], gone: Int) {

  /** The rows that are there. */
  val live: mutable.ArrayBuffer[Seq[Any]] = mutable.ArrayBuffer.empty

  /** Some changes, in an order in which no row goes before it came. */
  def batch(size: Int): Seq[Change] = Seq.fill(size)(change()).flatten

  /** The same, in any order. */
  def shuffled(size: Int): Seq[Change] = random.shuffle(batch(size))

  private def change(): Seq[Change] =
    if (live.nonEmpty && random.nextInt(10) < gone) {
      val old = live.remove(random.nextInt(live.size))
      if (random.nextInt(3) > 0) Seq(old -> "-D")
      else {
        live += row(random)
        Seq(old -> "-U", live.last -> "+U")
      }
    } else {
      live += row(random)
      Seq(live.last -> "+I")
    }
}
