package io.firesteel.core.room

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, SparkStrategy}

/** A place in Spark's processing of a query where an extension may add something. */
sealed abstract class Phase[T](into: SparkSessionExtensions => T => Unit) {

  /** Adds `what` here, as in `Planner(new PlanTopN(_))`. */
  final def apply(what: T): Injection = new Injection(this, extensions => into(extensions)(what))
}

/** Something to add, and its place. */
final class Injection private[room] (
    val phase: Phase[_],
    private[room] val into: SparkSessionExtensions => Unit)

/** The places, in the order of a query's processing. */
object Phase {

  private type LogicalRule = SparkSession => Rule[LogicalPlan]

  /** Wraps the parser, Spark's own or another extension's. */
  object Parser
    extends Phase[(SparkSession, ParserInterface) => ParserInterface](_.injectParser)

  /** Scalar functions of SQL. */
  object Function
    extends Phase[(FunctionIdentifier, ExpressionInfo, Seq[Expression] => Expression)](
      _.injectFunction)

  /** Table functions of SQL. */
  object TableFunction
    extends Phase[(FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan)](
      _.injectTableFunction)

  /** Before relations and names are resolved, among Spark's hint rules. */
  object Hints extends Phase[LogicalRule](_.injectHintResolutionRule)

  /** Among the resolution rules, which run until nothing changes. */
  object Resolution extends Phase[LogicalRule](_.injectResolutionRule)

  /** Once, after everything is resolved. */
  object PostHocResolution extends Phase[LogicalRule](_.injectPostHocResolutionRule)

  /** Checks of analysed plans, which may raise an error. */
  object Check extends Phase[SparkSession => LogicalPlan => Unit](_.injectCheckRule)

  /** Between analysis and optimizer. */
  object PlanNormalization extends Phase[LogicalRule](_.injectPlanNormalizationRule)

  /** Among the optimizer's rules, which run until nothing changes. */
  object Optimizer extends Phase[LogicalRule](_.injectOptimizerRule)

  /** Once, after the optimizer's rules; Spark rewrites DISTINCT and orders joins afterwards. */
  object PreCBO extends Phase[LogicalRule](_.injectPreCBORule)

  /** Strategies of the planner, which run before Spark's own. */
  object Planner extends Phase[SparkSession => SparkStrategy](_.injectPlannerStrategy)

  /** With adaptive execution only, each time that it plans the remaining query. */
  object QueryStagePrep extends Phase[SparkSession => Rule[SparkPlan]](_.injectQueryStagePrepRule)

  /** With and without adaptive execution. */
  object Columnar extends Phase[SparkSession => ColumnarRule](_.injectColumnar)

  val all: Seq[Phase[_]] = Seq(
    Parser,
    Function,
    TableFunction,
    Hints,
    Resolution,
    PostHocResolution,
    Check,
    PlanNormalization,
    Optimizer,
    PreCBO,
    Planner,
    QueryStagePrep,
    Columnar)
}
