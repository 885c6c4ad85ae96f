package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.{ChangelogErrors, StateTypes}
import io.firesteel.changelog.plan.{ChangelogOperator, ComputedColumns, PlaceFunction, Projection, Selection, Source, TemporalJoin, UserText}
import io.firesteel.changelog.plan.parse.rank.{RankedWindow}
import io.firesteel.changelog.sql.{FromChangelog, InputHint, SourceKinds}
import io.firesteel.changelog.state.PlanVersion
import io.firesteel.core.changes.RowKind
import io.firesteel.core.plans.ReadByKey

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Ascending, Attribute, Cast, Descending, EqualTo, EvalMode, Expression, IsNotNull, Literal, NamedExpression, Not, Or, PredicateHelper, PythonFuncExpression, SortOrder}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, Filter, Join, LogicalPlan, Project, ResolvedHint, SubqueryAlias, View}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ByteType, DataType, IntegerType, LongType, ShortType}

/**
 * Reads `FROM l JOIN r FOR SYSTEM_TIME AS OF l.ts ON l.k = r.k` where `r` is a stream: an event-time
 * temporal join. (Where it is none, the same text is a lookup join.)
 *
 * `r` is a table of versions: the newest row of each key by a column of event time, of a stream
 * whose rows only come (`ROW_NUMBER() ... ORDER BY ts DESC` and `= 1`), the first row likewise, or `from_changelog` with
 * keys and `sequence_by`. Its history is what lies below.
 */
final private[parse] class ReadTemporalJoin(
    version: Int,
    read: LogicalPlan => ChangelogOperator)
  extends PredicateHelper {
  import ReadTemporalJoin._

  /**
   * The history of a table of versions.
   *
   * @param rows its versions, with the columns of the table
   * @param keys the table's key by all of its names, and the columns that hold it
   * @param passes conditions on the table, as columns
   */
  private case class History(
      rows: ChangelogOperator,
      keys: Seq[(Seq[Expression], Attribute)],
      order: Seq[SortOrder],
      deleted: Option[Attribute],
      passes: Seq[Attribute]) {

    /** Columns that the join needs, besides those of the table. */
    def own: Seq[Attribute] =
      keys.map(_._2) ++ order.flatMap(_.references.toSeq) ++ deleted ++ passes

    def project(columns: Seq[NamedExpression]): History = {
      val named = keys.map { case (names, own) =>
        (names ++ columns.collect {
          case alias: Alias if names.exists(_.semanticEquals(plain(alias.child))) =>
            alias.toAttribute
        }) -> own
      }
      copy(rows = Projection((columns ++ own).distinctBy(_.exprId), rows), keys = named)
    }
  }

  def apply(join: Join): ChangelogOperator = {
    val name = "FOR SYSTEM_TIME AS OF"
    def refuse(reason: String, instead: String) =
      throw ChangelogErrors.unsupportedOperator(name, reason, instead)
    if (join.joinType != Inner && join.joinType != LeftOuter) {
      refuse(s"it is a ${join.joinType.sql} JOIN", "write it as INNER or LEFT JOIN")
    }
    val left = read(join.left)
    if (!left.facts.changes.insertOnly && version < PlanVersion.changingTimes) {
      refuse("rows of the left side may be deleted or updated", "join the stream before it changes")
    }
    val time = timeOf(join)
    val closing = left.facts.eventTimes.get(time.exprId)
    if (!closing.exists(version < PlanVersion.laterTimes || _.after < 1000L)) {
      refuse(
        "no watermark closes the left side's time: a join of streams or a ranking below may yet emit " +
          "rows of any time",
        "join the source with the versions first"
      )
    }
    val history = historyOf(join.right).getOrElse(refuse(
      "the right side has no versions by a key and a column of event time",
      "make it the newest row of each key: ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) = 1, " +
        "or from_changelog with keys and sequence_by => 'ts', with a watermark on ts"
    ))
    val ofVersions = history.order.head.child.dataType
    if (ofVersions != time.dataType && version >= PlanVersion.changingTimes) {
      refuse(
        s"the left side's time is a ${time.dataType.sql}, and that of the versions a ${ofVersions.sql}",
        "cast one of them below its watermark")
    }
    val conditions = join.condition.toSeq.flatMap(splitConjunctivePredicates)
    val below = new ComputedColumns(Some("_left"))
    val equal = history.keys.map { case (names, _) =>
      def isKey(value: Expression) =
        isOf(value, join.right) && names.exists(_.semanticEquals(value))
      conditions.collectFirst {
        case condition @ EqualTo(a, b) if isKey(b) && isOf(a, join.left) => condition -> a
        case condition @ EqualTo(b, a) if isKey(b) && isOf(a, join.left) => condition -> a
        // Of the left side's values only those that the key's type has can be equal.
        case condition @ EqualTo(a, Widened(b)) if isKey(b) && isOf(a, join.left) =>
          condition -> Cast(a, b.dataType, None, EvalMode.TRY)
        case condition @ EqualTo(Widened(b), a) if isKey(b) && isOf(a, join.left) =>
          condition -> Cast(a, b.dataType, None, EvalMode.TRY)
      }.getOrElse(refuse(
        s"the join has no equality with the key ${UserText.of(names.head)} of the versions",
        "add it to the ON clause"))
    }
    val leftKeys = equal.map(pair => below.of(StateTypes.normalForm(pair._2)))
    val rightKeys = history.keys.map(_._2)
    val residual = conditions.filterNot(c => equal.exists(_._1 eq c)) ++ history.passes
    if (residual.exists(_.exists(_.isInstanceOf[PythonFuncExpression]))) {
      refuse("its condition calls a function in Python", "use a function that runs in the JVM")
    }
    StateTypes.require("JOIN", leftKeys ++ rightKeys)
    val operator = TemporalJoin(
      join.joinType,
      leftKeys,
      rightKeys,
      time,
      history.order.head.child.asInstanceOf[Attribute],
      history.order,
      history.deleted,
      residual.reduceOption(And(_, _)),
      below.over(left),
      history.rows
    )
    Projection(join.output, operator)
  }

  /** A whole number as one of a wider type. */
  private object Widened {
    private def isWhole(dataType: DataType) =
      Seq(ByteType, ShortType, IntegerType, LongType).contains(dataType)
    def unapply(value: Expression): Option[Expression] = value match {
      case cast: Cast
          if isWhole(cast.dataType) && isWhole(cast.child.dataType) &&
            Cast.canUpCast(cast.child.dataType, cast.dataType) => Some(cast.child)
      case _ => None
    }
  }

  private def isOf(value: Expression, side: LogicalPlan) =
    value.references.nonEmpty && value.references.subsetOf(side.outputSet)

  /** The left side's column of event time. */
  private def timeOf(join: Join): Attribute = {
    val text = marked(join.right).flatMap(_.asOf).getOrElse("")
    val found = CatalystSqlParser.parseExpression(text) match {
      case column: UnresolvedAttribute =>
        join.left.resolve(column.nameParts, SQLConf.get.resolver).collect {
          case found: Attribute if isTime(found) => found
        }
      case _ => None
    }
    found.getOrElse(throw ChangelogErrors.unsupportedOperator(
      s"FOR SYSTEM_TIME AS OF $text",
      "it is no column of event time of the left side",
      "name a column with a watermark"))
  }

  private def historyOf(plan: LogicalPlan): Option[History] = plan match {
    case mark: ReadByKey => historyOf(mark.children.head)
    case alias: SubqueryAlias => historyOf(alias.child)
    case _: View | _: InputHint | _: ResolvedHint => historyOf(plan.children.head)
    case RankedVersions(ranked) => ofRanked(ranked, plan.output)
    case project: Project => historyOf(project.child).map(_.project(project.projectList))
    case filter: Filter =>
      historyOf(filter.child).map(its => filtered(its, filter.condition, filter.output))
    case from: FromChangelog if from.keys.nonEmpty => ofChangelog(from)
    case mark: EventTimeWatermark => ReadSource.below(mark).flatMap(historyOf)
    case _ => None
  }

  private def filtered(its: History, condition: Expression, columns: Seq[Attribute]): History = {
    val passes = Alias(condition, "passes")()
    val rows = Projection((columns ++ its.own).distinctBy(_.exprId) :+ passes, its.rows)
    its.copy(rows = rows, passes = its.passes :+ passes.toAttribute)
  }

  private def ofRanked(ranked: RankedWindow, columns: Seq[Attribute]): Option[History] = {
    val rows = read(ranked.window.child)
    val isTimed = ranked.window.orderSpec.headOption.exists(first => isTime(first.child))
    // Versions may come late only as late as the watermark says.
    val isClosed = ranked.window.orderSpec.headOption.flatMap(_.references.headOption)
      .exists(column => rows.facts.eventTimes.contains(column.exprId))
    Option.when(isTimed && isClosed && rows.facts.changes.insertOnly) {
      val below = new ComputedColumns(Some("_version"))
      val keys =
        ranked.window.partitionSpec.map(key => Seq(key) -> below.of(StateTypes.normalForm(key)))
      val order = ranked.window.orderSpec.map(o => o.copy(child = below.of(o.child)))
      val first = Alias(Literal(1), ranked.rank.name)(ranked.rank.exprId)
      val all = History(below.over(rows), keys, order, None, Nil)
        .project(ranked.window.child.output :+ first)
      val projected = ranked.projections.reverse.foldLeft(all)(_.project(_))
      ranked.rest.foldLeft(projected)(filtered(_, _, columns))
    }
  }

  private def ofChangelog(from: FromChangelog): Option[History] = {
    val isTimed = from.sequence.headOption.exists(isTime)
    Some(from.child).collect {
      case StatelessSource(rows) if isTimed =>
        val below = new ComputedColumns(Some("_version"))
        val keys = from.keyColumns.map(key => Seq(key) -> below.of(StateTypes.normalForm(key)))
        val kind = SourceKinds.read(from.opColumn, keyed = true)
        val isDeleted = EqualTo(kind, Literal(RowKind.Delete))
        val isReplaced = EqualTo(kind, Literal(RowKind.UpdateBefore))
        val order = from.sequence.map(c => SortOrder(c.toAttribute, Descending))
        val rowKind = below.of(kind)
        val its =
          if (version >= PlanVersion.endedVersions) {
            // An update may have moved a row to another key, whose old version ends. The row that it
            // replaces is older than any other of its key and time: it may have its own old time.
            val deleted = below.of(Or(isDeleted, isReplaced))
            val first = SortOrder(below.of(isReplaced), Ascending)
            val versions = Selection(IsNotNull(rowKind), below.over(Source(rows)))
            History(versions, keys, order.head +: first +: order.tail, Some(deleted), Nil)
          } else {
            val deleted = below.of(isDeleted)
            val versions = Selection(
              And(IsNotNull(rowKind), Not(EqualTo(rowKind, Literal(RowKind.UpdateBefore)))),
              below.over(Source(rows)))
            History(versions, keys, order, Some(deleted), Nil)
          }
        its.project(from.output)
    }
  }
}

private[changelog] object ReadTemporalJoin {

  /** Whether a plan has a join with the versions of a stream. */
  def isIn(plan: LogicalPlan): Boolean = plan.exists {
    case join: Join => isOf(join)
    case _ => false
  }

  def isOf(join: Join): Boolean =
    join.left.isStreaming && marked(join.right).exists(its => its.isStreaming && its.asOf.nonEmpty)

  private def marked(plan: LogicalPlan): Option[ReadByKey] = plan match {
    case mark: ReadByKey => Some(mark)
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: InputHint | _: ResolvedHint =>
      marked(plan.children.head)
    case _ => None
  }

  /** Spark writes each column of a SQL view as a cast, also to its own type. */
  @tailrec
  private def plain(value: Expression): Expression = value match {
    case cast: Cast if cast.dataType == cast.child.dataType => plain(cast.child)
    case other => other
  }

  private def isTime(value: Expression): Boolean = value match {
    case column: Attribute => column.metadata.contains(EventTimeWatermark.delayKey)
    case _ => false
  }
}

/** The newest row, or the first, of each partition. */
private object RankedVersions {
  def unapply(plan: LogicalPlan): Option[RankedWindow] = plan match {
    case filter: Filter => RankedWindow.unapply(filter).filter { its =>
        its.function == PlaceFunction.RowNumber && its.from <= 1L && its.to == 1L &&
        its.window.isStreaming
      }
    case _ => None
  }
}
