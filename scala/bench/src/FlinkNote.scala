package io.firesteel.bench

/** The page's note about how Flink ran. */
object FlinkNote {

  /** From Flink's plan: the operators and the kinds of changes that each emits. */
  def physical(explained: String): String =
    explained.split("(?m)^== ").find(_.startsWith("Optimized Physical Plan")) match {
      case Some(section) => section.linesIterator.drop(1).mkString("\n").trim
      case None => explained.trim
    }

  val text: String = {
    val settings = FlinkJobs.settings.toSeq.sorted.map { case (key, value) => s"`$key` $value" }
    s"""## How both were run
       |
       |Flink's cluster is up before the clock starts; its time is from SQL text to the end that its job
       |manager has noted, planning and submission included, in the sink `blackhole`. Settings:
       |${settings.mkString(", ")}. There are no checkpoints, so that nothing of its state is ever
       |written out; *${StreamingContestant.flinkCheckpoints}* writes it every second.
       |
       |firesteel reads ${StreamingBenchmark.filesPerBatch} files in each micro-batch and commits its state in each, by
       |Spark's default provider, or RocksDB's with changelog checkpointing; checkpoints are written by
       |`LocalCheckpointFileManager`, `spark.sql.shuffle.partitions` is
       |${StreamingSettings.partitions}, the sink `noop`, the trigger `AvailableNow`. Its time is from SQL text to the end of the
       |query, planning and a new checkpoint folder included. Every row of both was timed after two runs of
       |each.""".stripMargin
  }
}
