package org.apache.spark.sql.firesteel

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.connector.catalog.SupportsRead
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.execution.datasources.v2.{StreamingDataSourceV2Relation, StreamingDataSourceV2ScanRelation}
import org.apache.spark.sql.firesteel.streaming.{SerializedOffset, StreamingRelation}

/** Reads a stream from its start, as one micro-batch. */
object WholeStream {

  /** Whether a stream of this name can be read again. */
  def isRepeatable(relation: LogicalPlan): Boolean = relation match {
    case old: StreamingRelation => !lost(old.sourceName) && !beginsAnew(old)
    case its: StreamingRelationV2 => !lost(its.sourceName)
    case _ => false
  }

  /** Delta takes the latest version at each start, and its checkpoint does not say which it was. */
  private def beginsAnew(relation: StreamingRelation) =
    Set("delta", "deltasharing")(relation.sourceName.toLowerCase(Locale.ROOT)) &&
      relation.dataSource.options.exists { case (name, value) =>
        name.equalsIgnoreCase("startingVersion") && value.equalsIgnoreCase("latest")
      }

  private def lost(source: String) =
    Set("memory", "socket", "textsocket")(source.toLowerCase(Locale.ROOT))

  /**
   * The rows of a stream from its start up to an offset.
   *
   * @param metadata the folder of the source in the checkpoint
   * @param end the offset as the checkpoint's log has it
   */
  def upTo(relation: LogicalPlan, metadata: String, end: String): LogicalPlan = relation match {
    case old: StreamingRelation =>
      val rows = old.dataSource.createSource(metadata).getBatch(None, SerializedOffset(end))
      val read = executionOf(rows).logical
      // Columns about files, where the query asks for them.
      val plan =
        if (read.output.size >= relation.output.size) read
        else read.transform { case files: LogicalRelation => files.withMetadataColumns() }
      Project(
        relation.output.zip(plan.output).map { case (to, from) =>
          Alias(from, to.name)(exprId = to.exprId, explicitMetadata = Some(from.metadata))
        },
        plan)
    case its: StreamingRelationV2 =>
      val table = its.table.asInstanceOf[SupportsRead]
      val scan = table.newScanBuilder(its.extraOptions).build()
      val stream = scan.toMicroBatchStream(metadata)
      val read = StreamingDataSourceV2Relation(
        its.table,
        its.output,
        its.catalog,
        its.identifier,
        its.extraOptions,
        metadata)
      StreamingDataSourceV2ScanRelation(
        read,
        scan,
        its.output,
        stream,
        Some(stream.initialOffset()),
        Some(stream.deserializeOffset(end)))
    case other => throw new IllegalArgumentException(other.nodeName)
  }
}
