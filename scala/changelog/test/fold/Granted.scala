package io.firesteel.changelog.fold

import io.firesteel.core.rows.MemoryBudget

/** A budget of so many bytes. */
final private[changelog] class Granted(bytes: Long) extends MemoryBudget {
  var asked = 0L
  override def hold(total: Long): Boolean = {
    asked = math.max(asked, total)
    total <= bytes
  }
  override def releaseTo(total: Long): Unit = ()
  override def peak: Long = asked
}

private[changelog] object Granted {

  /** As many entries at once, of any size. */
  def entries(most: Int): FoldLimits = FoldLimits(most, new Granted(Long.MaxValue))
}
