package io.firesteel.changelog.state

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair

/**
 * Takes entries out of a store of several operators at the end of a micro-batch. Neither provider
 * finds the entries of one operator without reading those of all, so the store is read once for all.
 */
final private[state] class SharedSweep(store: KeyedStore) {
  import SharedSweep._

  private[this] val sweeps = ArrayBuffer.empty[Sweep]

  /** @param unwanted whether an entry of the member, as the store has it, is to be removed */
  def add(member: Int)(unwanted: UnsafeRowPair => Boolean)(removed: Long => Unit): Unit =
    sweeps += new Sweep(member, unwanted, removed)

  /** Called once, before the store is committed. */
  def run(): Unit = if (sweeps.nonEmpty) {
    val of = sweeps.groupBy(_.member)
    val _ = store.removeWhere { entry =>
      of.get(entry.key.getInt(0)).exists(_.exists(_.takes(entry)))
    }
    sweeps.foreach(_.tell())
  }
}

private[state] object SharedSweep {

  final private class Sweep(
      val member: Int,
      unwanted: UnsafeRowPair => Boolean,
      removed: Long => Unit) {
    private[this] var count = 0L

    def takes(entry: UnsafeRowPair): Boolean = {
      val its = unwanted(entry)
      if (its) count += 1
      its
    }

    def tell(): Unit = removed(count)
  }
}
