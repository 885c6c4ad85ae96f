package io.firesteel.lookup

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{DeduplicateRelations, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.{Cross, Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.{CTERelationDef, CTERelationRef, Filter, Join, JoinHint, LogicalPlan, Project, ResolvedHint, SubqueryAlias, UnaryNode, View, WithCTE}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.connector.catalog.TableCapability
import org.apache.spark.sql.execution.datasources.ApplyCharTypePadding
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.firesteel.parseExpression
import org.apache.spark.sql.types.{DateType, TimestampNTZType, TimestampType}

/**
 * Makes a [[LookupRelation]] of a table whose connector answers by key: of every table that the
 * query marked, and of every table that cannot be scanned, because nothing else can read it.
 */
private[firesteel] final class ResolveLookupTable(session: SparkSession)
  extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!UnmarkSwitchedOff.isOn(session)) plan
    else {
      val definitions = plan.collect { case WithCTE(_, own) => own }.flatten
      resolved(plan, definitions)
    }

  private def resolved(plan: LogicalPlan, definitions: Seq[CTERelationDef]): LogicalPlan =
    plan.resolveOperatorsUp {
      case table: LookupTable if table.child.resolved =>
        val (child, inner) = marked(table.child, definitions)
        inner.foldLeft(table.copy(child = child)) { (outer, mark) =>
          outer.copy(
            options = mark.options ++ outer.options,
            asOf = outer.asOf.orElse(mark.asOf),
            name = outer.name.orElse(mark.name))
        }
      case relation: DataSourceV2Relation if !scannable(relation) => connectorOf(relation)
      // Spark analyses a subquery by itself, without the definitions around it.
      case node if definitions.nonEmpty && node.containsPattern(PLAN_EXPRESSION) =>
        node.transformExpressions {
          case subquery: SubqueryExpression if subquery.plan.exists(_.isInstanceOf[LookupTable]) =>
            subquery.withNewPlan(resolved(subquery.plan, definitions))
        }
    }

  /**
   * Follows projections, filters and aliases down to the relation. An aggregate and the plan below
   * it are read whole. A hint and a time about one table are two marks, which become one.
   */
  private def marked(
      plan: LogicalPlan,
      definitions: Seq[CTERelationDef]): (LogicalPlan, Seq[LookupTable]) = plan match {
    case relation: DataSourceV2Relation => (connectorOf(relation), Nil)
    case table: LookupTable =>
      val (child, inner) = marked(table.child, definitions)
      (child, table +: inner)
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: ResolvedHint =>
      val (child, inner) = marked(plan.children.head, definitions)
      (plan.withNewChildren(Seq(child)), inner)
    case named: CTERelationRef =>
      definitions
        .find(_.id == named.cteId)
        .map(definition => marked(definition.child, definitions))
        .collect {
          // A random column is computed once for all references to the definition.
          case (child, inner) if isLookup(child) && child.deterministic =>
            (inPlaceOf(named, child), inner)
        }
        .getOrElse((named, Nil))
    case other => (other, Nil)
  }

  private def isLookup(plan: LogicalPlan): Boolean = plan match {
    case _: LookupRelation => true
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: ResolvedHint =>
      isLookup(plan.children.head)
    case _ => false
  }

  /**
   * A definition instead of its name, with new columns under the name's ids: as Spark's `InlineCTE`
   * does in its optimizer, which is too late for a mark.
   */
  private def inPlaceOf(named: CTERelationRef, definition: LogicalPlan): LogicalPlan = {
    val twice = Join(definition, definition, Inner, None, JoinHint.NONE)
    val renewed = DeduplicateRelations(twice).children(1)
    val columns = named.output.zip(renewed.output).map { case (column, own) =>
      Alias(own, column.name)(exprId = column.exprId)
    }
    Project(columns, renewed)
  }

  private def connectorOf(relation: DataSourceV2Relation): LogicalPlan = relation.table match {
    case table: SupportsLookup =>
      val own = relation.newInstance()
      ApplyCharTypePadding(own) match {
        // As Spark pads CHAR columns, which it does later, and not in a relation of ours.
        case Project(padded, read: DataSourceV2Relation) =>
          val columns = padded.zip(relation.output).map { case (value, column) =>
            Alias(valueOf(value), column.name)(
              exprId = column.exprId,
              explicitMetadata = Some(column.metadata))
          }
          Project(columns, lookup(read, table))
        case _ => lookup(relation, table)
      }
    case _ => relation
  }

  private def valueOf(column: NamedExpression): Expression = column match {
    case alias: Alias => alias.child
    case other => other
  }

  private def lookup(relation: DataSourceV2Relation, table: SupportsLookup): LookupRelation = {
    val options = relation.options.asCaseSensitiveMap.asScala.toMap ++ table.properties.asScala
    LookupRelation(
      relation.identifier.fold(table.name)(_.toString),
      Connector.Jvm(table),
      relation.output,
      LookupRelations.ownOptions(options),
      if (scannable(relation)) Some(relation) else None
    )
  }

  private def scannable(relation: DataSourceV2Relation): Boolean =
    !relation.table.isInstanceOf[SupportsLookup] ||
      relation.table.capabilities.contains(TableCapability.BATCH_READ)
}

private[lookup] object LookupRelations {

  /** Relations in `plan` that a lookup connector can answer by key. */
  def in(plan: LogicalPlan): Seq[LogicalPlan] = plan.collect {
    case relation: LookupRelation => relation
    case relation: DataSourceV2Relation if relation.table.isInstanceOf[SupportsLookup] => relation
  }

  /** Flink's cache options among a connector's own. Spark may pass names in any case. */
  def ownOptions(options: Map[String, String]): Map[String, String] =
    options.map { case (name, value) => name.toLowerCase(java.util.Locale.ROOT) -> value }.filter {
      case (name, _) => LookupOptions.cacheNames.contains(name)
    }
}

/** Refuses unsupported lookup joins when a query is analysed. */
private[firesteel] object CheckLookupJoin {

  def apply(session: SparkSession)(plan: LogicalPlan): Unit = {
    plan.collectWithSubqueries { case join: Join => join }.foreach { join =>
      lookedUp(join.right).foreach { case (name, table) =>
        if (!Seq(Inner, LeftOuter, Cross).contains(join.joinType)) {
          throw LookupErrors.unsupportedJoin(name, join.joinType.sql)
        }
        table.foreach(_.asOf.foreach(checkTime(_, join.left, session)))
      }
      lookedUp(join.left).foreach {
        case (name, Some(_)) => throw LookupErrors.unsupportedJoin(name, "looked up on the left")
        case _ => ()
      }
    }
  }

  /** The dimension at the end of a chain of nodes with one child, and its mark if it has one. */
  private def lookedUp(plan: LogicalPlan): Option[(String, Option[LookupTable])] = plan match {
    case table: LookupTable =>
      val inner = lookedUp(table.child)
      Some(inner.fold(nameOf(table.child))(_._1) -> Some(table))
    case relation: LookupRelation => Some(relation.name -> None)
    case unary: UnaryNode => lookedUp(unary.child)
    case _ => None
  }

  private def nameOf(plan: LogicalPlan): String = plan match {
    case SubqueryAlias(alias, _) => alias.name
    case unary: UnaryNode => nameOf(unary.child)
    case other => other.nodeName
  }

  /** The time must be a column of the other side; the lookup is as of now in every case. */
  private def checkTime(text: String, left: LogicalPlan, session: SparkSession): Unit = {
    val time = parseExpression(session, text)
    val resolver = session.sessionState.conf.resolver
    time.collect { case column: UnresolvedAttribute => column }.foreach { column =>
      left.resolve(column.nameParts, resolver) match {
        case None => throw LookupErrors.unknownTimeColumn(column.name, left.output.map(_.name))
        case Some(found) if time eq column => checkType(found)
        case _ => ()
      }
    }
  }

  private def checkType(time: Expression): Unit = time.dataType match {
    case TimestampType | TimestampNTZType | DateType => ()
    case other => throw LookupErrors.notATime(time.sql, other.sql)
  }
}
