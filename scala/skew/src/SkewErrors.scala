package io.firesteel.skew

import io.firesteel.core.errors.FiresteelAnalysisException

/** Errors of the room. */
private[skew] object SkewErrors {

  def malformedHint(name: String, parameters: Seq[String]): Throwable =
    new FiresteelAnalysisException(
      "FIRESTEEL_SKEW_MALFORMED_HINT",
      Map("written" -> s"$name${parameters.mkString("(", ", ", ")")}"))

  def nothingToHint(name: String): Throwable =
    new FiresteelAnalysisException("FIRESTEEL_SKEW_NOTHING_TO_HINT", Map("hint" -> name))
}
