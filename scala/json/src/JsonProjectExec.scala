package io.firesteel.json

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, ProjectExec, SparkPlan}
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Spark's own projection with metrics of the documents that its scans read. An expression cannot have
 * metrics, so their operator shows them.
 *
 * Rules that copy a `ProjectExec` make Spark's own again, which counts but does not show it.
 */
final private[json] class JsonProjectExec(list: Seq[NamedExpression], input: SparkPlan)
  extends ProjectExec(list, input) {

  @transient override lazy val metrics: Map[String, SQLMetric] =
    super.metrics ++ projectList.flatMap(CountJson.scans).flatMap(_.counts.metrics)

  // Or Spark would take it for the projection that it replaces.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[JsonProjectExec]

  override protected def withNewChildInternal(newChild: SparkPlan): JsonProjectExec =
    new JsonProjectExec(projectList, newChild)
}

/** Lets projections with scans count their documents. */
private[json] object CountJson extends ColumnarRule {

  override def preColumnarTransitions: Rule[SparkPlan] = (plan: SparkPlan) =>
    plan.transformUp {
      case project: ProjectExec
          if !project.isInstanceOf[JsonProjectExec] && project.projectList.exists(
            scans(_).nonEmpty) =>
        val context = project.session.sparkContext
        val shown = new JsonCounts.Shown(context)
        // Spark computes equal expressions once.
        val counts = mutable.HashMap.empty[JsonScan, JsonCounts]
        new JsonProjectExec(
          project.projectList.map(_.transform { case scan: JsonScan =>
            val own = JsonCounts.of(shown, scan.outputs.size, context)
            scan.copy(counts = counts.getOrElseUpdate(scan, own))
          }.asInstanceOf[NamedExpression]),
          project.child
        )
    }

  def scans(column: NamedExpression): Seq[JsonScan] = column.collect { case scan: JsonScan => scan }
}
