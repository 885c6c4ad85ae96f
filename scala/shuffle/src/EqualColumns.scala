package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, EqualTo, Expression, NamedExpression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, InnerLike, LeftAnti, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.window.WindowExecBase

/**
 * Columns that a filter (`WHERE a = b`) or a join has made equal, and copies of a column under
 * another name: either can replace the other.
 */
private[shuffle] object EqualColumns extends PredicateHelper {

  /** The keys with some of them replaced by equal columns; at most eight variants. */
  def alternatives(plan: SparkPlan, keys: Seq[Expression]): Iterator[Seq[Expression]] = {
    val pairs = of(plan).filter { case (a, b) => Seq(a, b).forall(plan.outputSet.contains) }
    if (pairs.isEmpty) Iterator.empty
    else {
      def equalTo(key: Expression): Seq[Expression] = pairs.collect {
        case (a, b) if a.semanticEquals(key) => b
        case (a, b) if b.semanticEquals(key) => a
      }
      val ways = keys.foldLeft(Iterator(Seq.empty[Expression])) { (some, key) =>
        some.flatMap(chosen => (key +: equalTo(key)).map(chosen :+ _))
      }
      ways.drop(1).take(most) // the first has no replacement
    }
  }

  private val most = 8

  /** The keys as some of `wanted`: others are replaced by equal columns. `None` if all are wanted. */
  def among(
      plan: SparkPlan,
      keys: Seq[Expression],
      wanted: Seq[Expression]): Option[Seq[Expression]] = {
    def isWanted(key: Expression): Boolean = wanted.exists(_.semanticEquals(key))
    if (keys.forall(isWanted)) None
    else alternatives(plan, keys).find(_.forall(isWanted))
  }

  /**
   * The plan, with columns read from equal columns. Spark then sees that the rows are spread by
   * these columns.
   */
  def renamed(plan: SparkPlan, keys: Seq[Expression], equal: Seq[Expression]): SparkPlan = {
    val replaced = keys.zip(equal).collect {
      case (key: Attribute, other) if !key.semanticEquals(other) => key.exprId -> other
    }.toMap
    ProjectExec(
      plan.output.map { column =>
        replaced.get(column.exprId) match {
          case Some(other) =>
            Alias(other, column.name)(column.exprId, column.qualifier, Some(column.metadata))
          case None => column
        }
      },
      plan
    )
  }

  private def of(plan: SparkPlan): Seq[(Attribute, Attribute)] = plan match {
    case filter: FilterExec =>
      splitConjunctivePredicates(filter.condition).collect {
        case EqualTo(a: Attribute, b: Attribute)
            if a.dataType == b.dataType && ExactColumn.isExact(a.dataType) => a -> b
      } ++ of(filter.child)
    case project: ProjectExec =>
      unchanged(of(project.child), project.projectList) ++ copies(project.projectList)
    case aggregate: BaseAggregateExec =>
      unchanged(of(aggregate.child), aggregate.resultExpressions)
    case _: SortExec | _: ShuffleExchangeExec | _: WindowExecBase => of(plan.children.head)
    case join: BaseJoinExec => join.joinType match {
        case _: InnerLike => of(join.left) ++ of(join.right)
        case LeftOuter | LeftSemi | LeftAnti | _: ExistenceJoin => of(join.left)
        case RightOuter => of(join.right)
        case _ => Nil
      }
    case _ => Nil
  }

  /** The pairs with both columns in the output, unchanged. */
  private def unchanged(
      pairs: Seq[(Attribute, Attribute)],
      outputs: Seq[NamedExpression]): Seq[(Attribute, Attribute)] = {
    val same = AttributeSet(outputs.collect { case column: Attribute => column })
    pairs.filter { case (a, b) => same.contains(a) && same.contains(b) }
  }

  /**
   * Columns that are the same column of the input. Before Spark 4.3, the column that a window
   * spreads its rows by and its name in the result are both below the window:
   * `SELECT a AS k, sum(v) OVER (PARTITION BY a, b)`. Of any type: a copy has the same bytes.
   */
  private def copies(outputs: Seq[NamedExpression]): Seq[(Attribute, Attribute)] =
    outputs.collect {
      case column: Attribute => column -> column
      case alias @ Alias(column: Attribute, _) => column -> alias.toAttribute
    }.groupMap(_._1.exprId)(_._2).values.flatMap { names =>
      names.distinct.combinations(2).collect { case Seq(a, b) => a -> b }
    }.toSeq
}
