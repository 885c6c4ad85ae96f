package io.firesteel.core.room

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, SparkStrategy}

/** A place on a query's way through Spark at which an extension may put something of its own. */
sealed abstract class Phase[T](into: SparkSessionExtensions => T => Unit) {

  /** That `what` is put here, as in `Planner(_ => PlanTopN)`. */
  final def apply(what: T): Injection = new Injection(this, extensions => into(extensions)(what))
}

/** One thing and the place where it is put. */
final class Injection private[room] (
    val phase: Phase[_],
    private[room] val into: SparkSessionExtensions => Unit)

/** The places, in the order in which a query comes to them. */
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

  /** Before relations and names are resolved, among Spark's rules about hints. */
  object Hints extends Phase[LogicalRule](_.injectHintResolutionRule)

  /** Among the rules that resolve, which run until nothing changes. */
  object Resolution extends Phase[LogicalRule](_.injectResolutionRule)

  /** Once, when all is resolved. */
  object PostHocResolution extends Phase[LogicalRule](_.injectPostHocResolutionRule)

  /** Refuses analysed plans. */
  object Check extends Phase[SparkSession => LogicalPlan => Unit](_.injectCheckRule)

  /** Between analysis and optimizer. */
  object PlanNormalization extends Phase[LogicalRule](_.injectPlanNormalizationRule)

  /** Among the optimizer's rules, which run until nothing changes. */
  object Optimizer extends Phase[LogicalRule](_.injectOptimizerRule)

  /** Once, when the optimizer has simplified; Spark rewrites DISTINCT and orders joins afterwards. */
  object PreCBO extends Phase[LogicalRule](_.injectPreCBORule)

  /** Strategies of the planner, asked before Spark's own. */
  object Planner extends Phase[SparkSession => SparkStrategy](_.injectPlannerStrategy)

  /** With adaptive execution alone, each time that it plans what is left to run. */
  object QueryStagePrep extends Phase[SparkSession => Rule[SparkPlan]](_.injectQueryStagePrepRule)

  /** With adaptive execution on and off alike. */
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
