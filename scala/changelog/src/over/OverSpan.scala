package io.firesteel.changelog.over

/**
 * Neighbouring rows with changes among them: the rows whose results may change, and the rows that
 * the frames of these need.
 *
 * @param isAffected for each row whether its results may change
 */
final private[over] class OverSpan(
    val partition: OverPartition,
    val rows: Array[OverEntry],
    val isAffected: Array[Boolean]) {

  /** Whether a row whose results may change was there before, and is there now. */
  val (wasThere, isThere): (Boolean, Boolean) = {
    val affected = rows.indices.filter(isAffected(_))
    (affected.exists(rows(_).before > 0L), affected.exists(rows(_).after > 0L))
  }
}
