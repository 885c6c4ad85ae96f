package io.firesteel.changelog.statements

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, CreateNamedStruct, EqualTo, Expression, Literal, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.FILTER
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.firesteel.planOf
import org.apache.spark.sql.types.{IntegerType, StructType}

/**
 * Reads the rows of one statement only. A target asks for those of its number among the rows of a
 * set's micro-batch; this gives it the statement's own rows, which are in no struct. What the
 * optimizer makes of the columns here is the rows themselves.
 */
final private[changelog] class ReadStatement(session: SparkSession)
  extends Rule[LogicalPlan]
  with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformWithPruning(_.containsPattern(FILTER)) {
      case filter @ Filter(condition, rows @ StatementSetRDD(statements)) =>
        asked(condition, rows.output.head).filter(statements.indices.contains)
          .fold[LogicalPlan](filter)(i => filter.copy(child = only(rows, i, statements(i))))
    }

  private def asked(condition: Expression, number: Attribute): Option[Int] =
    splitConjunctivePredicates(condition).collectFirst {
      case EqualTo(its: Attribute, Literal(i: Int, IntegerType)) if its.semanticEquals(number) => i
      case EqualTo(Literal(i: Int, IntegerType), its: Attribute) if its.semanticEquals(number) => i
    }

  private def only(rows: LogicalRDD, statement: Int, its: RDD[InternalRow]): LogicalPlan = {
    val (number, structs) = (rows.output.head, rows.output.tail)
    val columns = structs(statement).dataType match {
      case struct: StructType => DataTypeUtils.toAttributes(struct)
      case other => throw new IllegalStateException(s"the rows of a statement are of $other")
    }
    val values = Literal(statement) +: structs.indices.map { i =>
      if (i != statement) Literal(null, structs(i).dataType)
      else CreateNamedStruct(columns.flatMap(c => Seq(Literal(c.name), c)))
    }
    val named = (number +: structs).zip(values).map { case (column, value) =>
      Alias(value, column.name)(column.exprId, column.qualifier, Some(column.metadata))
    }
    Project(named, planOf(session, columns, its))
  }
}
