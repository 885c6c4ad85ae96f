package io.firesteel.changelog.windows

import io.firesteel.changelog.sql.TableArguments

import org.apache.spark.sql.{AnalysisException, SparkSession}
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, FunctionTableSubqueryArgumentExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OneRowRelation, Project}
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.types.{CalendarIntervalType, DayTimeIntervalType, StringType}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

/**
 * The arguments of a window function as Flink has them, by place or by name: `HOP(TABLE t,
 * DESCRIPTOR(ts), slide, size [, offset])`. Nothing in them is resolved yet but plain intervals.
 */
final private[windows] class WindowArguments(
    function: String,
    intervals: Seq[String],
    optional: Set[String],
    arguments: Seq[Expression]) {

  private val passed = new TableArguments(
    function,
    Seq("data", "timecol") ++ intervals,
    arguments,
    ("TABLE t" +: "DESCRIPTOR(timecol)" +: intervals.filterNot(optional))
      .mkString(s"$function(", ", ", ")")
  )

  private val data: FunctionTableSubqueryArgumentExpression = passed("data") match {
    case Some(of: FunctionTableSubqueryArgumentExpression) => of
    case _ => throw wrong()
  }

  def rows: LogicalPlan = data.plan

  /** The keys of `TABLE t PARTITION BY k`. */
  def partition(isAllowed: Boolean): Seq[Expression] =
    if (!isAllowed && data.hasRepartitioning || data.orderByExpressions.nonEmpty) throw wrong()
    else data.partitionByExpressions

  /** The column of `DESCRIPTOR(c)`. */
  def time: Expression = passed("timecol") match {
    case Some(call: UnresolvedFunction)
        if call.nameParts.map(_.toLowerCase(java.util.Locale.ROOT)) == Seq("descriptor") =>
      call.arguments match {
        case Seq(column: UnresolvedAttribute) => column
        case _ => throw wrong()
      }
    case _ => throw wrong()
  }

  /** A length of time above zero. */
  def length(name: String): Long = micros(name).filter(_ > 0).getOrElse(throw wrong())

  /** A time from the epoch; zero if it is left out. */
  def offset: Long = micros("offset").getOrElse(0L)

  private def micros(name: String): Option[Long] = passed(name).map { argument =>
    val written = analyzed(argument)
    if (!written.foldable) throw wrong()
    (written.dataType, written.eval()) match {
      case (_: DayTimeIntervalType, micros: Long) => micros
      case (CalendarIntervalType, interval: CalendarInterval) => ofCalendar(interval)
      case (_: StringType, text: UTF8String) =>
        Option(IntervalUtils.safeStringToInterval(text)).fold(throw wrong())(ofCalendar)
      case _ => throw wrong()
    }
  }

  /** A sum of intervals, say: the rule runs before Spark resolves functions and types. */
  private def analyzed(argument: Expression): Expression =
    if (argument.resolved) argument
    else {
      val row = Project(Seq(Alias(argument, "length")()), OneRowRelation())
      try executionOf(SparkSession.active, row).analyzed.expressions.head.children.head
      catch { case _: AnalysisException => throw wrong() }
    }

  private def ofCalendar(interval: CalendarInterval): Long =
    if (interval.months != 0) throw wrong()
    else Math.addExact(Math.multiplyExact(interval.days.toLong, microsOfDay), interval.microseconds)

  private def microsOfDay = 86400000000L

  def wrong(): Throwable = passed.wrong()
}
