package io.firesteel.panes

import org.apache.spark.sql.catalyst.InternalRow

/** Reads the panes of one key in the order of time. */
private[panes] trait PaneCursor {

  /** Whether there is a current pane. */
  def hasPane: Boolean

  /** The number of the current pane. Later panes have the same or a larger number. */
  def pane: Long

  /** The state of its rows, valid until `advance`. */
  def state: InternalRow

  /** Moves to the next pane. */
  def advance(): Unit
}
