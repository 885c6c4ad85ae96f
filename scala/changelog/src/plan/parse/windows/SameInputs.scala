package io.firesteel.changelog.plan.parse.windows

import io.firesteel.changelog.plan.{ChangelogOperator, ClosedWindows, Generation, GroupAggregate, Projection, Selection, Source, WindowedInput}
import io.firesteel.changelog.plan.frames.Panes

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Expression, NamedExpression}

/**
 * Lets operators over closed windows read one aggregate where they would read two that group the
 * same rows by the same keys. A query for the keys with the largest count of a window has two: one
 * for the counts, and one for their maximum.
 *
 * The aggregate that stays has the calls of both.
 */
private[parse] object SameInputs {

  def apply(windows: ClosedWindows): ClosedWindows = {
    val kept = ArrayBuffer.empty[ChangelogOperator]
    val places = windows.inputs.map { input =>
      val found = kept.indices.iterator.flatMap(i => merged(kept(i), input).map(i -> _))
      if (!isAggregate(input) || !found.hasNext) {
        kept += input
        (kept.size - 1, (column: Attribute) => column)
      } else {
        val (i, both) = found.next()
        kept(i) = both.operator
        (i, both.of(_: Attribute))
      }
    }
    if (kept.size == windows.inputs.size) windows
    else windows.copy(
      plan = windows.plan.transformUp { case leaf: WindowedInput =>
        val (number, nameIn) = places(leaf.number)
        leaf.copy(number = number, of = leaf.of.map(nameIn))
      },
      inputs = kept.toSeq
    )
  }

  private def isAggregate(operator: ChangelogOperator): Boolean = operator match {
    case projection: Projection => isAggregate(projection.input)
    case _: GroupAggregate => true
    case _ => false
  }

  /**
   * An operator with the columns of two.
   *
   * @param names its columns, by the ids of those of the second one. The first one's have their own
   */
  final private case class Both(operator: ChangelogOperator, names: Map[ExprId, Attribute]) {

    def of(column: Attribute): Attribute = names.getOrElse(column.exprId, column)

    def of(value: Expression): Expression =
      value.transform { case column: Attribute => of(column) }
  }

  private def merged(one: ChangelogOperator, two: ChangelogOperator): Option[Both] =
    (one, two) match {
      case (a: Source, b: Source) =>
        Option.when(a.plan.deterministic && a.plan.canonicalized == b.plan.canonicalized)(
          Both(a, b.output.map(_.exprId).zip(a.output).toMap))
      case (_: Projection, _) | (_, _: Projection) =>
        projections(asProjection(one), asProjection(two))
      case (a: Selection, b: Selection) =>
        merged(a.input, b.input).filter { both =>
          a.condition.deterministic && both.of(b.condition).semanticEquals(a.condition)
        }.map(both => both.copy(operator = a.copy(input = both.operator)))
      case (a: Generation, b: Generation) =>
        merged(a.input, b.input).filter { both =>
          a.outer == b.outer && a.made.size == b.made.size && a.generator.deterministic &&
          both.of(b.generator).semanticEquals(a.generator)
        }.map { both =>
          Both(
            a.copy(input = both.operator),
            both.names ++ b.made.map(_.exprId).zip(a.made))
        }
      case (a: GroupAggregate, b: GroupAggregate) => aggregates(a, b)
      case _ => None
    }

  private def asProjection(operator: ChangelogOperator): Projection = operator match {
    case projection: Projection => projection
    case other => Projection(other.output, other)
  }

  private def projections(a: Projection, b: Projection): Option[Both] =
    merged(a.input, b.input).filter(_ => (a.columns ++ b.columns).forall(_.deterministic)).map {
      both =>
        val columns = ArrayBuffer.from(a.columns)
        val names = b.columns.map { column =>
          val wanted = both.of(valueOf(column))
          val has = columns.find(its => valueOf(its).semanticEquals(wanted)).getOrElse {
            val made = Alias(wanted, column.name)(explicitMetadata = Some(column.metadata))
            columns += made
            made
          }
          column.exprId -> has.toAttribute
        }
        Both(Projection(columns.toSeq, both.operator), names.toMap)
    }

  private def valueOf(column: NamedExpression): Expression = column match {
    case alias: Alias => alias.child
    case other => other
  }

  private def aggregates(a: GroupAggregate, b: GroupAggregate): Option[Both] =
    merged(a.input, b.input).filter { both =>
      def same(x: Seq[Attribute], y: Seq[Attribute]) =
        x.map(_.exprId) == y.map(both.of(_: Attribute).exprId)
      same(a.keys, b.keys) && same(a.once.toSeq, b.once.toSeq) && a.emitsOnce && b.emitsOnce &&
      a.gap == b.gap && a.ttlMs == b.ttlMs && a.panes.map(windowsOf) == b.panes.map(windowsOf) &&
      (a.functions ++ b.functions).forall(_.deterministic)
    }.map { both =>
      val (functions, distinct) = (ArrayBuffer.from(a.functions), ArrayBuffer.from(a.distinct))
      val results = ArrayBuffer.from(a.results)
      val names = b.results.indices.map { i =>
        val wanted = both.of(b.functions(i))
        val known = functions.indices.find { at =>
          distinct(at) == b.distinct(i) && functions(at).semanticEquals(wanted)
        }
        val has = known.fold {
          functions += wanted
          distinct += b.distinct(i)
          results += b.results(i)
          b.results(i)
        }(results(_))
        b.results(i).exprId -> has
      }
      val bounds = b.panes.toSeq.flatMap(_.bounds).map(_.exprId)
        .zip(a.panes.toSeq.flatMap(_.bounds))
      Both(
        a.copy(
          functions = functions.toSeq,
          distinct = distinct.toSeq,
          results = results.toSeq,
          input = both.operator),
        both.names ++ names ++ bounds)
    }

  private def windowsOf(panes: Panes): (Any, Boolean, Boolean) =
    (panes.windows, panes.atClose, panes.isMarked)
}
