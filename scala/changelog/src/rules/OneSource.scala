package io.firesteel.changelog.rules

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, ExprId}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.firesteel.streaming.StreamingRelation

/**
 * Lets queries that read one stream read the same source, with the same ids of its columns: Spark
 * then asks it once for the rows of a micro-batch.
 */
private[rules] object OneSource {

  def apply(queries: Seq[LogicalPlan]): Seq[LogicalPlan] = {
    val first = mutable.HashMap.empty[LogicalPlan, Seq[Attribute]]
    queries.map { query =>
      val ids = mutable.HashMap.empty[ExprId, ExprId]
      val sources = query.collectLeaves().filter {
        case _: StreamingRelation | _: StreamingRelationV2 => true
        case _ => false
      }
      // A query that reads a stream twice keeps the ids of the second reading.
      sources.distinctBy(_.canonicalized).foreach { source =>
        val columns = first.getOrElseUpdate(source.canonicalized, source.output)
        // The query may have both, as sides of a join.
        if (!sources.exists(its =>
            (its ne source) && its.outputSet.intersect(AttributeSet(columns)).nonEmpty))
          ids ++= source.output.map(_.exprId).zip(columns.map(_.exprId)).filter(p => p._1 != p._2)
      }
      if (ids.isEmpty) query
      else query.transformUpWithSubqueries { case plan =>
        plan.transformExpressionsUp {
          case column: Attribute if ids.contains(column.exprId) =>
            column.withExprId(ids(column.exprId))
        }
      }
    }
  }
}
