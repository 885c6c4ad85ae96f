package io.firesteel.json

import io.firesteel.core.expressions.SumOrder
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeSet, Expression, GetStructField, IsNotNull, NamedExpression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}

/**
 * A scan below a projection, and below a filter under it, that several of their expressions read.
 *
 * Conditions without JSON stay below the scan, so that sources still see them. If one of them comes
 * after a condition with JSON and can fail, the filter stays as it is: Spark would check a field of
 * the scan for null later than the value of a function, and rows would reach what they must not.
 */
private[json] object SharedScan extends PredicateHelper {
  import JsonCalls.isSafe

  def in(project: Project): Project = project.child match {
    case filter: Filter => split(filter).fold(over(project, Nil, filter)) {
        case (conditions, base) => over(project, conditions, base)
      }
    case computing @ Project(list, filter: Filter) =>
      split(filter).flatMap { case (conditions, base) => computedBelow(list, conditions, base) }
        .fold(over(project, Nil, computing)) { case (conditions, base) =>
          over(project, conditions, base)
        }
    case child => over(project, Nil, child)
  }

  /** The conditions that the scan comes below, and the input with the others. */
  private def split(filter: Filter): Option[(Seq[Expression], LogicalPlan)] = {
    val (first, rest) =
      splitConjunctivePredicates(AskedInOrder.of(filter).condition).span(!JsonCalls.isIn(_))
    val (safe, conditions) = rest.partition(one => !JsonCalls.isIn(one) && isSafe(one))
    val plain = first ++ safe
    Option.when(filter.condition.deterministic && conditions.nonEmpty && !changesOrder(conditions))(
      conditions ->
        (if (plain.isEmpty) filter.child else Filter(plain.reduce(And), filter.child)))
  }

  /**
   * The conditions and their input if the documents of `list`, which the conditions compute, too,
   * are computed in the input. None if `list` computes anything else.
   */
  private def computedBelow(
      list: Seq[NamedExpression],
      conditions: Seq[Expression],
      base: LogicalPlan): Option[(Seq[Expression], LogicalPlan)] = {
    val documents = list.collect { case document: Alias => document }
    val (first, always) =
      (
        JsonCalls.reached(conditions.head).map(_.document),
        JsonCalls.always(conditions.head).map(_.document))
    def isComputed(document: Expression) = first.exists(_.semanticEquals(document)) &&
      (isSafe(document) || always.exists(_.semanticEquals(document)))
    Option.when(
      documents.nonEmpty && documents.forall(its => isComputed(its.child)) &&
        list.forall(column => column.isInstanceOf[Attribute] || documents.contains(column))) {
      val computed = conditions.map(_.transform {
        case one if documents.exists(_.child.semanticEquals(one)) =>
          documents.find(_.child.semanticEquals(one)).get.toAttribute
      })
      computed -> Project(base.output ++ documents, base)
    }
  }

  /**
   * The projection of the conditions' rows, with scans; the same projection if none is shared. Rows that
   * fail a condition do not reach the documents of later ones, which may be long: these have scans above
   * it.
   */
  private def over(
      project: Project,
      conditions: Seq[Expression],
      base: LogicalPlan): Project = {
    val required = if (conditions.isEmpty) project.projectList else conditions.take(1)
    val documents =
      required.flatMap(JsonCalls.reached).map(_.document.canonicalized).toSet
    // A document that can fail must be one that every row computes.
    val always = required.flatMap(JsonCalls.always).map(_.document.canonicalized).toSet
    val calls = (conditions ++ project.projectList).flatMap(JsonCalls.reached)
      .filter(canShare(base))
      .filter(its => always(its.document.canonicalized) || isSafe(its.document))
      .groupBy(_.document.canonicalized)
      .filter { case (document, calls) => calls.length > 1 && documents(document) }
    val scans = calls.values.toSeq.map(new SharedScan(_))
    def read[E <: Expression](expression: E): E =
      JsonCalls.replace(expression)(call => scans.flatMap(_.value(call)).headOption)
        .asInstanceOf[E]
    val (now, later) = conditions.span(
      JsonCalls.reached(_).forall(call => documents(call.document.canonicalized)))
    val list = project.projectList.map(read[NamedExpression])
    val scanning =
      if (scans.isEmpty) base
      else {
        val needed = AttributeSet(list ++ conditions.map(read[Expression]))
        Project(base.output.filter(needed.contains) ++ scans.map(_.alias), base)
      }
    def filtered(by: Seq[Expression], rows: LogicalPlan) =
      by.map(read[Expression]).reduceOption(And).fold(rows)(Filter(_, rows))
    val first = filtered(now, scanning)
    val whole =
      if (scans.isEmpty) project
      else project.copy(projectList = list, child = filtered(later, first))
    val above = if (later.isEmpty) whole else over(whole, later.map(read[Expression]), first)
    // The values may be documents themselves.
    if (scans.isEmpty || (above ne whole)) above else in(whole)
  }

  /** An expression may move if it cannot fail, and if its document is there. */
  private def canShare(base: LogicalPlan)(call: JsonCall): Boolean =
    call.reading.isRight && !call.fails && call.document.deterministic &&
      !SumOrder.isIn(call.document) &&
      call.document.references.subsetOf(base.outputSet) && !JsonCalls.isIn(call.document)

  /**
   * Whether a condition that can fail might be reached by other rows: if it has no JSON, or comes
   * together with a check for null, which Spark makes first on fields.
   */
  private def changesOrder(conditions: Seq[Expression]): Boolean =
    conditions.exists(!JsonCalls.isIn(_)) ||
      (conditions.exists(_.isInstanceOf[IsNotNull]) && !conditions.forall(isSafe))
}

/** One scan for the expressions over one document. */
final private class SharedScan(calls: Seq[JsonCall]) {

  private val different: Seq[JsonCall] =
    calls.distinctBy(_.expression.canonicalized)

  private val outputs = different.zipWithIndex.flatMap { case (call, i) => call.output(s"v$i") }

  val alias: Alias = Alias(JsonScan(calls.head.document, outputs, shared = true), "json")()

  /** Where the value of an expression is, if it is in this scan. */
  def value(call: JsonCall): Option[Expression] = {
    val place = different.indexWhere(_.expression.semanticEquals(call.expression))
    Option.when(place >= 0)(
      GetStructField(alias.toAttribute, place, Some(outputs(place).name)))
  }
}
