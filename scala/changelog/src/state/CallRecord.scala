package io.firesteel.changelog.state

/**
 * One aggregate call of the query, in the record of its operator.
 *
 * @param text the call's canonical text
 * @param columns the columns of the store's value with the call's state; calls may share columns.
 *   Empty if the record was written by a version that did not name them.
 */
final private[changelog] case class CallRecord(text: String, columns: Seq[String] = Nil)

/**
 * The calls of the operator that wrote the checkpoint, on the driver: one object for all
 * micro-batches of a running query, as [[Watermark]]. An operator finds the columns of its own
 * calls by it, so that the query may list them in another order than before.
 */
final private[changelog] class KeptCalls extends Serializable {

  /** Empty if the checkpoint is new or does not name the columns. */
  @volatile var recorded: Seq[CallRecord] = Nil

  /** All columns of the store's value, in their order. Empty if the checkpoint is new. */
  @volatile var columns: Seq[String] = Nil

  /** All columns of the store's key, in their order. Empty if the checkpoint is new. */
  @volatile var keys: Seq[String] = Nil

  /** The numbers of the operators that share the store with it; none before the first micro-batch. */
  @volatile var guests: Option[Seq[Int]] = None

  /**
   * For each call its recorded columns. None if a call is not among the recorded ones, or one of
   * these not among the calls: then the columns are those of a new checkpoint.
   */
  def columnsOf(calls: Seq[String]): Option[Seq[Seq[String]]] = {
    // A call that is listed twice has two entries.
    def numbered(texts: Seq[String]): Seq[(String, Int)] =
      texts.zipWithIndex.map { case (text, i) => (text, texts.take(i).count(_ == text)) }
    val known = numbered(recorded.map(_.text)).zip(recorded.map(_.columns)).toMap
    val found = numbered(calls).flatMap(known.get)
    Option.when(found.size == calls.size && found.size == known.size && found.forall(_.nonEmpty))(
      found)
  }

  override def toString: String = "kept calls"
}
