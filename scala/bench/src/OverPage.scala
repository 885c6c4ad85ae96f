package io.firesteel.bench

/** The page of sums by `OVER`. */
object OverPage {

  def of(results: SuiteResults): String = SuitePage.of(
    Seq(heading(results), "## Seconds\n\n" + SuitePage.times(results.results)),
    results)

  private def heading(results: SuiteResults): String =
    s"""# Measured: sums by OVER beside Apache Flink
       |
       |Written by ${SuitePage.command(results)}; do not edit. ${results.size}.""".stripMargin
}
