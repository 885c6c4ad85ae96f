package io.firesteel.bench

/** Queries of TPC-H, with Flink's jobs over the same files. */
final class TpchFlink(files: TpchFiles) {

  /** Without columns to compare: they are decimals. */
  def query(name: String): SuiteQuery = {
    val sql = TpchFiles.unordered(TpchTables.sql(name))
    // A word of Flink's grammar.
    val theirs = sql.replaceAll("(?i)\\bvalue\\b", "`value`")
    SuiteQuery(
      name,
      sql,
      answer = Nil,
      mode = "append",
      compared = sql,
      tables = () => files.registerTables(),
      streams = () => files.registerStreams(TpchMain.filesPerBatch),
      timed = job(FlinkJobs.dropped(theirs)),
      sum = Some(job(Checksum.of(Nil, s"($theirs) AS answers")))
    )
  }

  private def job(sql: String): FlinkJob =
    FlinkJob(
      FlinkJobs.settings ++ TpchFlink.settings,
      TpchTables.schemas.keys.toSeq.sorted.map(source),
      sql)

  private def source(table: String): String =
    FlinkJobs.parquet(table, TpchTables.schemas(table), files.folder(table))
}

object TpchFlink {

  /** Without it q2, q8 and q9 begin with a join of part and supplier, which has no condition. */
  val settings: Map[String, String] = Map("table.optimizer.join-reorder-enabled" -> "true")
}
