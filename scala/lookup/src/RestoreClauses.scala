package io.firesteel.lookup

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{EqualTo, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, TreeNode}
import org.apache.spark.sql.firesteel.{TravelInTime, UserText}

/**
 * Makes the user's clauses of what a parser has made of a [[PlainText]], by their places in it.
 *
 * {{{
 *   UnresolvedHint LOOKUP, ['table', 'c']    =>   UnresolvedHint LOOKUP, ['table' = 'c']
 *   RelationTimeTravel customers, '.t'       =>   LookupTable (as of o.ts)
 *                                                 +- customers
 * }}}
 *
 * A command keeps a piece of its text: a view its body, a function its query, for Spark's commands
 * and for those of other extensions. Each such piece becomes the user's. So the parts of all nodes
 * are searched, not the children alone.
 */
private[lookup] final class RestoreClauses(text: PlainText, shown: UserText) {

  private val clauses = text.names ++ text.columns.keys

  private val found = mutable.Set.empty[Int]

  /** Commands with `IDENTIFIER(...)` are made later, by a function. */
  private var later = false

  /** The places of code points. */
  private lazy val places = text.plain.indices.filterNot(text.plain(_).isLowSurrogate)

  /** Where the text of the node begins whose parts are searched. */
  private var start = 0

  def apply[T](parsed: T): T = {
    val restored = part(parsed).asInstanceOf[T]
    clauses.toSeq.sorted.find(place => !later && !found(place)).foreach { place =>
      throw LookupErrors.clauseTaken(text.user.drop(places(place)).take(40))
    }
    restored
  }

  private def part(value: Any): Any = value match {
    case node: TreeNode[_] =>
      shown.showIn(node, text.plain)
      from(node.origin.startIndex.flatMap(places.lift).getOrElse(start))(clause(node))
    case words: String => users(words)
    case some: Some[_] => same(some, some.map(part))
    case many: Seq[_] => same(many, many.map(part))
    case map: Map[_, _] => same(map, map.map { case (key, value) => key -> part(value) })
    case (a, b) => same(value, (part(a), part(b)))
    case (a, b, c) => same(value, (part(a), part(b), part(c)))
    case make: Function2[_, _, _] =>
      later = true
      val (made, here) = (make.asInstanceOf[(Any, Any) => Any], start)
      (name: Any, others: Any) => from(here)(part(made(name, others)))
    case other => other
  }

  private def from(place: Int)(search: => Any): Any = {
    val outer = start
    start = place
    try search
    finally start = outer
  }

  /** The value itself if no part of it is new, so that most of a plan stays as it is. */
  private def same(old: Any, restored: Any): Any = {
    val unchanged = (old, restored) match {
      case (old: Seq[_], restored: Seq[_]) => equal(old.iterator, restored.iterator)
      case (old: Product, restored: Product) =>
        equal(old.productIterator, restored.productIterator)
      case _ => old == restored
    }
    if (unchanged) old else restored
  }

  private def equal(old: Iterator[Any], restored: Iterator[Any]): Boolean =
    old.zip(restored).forall {
      case (a: AnyRef, b: AnyRef) => a eq b
      case (a, b) => a == b
    }

  private def clause(node: TreeNode[_]): Any = node match {
    case travel @ TravelInTime(relation, time) if column(time).nonEmpty =>
      CurrentOrigin.withOrigin(travel.origin) {
        LookupTable.asOf(part(relation).asInstanceOf[LogicalPlan], column(time).get)
      }
    case hint: UnresolvedHint if hint.parameters.exists(isName) =>
      rebuilt(hint.makeCopy(Array(hint.name, paired(hint.parameters), hint.child)))
    case other => rebuilt(other)
  }

  private def rebuilt(node: TreeNode[_]): Any = {
    val old = node.productIterator.toArray
    val parts = old.map(part)
    if (equal(old.iterator, parts.iterator)) node
    else node.makeCopy(parts.map(_.asInstanceOf[AnyRef]))
  }

  private def column(time: Expression): Option[String] = {
    val place = time.origin.startIndex.filter(text.columns.contains)
    found ++= place
    place.map(text.columns)
  }

  private def isName(parameter: Any): Boolean = parameter match {
    case name: Expression => name.origin.startIndex.exists(text.names)
    case _ => false
  }

  private def paired(parameters: Seq[Any]): Seq[Any] = parameters match {
    case (name: Expression) +: (value: Expression) +: rest if isName(name) =>
      found ++= name.origin.startIndex
      val both = name.origin.copy(stopIndex = value.origin.stopIndex)
      CurrentOrigin.withOrigin(both)(EqualTo(name, value)) +: paired(rest)
    case other +: rest => other +: paired(rest)
    case _ => Nil
  }

  /**
   * A piece of the plain text that is no piece of the user's comes from the parser. It is within the
   * text of its node.
   */
  private def users(words: String): String =
    if (words.length < 2 || text.user.contains(words)) words
    else {
      val at = text.plain.indexOf(words, start)
      if (at < 0) words
      else {
        val end = at + words.length
        found ++= clauses.filter(place => places(place) >= at && places(place) < end)
        text.user.substring(at, end)
      }
    }
}
