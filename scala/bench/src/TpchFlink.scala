package io.firesteel.bench

/** Queries of TPC-H as jobs of Flink over the same files. */
final class TpchFlink(files: TpchFiles) {

  /** The changes of the result go to a sink that drops them. */
  def timed(query: String): FlinkJob = job(
    s"CREATE TABLE answers WITH ('connector' = 'blackhole') AS ${TpchFlink.sql(query)}")

  /** The number of rows of the result in the end, and a zero in place of a digest. */
  def rows(query: String): FlinkJob =
    job(s"SELECT COUNT(*), CAST(0 AS BIGINT) FROM (${TpchFlink.sql(query)}) AS answers")

  private def job(sql: String): FlinkJob =
    FlinkJob(FlinkJobs.settings, TpchTables.schemas.keys.toSeq.sorted.map(source), sql)

  private def source(table: String): String =
    s"CREATE TEMPORARY TABLE $table (${TpchTables.schemas(table)}) WITH ('connector' = " +
      s"'filesystem', 'path' = '${files.folder(table).toUri}', 'format' = 'parquet')"
}

object TpchFlink {

  /** `value` is a word of Flink's grammar. */
  private def sql(query: String): String =
    TpchFiles.unordered(TpchTables.sql(query)).replaceAll("(?i)\\bvalue\\b", "`value`")
}
