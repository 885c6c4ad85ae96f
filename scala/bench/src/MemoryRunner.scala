package io.firesteel.bench

import io.firesteel.core.decide.Explain
import io.firesteel.core.plans.PlanMetrics
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.firesteel.executionOf

/** Runs the queries of a memory case, in the heap of this JVM. */
final class MemoryRunner(spark: SparkSession, data: DataFolder, progress: Progress) {

  def run(memory: MemoryCase): Seq[MemoryOutcome] = {
    val heapMiB = Runtime.getRuntime.maxMemory / (1 << 20)
    if (heapMiB > memory.heapMiB) {
      sys.error(s"this JVM has a heap of $heapMiB MiB; the case is about ${memory.heapMiB} MiB")
    }
    data.register(spark, memory.table)
    memory.questions.map(outcome)
  }

  private def outcome(known: Known): MemoryOutcome = {
    val ours = Contestant(
      Contestant.firesteel,
      known.sql,
      Map("spark.firesteel.enabled" -> "true"))
    val theirs = Contestant(Contestant.stock, known.sql, Map("spark.firesteel.enabled" -> "false"))
    val (firesteelSeconds, spilled, fired) = answer(known, ours)
    val (stockSeconds, _, _) = answer(known, theirs)
    MemoryOutcome(
      known.title,
      firesteelSeconds,
      stockSeconds,
      known.expected.head,
      spilled,
      fired)
  }

  private def answer(known: Known, contestant: Contestant): (Double, Long, Seq[String]) =
    progress.step(s"${known.title} with ${contestant.name}") {
      contestant.query(spark) { query =>
        val from = System.nanoTime()
        val row = query.collect().head
        val seconds = (System.nanoTime() - from) / 1e9
        val found = row.toSeq.collect { case number: Long => number }
        if (found != known.expected) {
          throw new WrongAnswer(
            s"${known.title}: ${contestant.name} answers ${row.mkString(", ")}, " +
              s"arithmetic ${known.expected.mkString(", ")}")
        }
        val plan = executionOf(query).executedPlan
        (seconds, PlanMetrics.of(plan).spilledBytes, Explain.of(plan).fired.map(_.rule))
      }
    }
}
