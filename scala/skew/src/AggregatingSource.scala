package io.firesteel.skew

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.connector.catalog.SupportsRead
import org.apache.spark.sql.connector.read.SupportsPushDownAggregates
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, FileScanBuilder, FileTable}
import org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCScanBuilder
import org.apache.spark.sql.internal.SQLConf

/** Tables whose source can compute aggregates. Spark pushes the aggregate down to it later. */
private[skew] object AggregatingSource {

  /** The name of the table, if its source can compute aggregates. */
  def of(relation: DataSourceV2Relation): Option[String] = relation.table match {
    case table: SupportsRead =>
      table.newScanBuilder(relation.options) match {
        case _: FileScanBuilder if !filesAggregate => None
        case _: SupportsPushDownAggregates => Some(table.name)
        case _ => None
      }
    case _ => None
  }

  /** The same for the input of an aggregate with `DISTINCT`s. File sources never compute these. */
  def below(plan: LogicalPlan): Option[String] = plan match {
    case project: Project => below(project.child)
    case filter: Filter => below(filter.child)
    case relation: DataSourceV2Relation if !isFiles(relation) => of(relation)
    case _ => None
  }

  /** The same for exact percentiles, which databases alone compute. */
  def ofDatabase(plan: LogicalPlan): Option[String] = plan match {
    case project: Project => ofDatabase(project.child)
    case filter: Filter => ofDatabase(filter.child)
    case relation: DataSourceV2Relation =>
      Some(relation.table).collect { case table: SupportsRead =>
        table.newScanBuilder(relation.options)
      }.collect { case _: JDBCScanBuilder => relation.table.name }
    case _ => None
  }

  private def isFiles(relation: DataSourceV2Relation): Boolean =
    relation.table.isInstanceOf[FileTable]

  private def filesAggregate: Boolean =
    SQLConf.get.parquetAggregatePushDown || SQLConf.get.orcAggregatePushDown
}
