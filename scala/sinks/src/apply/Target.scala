package io.firesteel.sinks.apply

import com.github.benmanes.caffeine.cache.{Cache, Caffeine}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.firesteel.executionOf

/** A table that changes are applied to. */
private[sinks] trait Target {

  /** What tells it from others. */
  protected def place: String

  /** Applies a micro-batch, or passes it over when the target has it. */
  final def write(changes: ChangeSet, by: AppliedBy): Unit = {
    val known = progress()
    if (known.has(by)) {
      if (!Target.areTheSame(place, by, changes)) {
        throw ApplyErrors.twice(known.target, by.query, by.batch)
      }
      consume(changes)
    } else {
      apply(changes, by)
      val _ = Target.areTheSame(place, by, changes)
    }
  }

  protected def progress(): Progress

  protected def apply(changes: ChangeSet, by: AppliedBy): Unit

  /**
   * Operators with state keep what a micro-batch has changed when its rows are read to the end, and a
   * repeated one must leave its state behind as any other.
   */
  private def consume(changes: ChangeSet): Unit =
    changes.rows.write.format("noop").mode("overwrite").save()
}

private[sinks] object Target {

  /** What has been made of the micro-batch that a run has come to, to be applied to a target. */
  final private case class Made(batch: Long, rows: LogicalPlan)

  private val last: Cache[(String, String, String), Made] =
    Caffeine.newBuilder().maximumSize(1000).build()

  /**
   * Whether these are made of the micro-batch as those that came to the target before, in this run, if any
   * did. The same may come again: a function may try more than once.
   */
  private def areTheSame(place: String, by: AppliedBy, changes: ChangeSet): Boolean =
    by.run.forall { run =>
      val rows = executionOf(changes.rows).analyzed.transform { case rows: LogicalRDD =>
        LocalRelation(rows.output)
      }.canonicalized
      val made = last.asMap.compute(
        (place, by.query, run),
        (_, known) =>
          if (known == null || known.batch != by.batch) Made(by.batch, rows) else known)
      made.rows == rows
    }
}
