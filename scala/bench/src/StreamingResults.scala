package io.firesteel.bench

/**
 * Everything that one call found out about streaming queries.
 *
 * @param manyKeys none when it was not run, and in it none when its JVM ended before it had an answer
 */
final case class StreamingResults(
    environment: Environment,
    format: String,
    cases: Seq[StreamingResult],
    smallBatches: Seq[SmallBatchesOutcome],
    manyKeys: Option[Option[ManyKeysOutcome]]) {

  /** Of the page and what belongs to it: a page for each format. */
  def name: String =
    if (format == StreamedFiles.formats.head) StreamingMain.suite
    else s"${StreamingMain.suite}-$format"
}
