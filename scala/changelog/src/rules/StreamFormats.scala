package io.firesteel.changelog.rules

import io.firesteel.changelog.plan.SharedChanges
import io.firesteel.changelog.plan.share.SharedView

import java.util.Locale

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.firesteel.streaming.StreamingRelation

/** Formats of streaming sources. */
private[rules] object StreamFormats {

  private val columnar = Set("parquet", "orc", "delta", "iceberg")

  /** Whether a source is read by columns, so that a reader pays for its own alone. */
  def isColumnar(source: LogicalPlan): Boolean = source match {
    case its: StreamingRelation => columnar(its.dataSource.className.toLowerCase(Locale.ROOT))
    case its: StreamingRelationV2 => columnar(its.sourceName.toLowerCase(Locale.ROOT))
    case _: SharedView | _: SharedChanges => true
    case _ => false
  }
}
