package io.firesteel.lookup

import io.firesteel.core.CoreConf
import java.util.Locale

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{RelationTimeTravel, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{EqualTo, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, SubqueryAlias, UnaryNode, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.firesteel.analyzedTable
import org.apache.spark.sql.types.StringType

/**
 * Marks the tables that a query wants looked up, before Spark resolves them.
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
 * A hint in SQL names a table of its own query block; one over a DataFrame is about that DataFrame.
 * It runs among Spark's hint rules, which come before relations are resolved, because Spark would
 * refuse a time travel by column.
 */
private[firesteel] final class ResolveLookupHint(session: SparkSession) extends Rule[LogicalPlan] {

  private def enabled: Boolean = conf.getConf(CoreConf.ENABLED) && conf.getConf(LookupConf.ENABLED)

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case travel: RelationTimeTravel => timeTravel(travel)
    case UnresolvedHint(name, parameters, child) if isLookup(name) =>
      if (enabled) hint(parameters.collect { case e: Expression => e }, parameters, child)
      else child
  }

  private def isLookup(name: String): Boolean = name.equalsIgnoreCase("LOOKUP")

  /** By a column it is a lookup; by a constant it is one if the table has a lookup connector. */
  private def timeTravel(travel: RelationTimeTravel): LogicalPlan = travel match {
    case RelationTimeTravel(relation: UnresolvedRelation, Some(Literal(text, StringType)), None)
        if text != null && text.toString.startsWith(LookupTokens.asOfMark) =>
      if (!enabled) throw LookupErrors.switchedOff(relation.name)
      LookupTable(relation, Map.empty, Some(text.toString.stripPrefix(LookupTokens.asOfMark)))
    case RelationTimeTravel(relation: UnresolvedRelation, Some(time), None)
        if enabled && hasConnector(relation) =>
      LookupTable(relation, Map.empty, Some(time.sql))
    case other => other
  }

  private def hasConnector(relation: UnresolvedRelation): Boolean = {
    val name =
      relation.multipartIdentifier.map(part => s"`${part.replace("`", "``")}`").mkString(".")
    session.catalog.tableExists(name) &&
    LookupRelations.in(analyzedTable(session, name)).nonEmpty
  }

  private def hint(
      expressions: Seq[Expression],
      parameters: Seq[Any],
      child: LogicalPlan): LogicalPlan = {
    val written = parameters.map(_.toString).mkString("LOOKUP(", ", ", ")")
    if (expressions.length != parameters.length) throw LookupErrors.malformedHint(written)
    // The last of several values of one name wins, as in Flink.
    val options = expressions.map(option(_, written)).toMap
    LookupOptions.check(options.keys)
    options.get("table") match {
      case None => LookupTable(child, options, None)
      case Some(table) => inBlock(child, table, options - "table")
    }
  }

  /** `'name'='value'` in SQL, `"name=value"` over a DataFrame. */
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
    var joined = Seq.empty[String]

    def mark(plan: LogicalPlan): LogicalPlan = plan match {
      case join: Join =>
        joined ++= nameOf(join.right)
        val right =
          if (isNamed(join.right, table)) {
            found = true
            LookupTable(join.right, options, None)
          } else mark(join.right)
        join.withNewChildren(Seq(mark(join.left), right))
      case _: SubqueryAlias => plan // another block
      case unary: UnaryNode => unary.withNewChildren(Seq(mark(unary.child)))
      case other => other
    }

    val marked = mark(block)
    if (!found) throw LookupErrors.tableNotJoined(table, joined)
    marked
  }

  private def nameOf(plan: LogicalPlan): Option[String] = plan match {
    case SubqueryAlias(alias, _) => Some(alias.name)
    case UnresolvedRelation(parts, _, _) => Some(parts.last)
    case travel: RelationTimeTravel => nameOf(travel.relation)
    case table: LookupTable => nameOf(table.child)
    case _ => None
  }

  /** As Flink: of a table with an alias only the alias counts. */
  private def isNamed(plan: LogicalPlan, table: String): Boolean = {
    val full = plan match {
      case UnresolvedRelation(parts, _, _) => Some(parts.mkString("."))
      case LookupTable(UnresolvedRelation(parts, _, _), _, _, _) => Some(parts.mkString("."))
      case _ => None
    }
    (nameOf(plan) ++ full).exists(conf.resolver(_, table))
  }
}
