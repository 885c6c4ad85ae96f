package io.firesteel.changelog.windows

/**
 * The windows that a row belongs to (Flink: window table-valued functions). All times are in
 * microseconds; windows begin at `offset` after the epoch.
 */
sealed private[changelog] trait WindowAssigner

private[changelog] object WindowAssigner {

  /** Windows of one size, each beginning where the last one ends. */
  final case class Tumble(size: Long, offset: Long) extends WindowAssigner

  /** Windows of one size that begin at every `slide`; `size` is a multiple of it. */
  final case class Hop(slide: Long, size: Long, offset: Long) extends WindowAssigner

  /** Windows with a common beginning that end at every `step`, up to `size`, a multiple of it. */
  final case class Cumulate(step: Long, size: Long, offset: Long) extends WindowAssigner

  /** Windows that end when no row came for `gap`; of rows with equal keys of the partition. */
  final case class Session(gap: Long) extends WindowAssigner
}
