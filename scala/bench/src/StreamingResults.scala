package io.firesteel.bench

/**
 * The results of one call for streaming queries.
 *
 * @param manyKeys none if it did not run; inside, none if its JVM ended before it had an answer
 */
final case class StreamingResults(
    environment: Environment,
    format: String,
    cases: Seq[StreamingResult],
    smallBatches: Seq[SmallBatchesOutcome],
    manyKeys: Option[Option[ManyKeysOutcome]]) {

  /** The name of the page and its files: one page for each format. */
  def name: String =
    if (format == StreamedFiles.formats.head) StreamingMain.suite
    else s"${StreamingMain.suite}-$format"
}
