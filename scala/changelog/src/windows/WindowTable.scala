package io.firesteel.changelog.windows

import io.firesteel.changelog.common.WindowEnds
import io.firesteel.changelog.windows.WindowAssigner.{Cumulate, Hop, Session, Tumble}

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Add, Alias, Attribute, AttributeReference, Explode, Expression, IsNotNull, Literal, NamedExpression, Pmod, PreciseTimestampConversion, Sequence, Subtract}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, Filter, Generate, LogicalPlan, Project}
import org.apache.spark.sql.types.{DataType, LongType, Metadata, MetadataBuilder}

/**
 * The result of a window function: the rows of its input, once for each of their windows, with
 * `window_start`, `window_end` and `window_time`, which is the end less one microsecond. Rows
 * without a time are in no window.
 *
 * It is written with Spark's own nodes, so that batch queries and self joins need nothing else. The
 * metadata of the three columns, at the projection that makes them, tell a stream's reader what
 * they are.
 */
private[changelog] object WindowTable {

  private val role = "firesteel.window"
  private val stepAndOffset = "firesteel.window.ends"

  /** @param ends when windows end; none if that depends on their rows */
  final case class Columns(start: Attribute, end: Attribute, ends: Option[WindowEnds] = None)

  def apply(assigner: WindowAssigner, time: Attribute, child: LogicalPlan): LogicalPlan = {
    val rows = Filter(IsNotNull(time), child)
    val at = toMicros(time)
    val ends = Some(endsOf(assigner))
    assigner match {
      case Tumble(size, offset) =>
        val start = before(at, size, offset)
        named(time, child.output, start, plus(start, size), rows, ends)
      case Hop(slide, size, offset) =>
        val last = before(at, slide, offset)
        val first = plus(last, slide - size)
        each(assigner, first, last, slide, rows) { start =>
          named(time, child.output, start, plus(start, size), _, ends)
        }
      case Cumulate(step, size, offset) =>
        val start = before(at, size, offset)
        val first = plus(before(at, step, offset), step)
        each(assigner, first, plus(start, size), step, rows) { end =>
          // The window before the latest end of the row's windows begins where that one does.
          val begin = before(plus(end, -1L), size, offset)
          named(time, child.output, begin, end, _, ends)
        }
      case other: Session => throw new IllegalArgumentException(other.toString)
    }
  }

  private def endsOf(assigner: WindowAssigner): WindowEnds = assigner match {
    case Tumble(size, offset) => WindowEnds(size, offset)
    case Hop(slide, size, offset) => WindowEnds(slide, offset + size)
    case Cumulate(step, _, offset) => WindowEnds(step, offset)
    case other: Session => throw new IllegalArgumentException(other.toString)
  }

  /** The window's columns and its `window_time`, if a projection makes them. */
  def unapply(plan: Project): Option[(Columns, Attribute)] = {
    def made(name: String) = plan.projectList.collectFirst {
      case alias @ Alias(_: PreciseTimestampConversion, _)
          if alias.metadata.contains(role) && alias.metadata.getString(role) == name =>
        alias.toAttribute
    }
    for (start <- made("start"); end <- made("end"); time <- made("time")) yield {
      val ends = Option.when(end.metadata.contains(stepAndOffset)) {
        val its = end.metadata.getLongArray(stepAndOffset)
        WindowEnds(its(0), its(1))
      }
      (Columns(start, end, ends), time)
    }
  }

  /** The input of a window function and its column of time, below the projection. */
  @tailrec
  def input(plan: LogicalPlan): Option[(LogicalPlan, Attribute)] = plan match {
    case Filter(IsNotNull(time: Attribute), rows) => Some((rows, time))
    case generate: Generate => input(generate.child)
    case _ => None
  }

  /** Whether the watermark closes the windows that a projection makes. */
  def isClosed(time: Attribute): Boolean = time.metadata.contains(EventTimeWatermark.delayKey)

  private[windows] def toMicros(time: Attribute): Expression =
    PreciseTimestampConversion(time, time.dataType, LongType)

  private[windows] def named(
      time: Attribute,
      columns: Seq[Attribute],
      start: Expression,
      end: Expression,
      rows: LogicalPlan,
      ends: Option[WindowEnds] = None): LogicalPlan = {
    val atEnd = ends.fold(Metadata.empty) { its =>
      new MetadataBuilder().putLongArray(stepAndOffset, Array(its.step, its.offset)).build()
    }
    def column(value: Expression, name: String, its: String, metadata: Metadata): NamedExpression =
      Alias(PreciseTimestampConversion(value, LongType, time.dataType), name)(
        explicitMetadata = Some(
          new MetadataBuilder().withMetadata(metadata).putString(role, its).build()))
    Project(
      columns ++ Seq(
        column(start, "window_start", "start", Metadata.empty),
        column(end, "window_end", "end", atEnd),
        column(plus(end, -1L), "window_time", "time", time.metadata)
      ),
      rows
    )
  }

  /** One row for each number from `first` to `last`. */
  private def each(
      windows: WindowAssigner,
      first: Expression,
      last: Expression,
      step: Long,
      rows: LogicalPlan)(over: Attribute => LogicalPlan => LogicalPlan): LogicalPlan = {
    val bound =
      AttributeReference("bound", LongType, nullable = false, TableCopies.metadata(windows))()
    val numbers = new Sequence(first, last, Literal(step))
    val all = Generate(Explode(numbers), Nil, outer = false, None, Seq(bound), rows)
    over(bound)(all)
  }

  /** The latest multiple of `step`, from `offset` on, that is not after the time. */
  private def before(time: Expression, step: Long, offset: Long): Expression =
    Subtract(time, new Pmod(plus(time, -offset), Literal(step)))

  private def plus(value: Expression, micros: Long): Expression =
    if (micros == 0L) value else Add(value, Literal(micros, LongType: DataType))
}
