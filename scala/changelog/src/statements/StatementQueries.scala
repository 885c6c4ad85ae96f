package io.firesteel.changelog.statements

import io.firesteel.changelog.sql.SourceArguments

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, Expression, ExpressionInfo, FunctionTableSubqueryArgumentExpression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.IntegerType

/**
 * Several queries as one: a row has the number of its statement, and is in the column of that
 * statement, a struct. The columns of the others are null there.
 *
 * @param names of the statements
 * @param modes their output modes: `append`, `update` or `complete`
 * @param starts where a statement begins that the checkpoint does not have: `start` or `now`; empty
 *   if that is not said
 * @param children their queries
 */
final private[changelog] case class StatementQueries(
    names: Seq[String],
    modes: Seq[String],
    starts: Seq[String],
    output: Seq[Attribute],
    children: Seq[LogicalPlan])
  extends LogicalPlan {
  override def producedAttributes: AttributeSet = outputSet
  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[LogicalPlan]): StatementQueries = copy(children = newChildren)
}

/** A statement set until the columns of its queries are known. */
final private[statements] case class UnresolvedStatements(
    names: Seq[String],
    modes: Seq[String],
    starts: Seq[String],
    children: Seq[LogicalPlan])
  extends LogicalPlan {
  override lazy val resolved: Boolean = false
  override def output: Seq[Attribute] = Nil
  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[LogicalPlan]): UnresolvedStatements = copy(children = newChildren)
}

/**
 * `SELECT * FROM firesteel_statement_set(TABLE(a), TABLE(b), names => array('x', 'y'), modes =>
 * array('append', 'update'))`: what the clients' statement sets run. It is a SQL function, so every
 * client can call it.
 */
object StatementSetFunction {

  private val name = "firesteel_statement_set"
  private val modes = Set("append", "update", "complete")
  private val starts = Set("", "start", "now")

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) =
    (FunctionIdentifier(name), new ExpressionInfo(getClass.getName, name), build)

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    val queries = arguments.count(_.isInstanceOf[FunctionTableSubqueryArgumentExpression])
    val inputs = (0 until queries).map(i => s"query_$i")
    val passed = new SourceArguments(name, inputs ++ Seq("names", "modes", "starts"), arguments)
    val (names, asked) = (passed.names("names"), passed.names("modes"))
    val from =
      if (passed("starts").isEmpty) names.map(_ => "") else passed.names("starts")
    val isEach = names.distinct.size == queries &&
      Seq(names, asked, from).forall(_.size == queries)
    if (queries == 0 || !isEach || !asked.forall(modes) || !from.forall(starts)) {
      throw passed.wrong()
    }
    UnresolvedStatements(names, asked, from, inputs.map(passed.table))
  }
}

object ResolveStatements extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case UnresolvedStatements(names, modes, starts, queries) if queries.forall(_.resolved) =>
      val structs = queries.zipWithIndex.map { case (query, i) =>
        AttributeReference(s"s$i", DataTypeUtils.fromAttributes(query.output), nullable = true)()
      }
      val number = AttributeReference("statement", IntegerType, nullable = false)()
      StatementQueries(names, modes, starts, number +: structs, queries)
  }
}
