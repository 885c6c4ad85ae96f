package io.firesteel.changelog.sql

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.spark.sql.catalyst.analysis.{Resolver, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Expand, Filter, Generate, Join, LateralJoin, LogicalPlan, Project, ResolvedHint, SubqueryAlias, UnaryNode, View}

/**
 * What a hint says of a table that it names, at that table.
 *
 * @param ttlMs the time to live of what the join or the aggregate right above keeps of it
 *   (`STATE_TTL('o' = '1d')`, as Flink writes it)
 * @param isJoined whether its joins with the other ones that the hint names are to be one
 *   (`MULTI_JOIN(o, c, p)`, as Flink writes it)
 */
final private[changelog] case class InputHint(
    ttlMs: Option[Long],
    isJoined: Boolean,
    child: LogicalPlan)
  extends UnaryNode {
  override def output: Seq[Attribute] = child.output

  /** The first is in the keys of shared parts, and so in checkpoints. */
  override def nodeName: String = if (isJoined) "MultiJoin" else "InputTtl"

  override protected def withNewChildInternal(newChild: LogicalPlan): InputHint =
    copy(child = newChild)
}

private[changelog] object InputHint {

  /** The time to live of an operator's input; none if no hint names it. */
  def ttlOf(input: LogicalPlan): Option[Long] = input match {
    case InputHint(ttl, _, child) => ttl.orElse(ttlOf(child))
    case _: SubqueryAlias | _: View | _: Filter | _: Project => ttlOf(input.children.head)
    case _ => None
  }

  /** The same for groups, which Spark's analyzer may put above more than the query has. */
  @tailrec
  def ttlOfGroups(input: LogicalPlan): Option[Long] = input match {
    case InputHint(Some(ms), _, _) => Some(ms)
    case _: InputHint | _: SubqueryAlias | _: View | _: Filter | _: Project | _: Generate |
        _: Expand | _: LateralJoin | _: ResolvedHint => ttlOfGroups(input.children.head)
    case _ => None
  }

  /** A plan in place of an input, with the input's hints. */
  def over(input: LogicalPlan, plan: LogicalPlan): LogicalPlan = {
    val (ttl, joined) = (ttlOf(input), areJoined(input))
    if (ttl.isEmpty && !joined) plan else InputHint(ttl, joined, plan)
  }

  /** Whether a hint names an input, by a view or a query over it, too. */
  def isAt(input: LogicalPlan): Boolean = input match {
    case _: InputHint => true
    case _: SubqueryAlias | _: View | _: Filter | _: Project => isAt(input.children.head)
    case _ => false
  }

  /** Whether `MULTI_JOIN` names an input of a join, or all inputs of a join that is one. */
  def areJoined(input: LogicalPlan): Boolean = input match {
    case InputHint(_, isJoined, child) => isJoined || areJoined(child)
    case _: SubqueryAlias | _: View | _: Filter | _: Project => areJoined(input.children.head)
    case join: Join => join.children.forall(areJoined)
    case _ => false
  }

  /**
   * The query block with a hint at each table that is named, by its alias.
   *
   * @param hint the input with its hint
   * @param unknown the error for a name that is no input, with the names of the inputs
   */
  def at(block: LogicalPlan, names: Seq[String], resolver: Resolver)(
      hint: (String, LogicalPlan) => LogicalPlan)(
      unknown: (String, Seq[String]) => Throwable): LogicalPlan = {
    val found = mutable.Set.empty[String]
    def mark(plan: LogicalPlan): LogicalPlan =
      names.find(name => namesOf(plan).exists(resolver(_, name))) match {
        case Some(name) =>
          found += name
          hint(name, plan)
        case None => plan match {
            case _: SubqueryAlias => plan // another block
            case join: Join => join.withNewChildren(join.children.map(mark))
            case unary: UnaryNode => unary.withNewChildren(Seq(mark(unary.child)))
            case other => other
          }
      }
    val marked = mark(block)
    names.filterNot(found).headOption.foreach(name => throw unknown(name, inputsOf(block)))
    marked
  }

  private def namesOf(plan: LogicalPlan): Seq[String] = plan match {
    case alias: SubqueryAlias => Seq(alias.alias)
    case relation: UnresolvedRelation =>
      Seq(relation.multipartIdentifier.last, relation.multipartIdentifier.mkString(".")).distinct
    case _ => Nil
  }

  private def inputsOf(block: LogicalPlan): Seq[String] =
    namesOf(block).headOption.fold(block.children.flatMap(inputsOf))(Seq(_))
}
