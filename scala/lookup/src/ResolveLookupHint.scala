package io.firesteel.lookup

import java.util.Locale

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSession
import io.firesteel.lookup.LookupTable.nameOf
import org.apache.spark.sql.catalyst.analysis.{Parameter, RelationTimeTravel, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{EqualTo, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, ResolvedHint, SubqueryAlias, UnaryNode, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.firesteel.{resolvedRelation, TravelInTime}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StringType

/**
 * Marks the tables that a query looks up, before Spark resolves them.
 *
 * {{{
 *   UnresolvedHint LOOKUP ('table'='c', 'async'='true')      Project
 *   +- Project                                               +- Join
 *      +- Join                                          =>      :- o
 *         :- o                                                  +- LookupTable (async=true, as of o.ts)
 *         +- SubqueryAlias c                                       +- SubqueryAlias c
 *            +- RelationTimeTravel customers, o.ts                    +- customers
 * }}}
 *
 * A hint in SQL names a table of its own query block; a hint on a DataFrame is about that
 * DataFrame. The rule runs among Spark's hint rules, before relations are resolved. It also runs
 * among the resolution rules, where another extension may put in the body of a view, for instance
 * Iceberg's; then relations may be resolved already.
 */
private[firesteel] final class ResolveLookupHint(session: SparkSession) extends Rule[LogicalPlan] {

  private def enabled: Boolean = UnmarkSwitchedOff.isOn(session)

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case travel: RelationTimeTravel => timeTravel(travel)
    case table: LookupTable if table.asOf.nonEmpty && !table.resolved && !enabled =>
      throw LookupErrors.switchedOff(table.name.getOrElse(table.child.nodeName))
    case written @ UnresolvedHint(name, parameters, child) if ResolveLookupHint.takes(name) =>
      // A hint on a DataFrame has no position in a text.
      val inText = written.origin.startIndex.isDefined
      val expressions = parameters.collect { case e: Expression => e }
      if (enabled && !conf.getConf(SQLConf.DISABLE_HINTS)) {
        hint(expressions, parameters, child, inText)
      } else child
  }

  /** By a constant it is a lookup if the table has a lookup connector. */
  private def timeTravel(travel: RelationTimeTravel): LogicalPlan = travel match {
    case TravelInTime(relation: UnresolvedRelation, time)
        if enabled && hasConnector(relation) =>
      LookupTable.asOf(relation, time.sql)
    case other => other
  }

  private def hasConnector(relation: UnresolvedRelation): Boolean = {
    // As Spark itself will: names in a view's body belong to the view's catalog and namespace.
    LookupRelations.in(resolvedRelation(session, relation)).nonEmpty
  }

  private def hint(
      expressions: Seq[Expression],
      parameters: Seq[Any],
      child: LogicalPlan,
      inText: Boolean): LogicalPlan = {
    val written = ResolveLookupHint.text(parameters)
    if (expressions.length != parameters.length) throw LookupErrors.malformedHint(written)
    // Spark 4.0 binds parameters after this rule; later versions put them into the text.
    if (expressions.exists(_.exists(_.isInstanceOf[Parameter]))) {
      throw LookupErrors.parameterInHint(written, SPARK_VERSION)
    }
    // The last value of a repeated name wins, as in Flink.
    val options = expressions.map(option(_, written)).toMap
    LookupOptions.check(options.keys)
    options.get("table") match {
      case None if inText => throw LookupErrors.hintWithoutTable(written, joinedIn(child))
      case None => LookupTable(child, options, None, name = nameOf(child))
      case Some(table) => inBlock(child, table, options - "table")
    }
  }

  /** `'name'='value'` in SQL, `"name=value"` on a DataFrame. */
  private def option(expression: Expression, written: String): (String, String) = expression match {
    case EqualTo(Literal(name, StringType), Literal(value, _)) if name != null && value != null =>
      name.toString.trim.toLowerCase(Locale.ROOT) -> value.toString
    case Literal(text, StringType) if text != null && text.toString.contains('=') =>
      val (name, value) = text.toString.span(_ != '=')
      name.trim.toLowerCase(Locale.ROOT) -> value.drop(1)
    case _ => throw LookupErrors.malformedHint(written)
  }

  private def inBlock(
      block: LogicalPlan,
      table: String,
      options: Map[String, String]): LogicalPlan = {
    var found = false
    def mark(plan: LogicalPlan): LogicalPlan = plan match {
      case join: Join =>
        val right =
          if (isNamed(join.right, table)) {
            found = true
            LookupTable(join.right, options, None, name = nameOf(join.right))
          } else mark(join.right)
        join.withNewChildren(Seq(mark(join.left), right))
      case _: SubqueryAlias => plan // another block
      case unary: UnaryNode => unary.withNewChildren(Seq(mark(unary.child)))
      case other => other
    }
    val marked = mark(block)
    if (!found) throw LookupErrors.tableNotJoined(table, joinedIn(block))
    marked
  }

  /** The names of the right sides of this block's joins, from the left. */
  private def joinedIn(block: LogicalPlan): Seq[String] = block match {
    case join: Join =>
      joinedIn(join.left) ++ nameOf(join.right) ++ joinedIn(join.right)
    case _: SubqueryAlias => Nil
    case unary: UnaryNode => joinedIn(unary.child)
    case _ => Nil
  }

  /** As in Flink, a table with an alias is named by the alias only. */
  private def isNamed(plan: LogicalPlan, table: String): Boolean = {
    def full(of: LogicalPlan): Option[String] = of match {
      case relation: UnresolvedRelation => Some(relation.multipartIdentifier.mkString("."))
      // Resolved already: the alias that Spark gives it.
      case SubqueryAlias(name, child) if !child.isInstanceOf[SubqueryAlias] =>
        Some((name.qualifier :+ name.name).mkString("."))
      case mark: LookupTable => full(mark.child)
      case hint: ResolvedHint => full(hint.child)
      case _ => None
    }
    (nameOf(plan) ++ full(plan)).exists(conf.resolver(_, table))
  }
}

private[lookup] object ResolveLookupHint {

  /** Whether it is a hint of this rule. */
  def takes(hint: String): Boolean = hint.equalsIgnoreCase("LOOKUP")

  /** A hint in errors. */
  def text(parameters: Seq[Any]): String = parameters.mkString("LOOKUP(", ", ", ")")
}
