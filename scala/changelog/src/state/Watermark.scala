package io.firesteel.changelog.state

import io.firesteel.changelog.common.WindowEnds

/**
 * The watermark that reaches an operator, on the driver: one object for all micro-batches of a
 * running query.
 *
 * Spark sets the watermark in its own operators. For other operators it asks, before it plans a
 * micro-batch, how they change the watermark that reaches them, and it asks the operator of the
 * previous micro-batch. This object carries the answer to the next one.
 *
 * @param after how long after its time a group closes, in microseconds
 * @param ends the times of groups that close, if they are those of windows
 */
final private[changelog] class Watermark(
    val after: Long = 0L,
    ends: Option[WindowEnds] = None)
  extends Serializable {

  @volatile private[this] var now = 0L
  @volatile private[this] var before = 0L
  @volatile private[this] var used = 0L
  @volatile private[this] var closed = 0L
  @volatile private[this] var usedIn = -1L

  /** Milliseconds; 0 until there is a watermark. It closes groups after the micro-batch's rows. */
  def ms: Long = now

  /**
   * The watermark of the micro-batch before, by which rows are late. A group that closes at the end
   * of this micro-batch still takes its rows, as in Spark's own operators.
   */
  def lateMs: Long = before

  /**
   * The watermark of the next micro-batch. It never goes back: Spark tells no watermark, which is 0,
   * of a micro-batch whose plan has none, such as one whose filter is false for all rows.
   */
  def advance(toMs: Long): Unit = {
    before = now
    now = math.max(now, toMs)
  }

  /**
   * The watermark up to which the micro-batch before has closed groups; 0 in the first micro-batch
   * of a running query.
   */
  def closedMs: Long = closed

  /** Whether the micro-batch that runs may close what the one before has not. */
  def closes: Boolean = now > closed && mayClose(math.min(closed, before), now)

  /** Whether a micro-batch with this watermark may close what the last one has not. */
  def wouldClose(ms: Long): Boolean = ms > used && mayClose(used, ms)

  private def mayClose(fromMs: Long, toMs: Long): Boolean = fromMs <= 0L ||
    ends.forall(_.areBetween(fromMs * 1000 - after, toMs * 1000 - after))

  /** A micro-batch runs with this watermark; a function may read its rows several times. */
  def use(version: Long): Unit = {
    if (version != usedIn) closed = used
    usedIn = version
    used = now
  }

  override def toString: String = "watermark"
}
