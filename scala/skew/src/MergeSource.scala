package io.firesteel.skew

import io.firesteel.core.Decline
import org.apache.spark.sql.catalyst.catalog.HiveTableRelation
import org.apache.spark.sql.catalyst.expressions.{AttributeSet, ExpressionSet}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.SupportsRead
import org.apache.spark.sql.connector.read.SupportsPushDownAggregates
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, FileScanBuilder, FileTable}
import org.apache.spark.sql.firesteel.isProjectionSensitiveRead
import org.apache.spark.sql.internal.SQLConf

/** What the source of the common input has to say against reading it once for all. */
private[skew] object MergeSource {

  /** @param branches all over the same source */
  def objection(branches: Seq[GlobalBranch]): Option[Decline] =
    unlessSamePartitions(branches).orElse(ofReading(branches))

  /** What prunes partitions for one branch must prune as much for all. */
  private def unlessSamePartitions(branches: Seq[GlobalBranch]): Option[Decline] = {
    val input = branches.head.input
    val names = partitionColumns(input)
    val columns = AttributeSet(input.output.filter(c => names.exists(conf.resolver(_, c.name))))
    def pruning(branch: GlobalBranch) = ExpressionSet(branch.conditions.filter { condition =>
      condition.references.nonEmpty && condition.references.subsetOf(columns)
    })
    if (names.isEmpty || branches.map(pruning).distinct.size == 1) None
    else Some(MergeDecline.OtherPartitions(names.mkString(", ")))
  }

  private def partitionColumns(input: LogicalPlan): Seq[String] = input match {
    case relation: LogicalRelation =>
      relation.relation match {
        case files: HadoopFsRelation => files.partitionSchema.fieldNames.toSeq
        case _ => Nil
      }
    case relation: HiveTableRelation => relation.partitionCols.map(_.name)
    case relation: DataSourceV2Relation =>
      // A range of a column that is only hashed prunes nothing.
      relation.table.partitioning.toSeq
        .filterNot(_.name == "bucket")
        .flatMap(_.references)
        .map(_.fieldNames.head)
    case _ => Nil
  }

  private def conf: SQLConf = SQLConf.get

  private def ofReading(branches: Seq[GlobalBranch]): Option[Decline] = branches.head.input match {
    case relation: LogicalRelation if isProjectionSensitiveRead(relation.relation) =>
      unlessSameColumns(branches, relation.relation.getClass.getSimpleName)
    case relation: DataSourceV2Relation =>
      relation.table match {
        case files: FileTable if !columnar(files.formatName) =>
          unlessSameColumns(branches, files.formatName)
        case table: SupportsRead =>
          table.newScanBuilder(relation.options) match {
            case _: FileScanBuilder if !filesAggregate => None
            case _: SupportsPushDownAggregates => Some(MergeDecline.SourceAggregates(table.name))
            case _ => None
          }
        case _ => None
      }
    case _ => None
  }

  /** A malformed line may be taken or not, depending on which of its columns are parsed. */
  private def unlessSameColumns(branches: Seq[GlobalBranch], format: String): Option[Decline] = {
    val columns = branches.map(branch => namesOf(branch.columnsRead))
    if (columns.distinct.size > 1) Some(MergeDecline.ColumnsMatter(format)) else None
  }

  private def namesOf(columns: AttributeSet): Set[String] = columns.map(_.name).toSet

  private def columnar(format: String): Boolean =
    Seq("parquet", "orc").exists(_.equalsIgnoreCase(format))

  private def filesAggregate: Boolean =
    SQLConf.get.parquetAggregatePushDown || SQLConf.get.orcAggregatePushDown
}
