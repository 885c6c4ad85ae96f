package io.firesteel.json.files

import io.firesteel.core.decide.{Decisions, Decline, Fired}
import io.firesteel.json.{JsonConf, JsonCounts}

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.{FileSourceStrategy, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.json.JsonFileFormat

/**
 * Plans scans of JSON files as Spark does, and lets them read lines by this room's readers.
 *
 * The scan stays Spark's own operator; only its format is another. So partitions, pushed filters,
 * metadata columns, and the rows that a stream counts are Spark's.
 */
object ReadJsonFiles extends SparkStrategy {

  private val Name = "ReadJsonFiles"

  override def apply(plan: LogicalPlan): Seq[SparkPlan] =
    if (!isScan(plan)) Nil
    else {
      lazy val planned = FileSourceStrategy(plan)
      val why = Decline.switchedOff("json", JsonConf.ENABLED).orElse(
        planned.flatMap(_.collect { case scan: FileSourceScanExec => scan }).flatMap(
          FileObjections.of).headOption)
      why match {
        case Some(decline) =>
          Decisions.decline(plan, Name, decline)
          Nil
        case None => planned.map(read(plan, _))
      }
    }

  @tailrec
  private def isScan(plan: LogicalPlan): Boolean = plan match {
    case project: Project => isScan(project.child)
    case filter: Filter => isScan(filter.child)
    case relation: LogicalRelation =>
      relation.relation match {
        case files: HadoopFsRelation => files.fileFormat.getClass == classOf[JsonFileFormat]
        case _ => false
      }
    case _ => false
  }

  private def read(plan: LogicalPlan, planned: SparkPlan): SparkPlan = planned.transform {
    case scan: FileSourceScanExec =>
      val context = scan.session.sparkContext
      val counts =
        JsonCounts.of(new JsonCounts.Shown(context), scan.requiredSchema.length, context)
      val columns = scan.requiredSchema.map(its => s"${its.name} ${its.dataType.sql}")
      Decisions.fire(Seq(plan), Name)(Fired(
        Name,
        "lines are read once, straight into binary rows",
        Map("columns" -> columns.mkString(", ")) ++ counts.text(columns).map("read by Spark" -> _)
      ))
      val format = new PlainJsonFormat(scan.relation.fileFormat, counts)
      scan.copy(relation =
        scan.relation.copy(fileFormat = format)(scan.relation.sparkSession))
  }
}
