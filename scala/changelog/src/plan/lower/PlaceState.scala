package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.plan.{ChangeEvents, ChangelogOperator, Generation, GroupAggregate, HeldRows, HeldSessions, Normalize, OverAggregate, Projection, Selection, StatelessJoin, StreamJoin, TableJoin, TemporalJoin, TopN, UnionAll}
import io.firesteel.changelog.state.{BegunPlan, Placement}

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Expression, NamedExpression, PythonFuncExpression, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.{FullOuter, Inner}

/**
 * Where an operator's state lies.
 *
 * @param placement see [[Placement]]
 * @param spreadsNulls whether an outer join may spread the rows that have a null in their key
 */
final private[lower] case class Placed(placement: Placement, spreadsNulls: Boolean)

/**
 * Distributes operators with state as their readers are, so that rows need no shuffle between them
 * (Flink: `satisfyTraits`, for batch only).
 *
 * A reader asks its input for rows by the hash of some columns. An operator without a distribution
 * passes the question on, if it passes the columns on. An operator with keys says yes if the columns
 * are its keys, in any order: then it takes the reader's order. If the query may be distributed by
 * partial keys (Flink: `table.optimizer.shuffle-by-partial-key-enabled`), some of its keys will do. Of a join these are the keys of a
 * side whose rows are all in the result with their own keys.
 *
 * An outer join spreads rows with null keys over all tasks. It does not if that saves a shuffle:
 * where its reader asks for its keys, or where its left input lies by them already.
 */
final private[lower] class PlaceState(begun: BegunPlan) {
  import PlaceState._

  private val choices = begun.choices
  private val placed = new IdentityHashMap[ChangelogOperator, Placed]()

  /** @param asked the columns by which the reader wants the rows; none if it wants nothing */
  private def place(operator: ChangelogOperator, asked: Columns): Unit = {
    def passOn(): Unit = operator.inputs.indices.foreach { i =>
      place(operator.inputs(i), below(operator, i, asked))
    }
    keysOf(operator) match {
      case None => passOn()
      case Some(keys) =>
        val by = ways(operator, keys).flatMap(places(_, asked)).headOption
        val spreads = operator match {
          case join: StreamJoin if join.preserved.head && by.isEmpty =>
            !join.matchesNulls.forall(identity) && !liesBy(join.left, keys.head)
          case _ => false
        }
        val order = by.getOrElse(keys.head.indices)
        val wanted = keys.map(side => if (spreads) Nil else order.map(side))
        placed.put(
          operator,
          Placed(
            Placement(
              if (order == keys.head.indices) Nil else order,
              operator.inputs.zip(wanted).map { case (input, by) => liesBy(input, by) },
              choices,
              begun.version,
              why = operator.inputs.zip(wanted).map { case (input, by) =>
                if (spreads) Some("rows with a null in a key are spread over all tasks")
                else whyNot(input, by)
              }
            ),
            spreads
          )
        )
        operator.inputs.zip(wanted).foreach { case (input, by) => place(input, by) }
    }
  }

  /**
   * The places of the asked columns among the keys, if these are the same columns, or some of them
   * where that is enough.
   */
  private def places(keys: Columns, asked: Columns): Option[Seq[Int]] =
    Option.when(
      asked.nonEmpty && asked.distinct.size == asked.size && asked.forall(keys.contains) &&
        (asked.size == keys.distinct.size || choices.byPartialKey))(asked.map(keys.indexOf(_)))

  /** Whether an operator's rows lie by the hash of these columns, if it is asked to. */
  private def liesBy(operator: ChangelogOperator, asked: Columns): Boolean =
    waysAs(operator, asked).nonEmpty

  /** Why the rows of an operator do not lie by the hash of the asked columns. */
  private def whyNot(operator: ChangelogOperator, asked: Columns): Option[String] =
    if (asked.isEmpty || liesBy(operator, asked)) None else placedOtherwise(operator, asked)

  /** @param asked none if a column is computed above the operator */
  private def placedOtherwise(operator: ChangelogOperator, asked: Columns): Option[String] =
    keysOf(operator) match {
      case Some(Seq(keys))
          if asked.nonEmpty && !choices.byPartialKey && asked.toSet.subsetOf(keys.toSet) =>
        Some(s"rows below lie by ${names(operator, keys)}; with few rows for each key of these, " +
          s"${ChangelogConf.PARTIAL_KEY.key} spares the shuffle of a new checkpoint")
      case Some(keys) => Some(s"rows below lie by ${names(operator, keys.head)}")
      case None if !staysInTask(operator) =>
        Some(s"${operator.name} below has a function in Python or a subquery")
      case None =>
        operator.inputs.zipWithIndex.collectFirst(Function.unlift { case (input, i) =>
          placedOtherwise(input, below(operator, i, asked))
        })
    }

  private def names(operator: ChangelogOperator, keys: Columns): String = {
    val known = operator.output ++ operator.inputs.flatMap(_.output)
    keys.map(id => known.find(_.exprId == id).fold("?")(_.name)).mkString("[", ", ", "]")
  }

  /**
   * If the operator's rows lie by the hash of the asked columns once it is asked to: these, and other
   * columns of the result that are the same in each row, such as the keys of both sides of a join.
   */
  private def waysAs(operator: ChangelogOperator, asked: Columns): Seq[Columns] =
    if (asked.isEmpty) Nil
    else keysOf(operator) match {
      case Some(keys) =>
        val all = ways(operator, keys)
        all.flatMap(places(_, asked)).headOption.toSeq.flatMap(at => all.map(at.map(_)))
      case None =>
        val inputs = operator.inputs.indices.map { i =>
          waysAs(operator.inputs(i), below(operator, i, asked))
        }
        if (inputs.isEmpty || inputs.exists(_.isEmpty)) Nil
        else (asked +: (if (inputs.size == 1) inputs.head else Nil)
          .map(way => all(way.map(above(operator, _)))).filter(_.nonEmpty)).distinct
    }

  /** The columns of the result, in the order of the keys, by whose hash its rows lie. */
  private def ways(operator: ChangelogOperator, keys: Seq[Columns]): Seq[Columns] = {
    val sides = operator match {
      case join: StreamJoin if join.joinType == Inner => Seq(0, 1)
      case join: StreamJoin if join.joinType == FullOuter => Nil
      case _ => Seq(0)
    }
    sides.flatMap { side => keys(side) +: waysAs(operator.inputs(side), keys(side)) }.distinct
      .filter(_.forall(id => operator.output.exists(_.exprId == id)))
  }
}

private[lower] object PlaceState {

  private type Columns = Seq[ExprId]

  /** For each operator with state, where it lies. */
  def apply(
      root: ChangelogOperator,
      begun: BegunPlan): IdentityHashMap[ChangelogOperator, Placed] = {
    val all = new PlaceState(begun)
    if (begun.choices.removesShuffles) all.place(root, Nil)
    all.placed
  }

  /** For each input the keys of an operator with state; none for an operator without. */
  private def keysOf(operator: ChangelogOperator): Option[Seq[Columns]] = (operator match {
    case aggregate: GroupAggregate => Some(Seq(aggregate.placedBy))
    case topN: TopN => Some(Seq(topN.partition))
    case over: OverAggregate => Some(Seq(over.partition))
    case normalize: Normalize => Some(Seq(normalize.keys))
    case join: TableJoin => Some(Seq(join.key))
    case held: HeldRows => Some(Seq(held.by))
    case held: HeldSessions => Some(Seq(held.keys))
    case join: StreamJoin => Some(Seq(join.leftKeys, join.rightKeys))
    case join: TemporalJoin => Some(Seq(join.leftKeys, join.rightKeys))
    case _ => None
  }).map(_.map(_.map(_.exprId)))

  /**
   * Whether Spark computes the expressions of an operator without a distribution where its rows are.
   * It computes Python functions in a node that does not say how its rows lie, and many subqueries
   * by joins.
   */
  def staysInTask(operator: ChangelogOperator): Boolean = {
    val expressions: Seq[Expression] = operator match {
      case Projection(columns, _) => columns
      case ChangeEvents(columns, _, _) => columns
      case Selection(condition, _) => Seq(condition)
      case generation: Generation => Seq(generation.generator)
      case _ => Nil
    }
    !expressions.exists(_.exists {
      case _: PythonFuncExpression | _: SubqueryExpression => true
      case _ => false
    })
  }

  /** The asked columns in an input of an operator without a distribution; none if it lacks one. */
  private def below(operator: ChangelogOperator, input: Int, asked: Columns): Columns = {
    def passed(columns: Seq[NamedExpression]): Columns = all(asked.map { id =>
      columns.find(_.exprId == id).flatMap {
        case column: Attribute => Some(column.exprId)
        case Alias(column: Attribute, _) => Some(column.exprId)
        case _ => None
      }
    })
    operator match {
      case _ if !staysInTask(operator) => Nil
      case Projection(columns, _) => passed(columns)
      case ChangeEvents(columns, _, _) => passed(columns)
      case union: UnionAll => all(asked.map { id =>
          union.output.indexWhere(_.exprId == id) match {
            case -1 => None
            case at => Some(union.inputs(input).output(at).exprId)
          }
        })
      case _: Selection | _: Generation | _: StatelessJoin =>
        passed(operator.inputs(input).output)
      case _ => Nil
    }
  }

  /** A column of the input in the result of an operator without a distribution. */
  private def above(operator: ChangelogOperator, id: ExprId): Option[ExprId] = {
    def passed(columns: Seq[NamedExpression]) = columns.collectFirst {
      case column: Attribute if column.exprId == id => id
      case alias @ Alias(column: Attribute, _) if column.exprId == id => alias.exprId
    }
    operator match {
      case Projection(columns, _) => passed(columns)
      case ChangeEvents(columns, _, _) => passed(columns)
      case other => passed(other.output)
    }
  }

  /** All columns, or none. */
  private def all(columns: Seq[Option[ExprId]]): Columns =
    if (columns.exists(_.isEmpty)) Nil else columns.flatten
}
