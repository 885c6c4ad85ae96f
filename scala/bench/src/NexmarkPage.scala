package io.firesteel.bench

/** The page of Nexmark. */
object NexmarkPage {

  private val (mean, least) = (2.0, 1.0)

  def of(results: SuiteResults): String = {
    val (stateful, stateless) =
      results.results.partition(its => NexmarkQueries.of(its.query).isStateful)
    SuitePage.of(
      Seq(
        heading(results),
        SuitePage.targets(stateful, mean, least, of = ", stateful queries,"),
        "## Queries with state\n\n" + SuitePage.times(stateful),
        "## Queries without state\n\n" + SuitePage.times(stateless)),
      results
    )
  }

  private def heading(results: SuiteResults): String =
    s"""# Measured: Nexmark beside Apache Flink
       |
       |Written by ${SuitePage.command(results)}; do not edit. The queries of Nexmark over ${results.size}.""".stripMargin
}
