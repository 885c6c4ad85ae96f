package io.firesteel.changelog.common

/**
 * The times at which windows end: `offset` and any number of `step`s, in microseconds. Between two
 * of them a watermark closes nothing.
 */
final private[changelog] case class WindowEnds(step: Long, offset: Long) {

  /** Whether a window ends after the first time, and not after the second one. */
  def areBetween(from: Long, to: Long): Boolean = last(to) > last(from)

  private def last(time: Long): Long = Math.floorDiv(time - offset, step)
}
