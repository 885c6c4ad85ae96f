package io.firesteel.changelog.plan.frames

/** What a change can affect, by the frames of an [[io.firesteel.changelog.plan.OverAggregate]]. */
sealed private[changelog] trait OverFrameKind {

  /** What `explain` shows. */
  def text: String
}

private[changelog] object OverFrameKind {

  /**
   * The rows around it.
   *
   * @param back how far frames reach before a row
   * @param ahead how far they reach after it
   */
  final case class Around(back: OverReach, ahead: OverReach) extends OverFrameKind {
    override def text: String = s"before: ${back.text}, after: ${ahead.text}"
  }

  /**
   * It and the rows after it: all frames begin at the partition's start, and the functions go on
   * from their buffers.
   *
   * @param byPeers whether frames end with the last row of an equal order (`RANGE`)
   */
  final case class Running(byPeers: Boolean) extends OverFrameKind {
    override def text: String = if (byPeers) "running, equal rows together" else "running"
  }
}
