package io.firesteel.skew

import io.firesteel.core.decide.Decline
import org.apache.spark.sql.catalyst.catalog.HiveTableRelation
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, ExpressionSet, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, FileTable}
import org.apache.spark.sql.firesteel.isProjectionSensitiveRead
import org.apache.spark.sql.internal.SQLConf

/** Reasons of the input's source not to read it once for all branches. */
private[skew] object MergeSource {

  /** @param branches all over the same source */
  def objection(branches: Seq[GlobalBranch]): Option[Decline] =
    unlessSamePartitions(branches).orElse(ofReading(branches)).orElse(unlessCheapColumns(branches))

  /** Conditions on partition columns must be the same in all branches. */
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
      // A range on a bucket column prunes nothing.
      relation.table.partitioning.toSeq
        .filterNot(_.name == "bucket")
        .flatMap(_.references)
        .map(_.fieldNames.head)
    case _ => Nil
  }

  /**
   * A branch with a filter of its own may skip parts of the source. The merged aggregate reads
   * every column that any branch reads, in every part that any branch reads, long texts included. A
   * branch without a filter reads its columns of all rows in any case. If it has no column, as
   * `count(*)`, a file's own count may answer it.
   */
  private def unlessCheapColumns(branches: Seq[GlobalBranch]): Option[Decline] =
    if (branches.map(_.filter).distinct.size == 1) None
    else if (isStored(branches.head.input) && branches.count(_.columnsRead.nonEmpty) == 1) {
      val read = branches.flatMap(_.columnsRead)
      Some(MergeDecline.OtherColumns(read.map(_.name).mkString(", ")))
    } else {
      val readAnyway = AttributeSet.fromAttributeSets(
        branches.filter(_.conditions.isEmpty).map(_.columnsRead))
      // A column that a filter compares is read for most rows in any case.
      val arguments = branches.map(branch =>
        branch.columnsRead -- AttributeSet(branch.conditions))
      val (shared, alone) = AttributeSet.fromAttributeSets(arguments).toSeq
        .filterNot(readAnyway.contains).partition(c => branches.forall(_.columnsRead.contains(c)))
      val long = alone.filterNot(column => UnsafeRow.isFixedLength(column.dataType))
      // Where the values are many, the rows that another branch skips cost more than one pass saves.
      def width(columns: Seq[Attribute]) = columns.map(_.dataType.defaultSize).sum
      val read = width(branches.flatMap(_.conditions.flatMap(_.references)).distinct ++ shared)
      val dear = if (width(alone) > mostAlone * read.max(8)) alone else long
      Option.when(dear.nonEmpty)(MergeDecline.OtherColumns(dear.map(_.name).mkString(", ")))
    }

  private def isStored(input: LogicalPlan): Boolean = input match {
    case _: LogicalRelation | _: HiveTableRelation | _: DataSourceV2Relation => true
    case _ => false
  }

  /** Bytes of values that one branch reads, for each byte that all branches read of a row. */
  private val mostAlone = 8

  private def conf: SQLConf = SQLConf.get

  private def ofReading(branches: Seq[GlobalBranch]): Option[Decline] = branches.head.input match {
    case relation: LogicalRelation if isProjectionSensitiveRead(relation.relation) =>
      unlessSameColumns(branches, relation.relation.getClass.getSimpleName)
    case relation: DataSourceV2Relation =>
      relation.table match {
        case files: FileTable if !columnar(files.formatName) =>
          unlessSameColumns(branches, files.formatName)
        case _ => AggregatingSource.of(relation).map(MergeDecline.SourceAggregates(_))
      }
    case _ => None
  }

  /** Whether a malformed line counts depends on which of its columns are parsed. */
  private def unlessSameColumns(branches: Seq[GlobalBranch], format: String): Option[Decline] = {
    val columns = branches.map(branch => namesOf(branch.columnsRead))
    if (columns.distinct.size > 1) Some(MergeDecline.ColumnsMatter(format)) else None
  }

  private def namesOf(columns: AttributeSet): Set[String] = columns.map(_.name).toSet

  private def columnar(format: String): Boolean =
    Seq("parquet", "orc").exists(_.equalsIgnoreCase(format))
}
