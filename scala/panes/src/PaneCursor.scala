package io.firesteel.panes

import org.apache.spark.sql.catalyst.InternalRow

/** The panes of one key in the order of time, read from the first to the last. */
private[panes] trait PaneCursor {

  /** Whether there is a pane to be read. */
  def hasPane: Boolean

  /** The number of that pane; those that follow have the same or larger ones. */
  def pane: Long

  /** The state of its rows, valid until `advance`. */
  def state: InternalRow

  /** Goes on to the next pane. */
  def advance(): Unit
}
