package io.firesteel.changelog.state

/**
 * The watermark that reaches an operator, on the driver: one object for all micro-batches of a
 * running query.
 *
 * Spark sets the watermark in its own operators. For other operators it asks, before it plans a
 * micro-batch, how they change the watermark that reaches them, and it asks the operator of the
 * previous micro-batch. This object carries the answer to the next one.
 *
 * @param after how long after its time a group closes, in microseconds
 */
final private[changelog] class Watermark(val after: Long = 0L) extends Serializable {

  /** Milliseconds; 0 until there is a watermark. */
  @volatile var ms: Long = 0L

  override def toString: String = "watermark"
}
