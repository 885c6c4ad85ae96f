package io.firesteel.sinks.apply

import io.firesteel.core.changes.EmittedRows

import scala.annotation.tailrec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.{Attribute, EqualTo, Expression, GetStructField, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias, View}
import org.apache.spark.sql.execution.{LogicalRDD, SQLExecutionRDD}
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.types.StructType

/**
 * How a DataFrame was made from the micro-batch that `foreachBatch` passed, or from that of one
 * statement of a set.
 */
private[apply] object MicroBatch {

  /**
   * Whether these are the rows of a changelog's operators, in their order and with their names, so
   * that the metadata of their columns holds. Columns keep metadata in files, and after a sort.
   */
  def isAsGiven(data: DataFrame): Boolean =
    asGiven(executionOf(data).analyzed).exists(batch => EmittedRows.isOfState(batch.rows))

  @tailrec
  private def asGiven(plan: LogicalPlan): Option[Given] = plan match {
    case Given(batch) => Some(batch)
    case Project(columns, child) if columns.forall(_.isInstanceOf[Attribute]) => asGiven(child)
    case SubqueryAlias(_, child) => asGiven(child)
    case _ => None
  }

  /**
   * The original name of each column that comes unchanged from the changelog's operators. None if
   * the rows may be others than theirs. A filter between is allowed.
   */
  def namesGiven(data: DataFrame): Seq[Option[String]] = {
    val plan = executionOf(data).analyzed
    val batch =
      someOfGiven(plan).filter(its => EmittedRows.isOfState(its.rows)).toSeq.flatMap(_.output)
    plan.output.map(column => batch.find(_.exprId == column.exprId).map(_.name))
  }

  @tailrec
  private def someOfGiven(plan: LogicalPlan): Option[Given] = plan match {
    case Given(batch) => Some(batch)
    case same @ (_: Project | _: Filter | _: SubqueryAlias | _: View) =>
      someOfGiven(same.children.head)
    case _ => None
  }

  /** The rows that a function was given, whose columns have their original names. */
  final private case class Given(output: Seq[Attribute], rows: RDD[_])

  private object Given {
    def unapply(plan: LogicalPlan): Option[Given] = plan match {
      case rows: LogicalRDD => Some(Given(rows.output, rows.rdd))
      case Project(columns, Filter(condition, OfSet(set, statements))) =>
        statements.indices.find { i =>
          val struct = set.output(i + 1)
          isNumber(condition, set.output.head, i) && areFields(columns, struct)
        }.map(i => Given(columns.map(_.toAttribute), statements(i)))
      case _ => None
    }

    private def isNumber(condition: Expression, column: Attribute, number: Int): Boolean =
      condition match {
        case EqualTo(its: Attribute, Literal(value, _)) =>
          its.exprId == column.exprId && value == number
        case _ => false
      }

    private def areFields(columns: Seq[NamedExpression], struct: Attribute): Boolean = {
      val names = struct.dataType match {
        case its: StructType => its.fieldNames.toSeq
        case _ => Nil
      }
      columns.map(_.name) == names && columns.zipWithIndex.forall { case (column, i) =>
        column.children.headOption.exists(isField(_, struct, i))
      }
    }

    private def isField(value: Expression, struct: Attribute, place: Int): Boolean = value match {
      case field: GetStructField =>
        field.ordinal == place && field.child.semanticEquals(struct)
      case _ => false
    }
  }

  /** The rows of a statement set: the number of a row's statement, and a struct for each. */
  private object OfSet {
    def unapply(rows: LogicalRDD): Option[(LogicalRDD, Seq[RDD[_]])] = rows.rdd match {
      case passed: SQLExecutionRDD => passed.sqlRDD match {
          case set: EmittedRows.Statements => Some(rows -> set.statements)
          case _ => None
        }
      case _ => None
    }
  }
}
