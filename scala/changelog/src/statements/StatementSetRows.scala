package io.firesteel.changelog.statements

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.core.changes.EmittedRows

import org.apache.spark.SparkContext
import org.apache.spark.rdd.{RDD, UnionRDD}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, CreateNamedStruct, Expression, ExpressionSet, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{LogicalRDD, SparkPlan, SQLExecutionRDD}
import org.apache.spark.sql.types.IntegerType
import org.apache.spark.sql.firesteel.{MicroBatch, PartitionRows}

/**
 * The rows of all statements of a set, as [[StatementQueries]] has them: the number of a row's
 * statement, and for each statement a struct of its columns, null in the rows of the others.
 *
 * @param children what each statement writes
 * @param checkpoint of the query; none if it is only explained
 */
final private[changelog] case class StatementSetRows(
    output: Seq[Attribute],
    children: Seq[LogicalPlan],
    checkpoint: Option[String])
  extends LogicalPlan {
  override def maxRows: Option[Long] = None
  override lazy val validConstraints: ExpressionSet = ExpressionSet()
  override def producedAttributes: AttributeSet = outputSet
  // The optimizer would remove columns to which nothing refers.
  override lazy val references: AttributeSet = AttributeSet(children.flatMap(_.output))
  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[LogicalPlan]): StatementSetRows = copy(children = newChildren)
}

private[changelog] object StatementSetRows {
  def apply(children: Seq[LogicalPlan], checkpoint: Option[String]): StatementSetRows = {
    val structs = children.zipWithIndex.map { case (its, i) =>
      AttributeReference(s"s$i", DataTypeUtils.fromAttributes(its.output), nullable = true)()
    }
    val number = AttributeReference("statement", IntegerType, nullable = false)()
    new StatementSetRows(number +: structs, children, checkpoint)
  }
}

/** Executes [[StatementSetRows]]. */
final private[changelog] case class StatementSetRowsExec(
    output: Seq[Attribute],
    children: Seq[SparkPlan],
    checkpoint: Option[String])
  extends SparkPlan {
  override def nodeName: String = "StatementSet"
  override def producedAttributes: AttributeSet = outputSet

  override protected def doExecute(): RDD[InternalRow] = {
    val statements = children.map(_.execute())
    if (MicroBatch.number(sparkContext).contains(0L)) {
      checkpoint.foreach(new StatementFiles(_, session.sessionState.newHadoopConf()).noteFirst())
    }
    val numbered = statements.zipWithIndex.map { case (rows, i) =>
      val (values, columns) = (valuesOf(i), children(i).output)
      PartitionRows.mapped(rows)(_.map(ColumnProjection(values, columns)))
    }
    new StatementSetRDD(sparkContext, numbered, statements)
  }

  private def valuesOf(statement: Int): Seq[Expression] =
    Literal(statement) +: output.tail.zipWithIndex.map { case (column, i) =>
      if (i != statement) Literal(null, column.dataType)
      else CreateNamedStruct(children(i).output.flatMap(c => Seq(Literal(c.name), c)))
    }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[SparkPlan]): StatementSetRowsExec = copy(children = newChildren)
}

/**
 * The rows of all statements.
 *
 * @param statements the rows of each, without numbers and structs
 */
final private[statements] class StatementSetRDD(
    context: SparkContext,
    numbered: Seq[RDD[InternalRow]],
    @transient override val statements: Seq[RDD[InternalRow]])
  extends UnionRDD[InternalRow](context, numbered)
  with EmittedRows.Statements

private[statements] object StatementSetRDD {

  /** The rows of a set's statements if these are the rows of a micro-batch as Spark passes them on. */
  def unapply(rows: LogicalRDD): Option[Seq[RDD[InternalRow]]] = rows.rdd match {
    case passed: SQLExecutionRDD => passed.sqlRDD match {
        case set: StatementSetRDD => Some(set.statements)
        case _ => None
      }
    case _ => None
  }
}
