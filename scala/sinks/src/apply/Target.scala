package io.firesteel.sinks.apply

import com.github.benmanes.caffeine.cache.{Cache, Caffeine}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.firesteel.executionOf

/** A table to which changes are applied. */
private[sinks] trait Target {

  /** Identifies the target. */
  protected def place: String

  /** Applies a micro-batch, or skips it if the target has it. */
  final def write(changes: ChangeSet, by: AppliedBy): Unit = {
    val known = progress()
    // Options may choose the table, as a schema of the connection does.
    val where = s"$place ${known.target}"
    if (known.has(by)) {
      if (!Target.areTheSame(where, by, changes)) {
        throw ApplyErrors.twice(known.target, by.query, by.batch)
      }
      consume(changes)
    } else {
      apply(changes, by)
      val _ = Target.areTheSame(where, by, changes)
    }
  }

  protected def progress(): Progress

  protected def apply(changes: ChangeSet, by: AppliedBy): Unit

  /**
   * Reads all rows without applying them. Stateful operators commit their state when their rows
   * were read to the end, and a repeated micro-batch must commit its state, too.
   */
  private def consume(changes: ChangeSet): Unit =
    changes.rows.write.format("noop").mode("overwrite").save()
}

private[sinks] object Target {

  /**
   * The rows that were made of a run's current micro-batch for a target.
   *
   * @param read ids of the RDDs that are read
   */
  final private case class Made(batch: Long, rows: LogicalPlan, read: Seq[Int])

  private val last: Cache[(String, String, String), Made] =
    Caffeine.newBuilder().maximumSize(1000).build()

  /**
   * Whether this run has applied rows with the same plan to the target in this micro-batch, or none
   * yet. The same rows may come again: a function may retry.
   */
  private def areTheSame(place: String, by: AppliedBy, changes: ChangeSet): Boolean = {
    val plan = executionOf(changes.rows).analyzed
    val read = plan.collect { case rows: LogicalRDD => rows.rdd.id }
    // Over Connect the run is unknown. Each try of a micro-batch has rows of its own.
    by.run.orElse(Option.when(read.nonEmpty)(read.mkString("rows ", " ", ""))).forall { run =>
      val rows = plan.transform { case rows: LogicalRDD =>
        LocalRelation(rows.output)
      }.canonicalized
      val made = last.asMap.compute(
        (place, by.query, run),
        (_, known) =>
          if (known == null || known.batch != by.batch) Made(by.batch, rows, read) else known)
      made.rows == rows && made.read == read
    }
  }
}
