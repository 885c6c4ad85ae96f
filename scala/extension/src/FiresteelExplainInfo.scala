package io.firesteel

import io.firesteel.core.decide.Explain
import org.apache.spark.sql.ExtendedExplainGenerator
import org.apache.spark.sql.execution.SparkPlan

/**
 * Adds the rules that fired and declined to `EXPLAIN EXTENDED`, `EXPLAIN FORMATTED` and the plan in
 * Spark's UI: `spark.sql.extendedExplainProviders=io.firesteel.FiresteelExplainInfo`. Other
 * providers, such as DataFusion Comet's, stand beside it.
 *
 * Source: Spark's `ExtendedExplainGenerator`.
 */
class FiresteelExplainInfo extends ExtendedExplainGenerator {

  override def title: String = "firesteel"

  /** One line for each rule, with the values that decided. */
  override def generateExtendedInfo(plan: SparkPlan): String = {
    val explained = Explain.of(plan)
    val fired =
      explained.fired.map(f => s"${f.rule} fired: ${f.message}${values(f.values)}")
    val declined = explained.declined.map { d =>
      s"${d.rule} declined, ${d.why.code}: ${d.why.message}${values(d.why.values)}"
    }
    (fired ++ declined).mkString("\n")
  }

  private def values(all: Map[String, String]): String =
    if (all.isEmpty) "" else all.map { case (name, is) => s"$name = $is" }.mkString(" (", ", ", ")")
}
