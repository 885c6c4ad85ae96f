package io.firesteel.changelog.state

/**
 * The watermark that reaches an operator, on the driver: one for all micro-batches of a running query.
 *
 * Spark tells its own operators what the watermark is. Of others it asks, before a micro-batch is
 * planned, what they make of the one that reaches them; and it asks the operator of the micro-batch
 * before. What is said there has to be remembered for the next.
 *
 * @param after how long after the time of a group it must be for the group to be closed, in microseconds
 */
final private[changelog] class Watermark(val after: Long = 0L) extends Serializable {

  /** In milliseconds; 0 until there is one. */
  @volatile var ms: Long = 0L

  override def toString: String = "watermark"
}
