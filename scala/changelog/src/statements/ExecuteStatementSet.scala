package io.firesteel.changelog.statements

import io.firesteel.changelog.common.ChangelogErrors

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAlias, UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, CreateNamedStruct, EqualTo, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{CompoundPlanStatement, InsertIntoStatement, LocalRelation, LogicalPlan, Project, SingleStatement, UnresolvedWith}
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.firesteel.{dataFrameOf, executionOf}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.types.{BooleanType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Starts a statement set of the targets and queries of `INSERT` statements, and returns the id of the
 * streaming query and of its run. `INSERT INTO` is a statement in append mode, `INSERT OVERWRITE` one
 * in complete mode.
 */
final private[statements] case class ExecuteStatementSet(
    options: Map[String, String],
    inserts: Seq[ExecuteStatementSet.Insert])
  extends LeafRunnableCommand {

  override val output: Seq[Attribute] =
    Seq("query_id", "run_id").map(AttributeReference(_, StringType, nullable = false)())

  override def run(session: SparkSession): Seq[Row] = {
    val set = new StatementSet(session, required("checkpoint"), flag("parallel"))
    inserts.foreach { insert =>
      val (name, statement, plan) = insert
      val query = dataFrameOf(session, plan)
      if (!query.isStreaming) {
        throw ChangelogErrors.badStatementSet(s"The query for $name is not streaming.")
      }
      requireTarget(session, statement, executionOf(query).analyzed)
      val mode = if (statement.overwrite) "complete" else "append"
      val target = new StatementTarget.Insert(name, statement, session)
      set.insert(name, query, target, mode, from)
    }
    val query = start(set)
    Seq(Row(query.id.toString, query.runId.toString))
  }

  /** The table must be there, and take the columns. */
  private def requireTarget(
      session: SparkSession,
      insert: InsertIntoStatement,
      query: LogicalPlan): Unit = {
    val rows = LocalRelation(query.output.map(_.newInstance()))
    val _ = executionOf(session, insert.copy(query = rows)).analyzed
  }

  private def start(set: StatementSet): StreamingQuery = options.get("name") match {
    case Some(name) => set.start(trigger, name)
    case None => set.start(trigger)
  }

  private def trigger: Trigger = options.get("trigger") match {
    case None => Trigger.ProcessingTime(0L)
    case Some(text) if text.equalsIgnoreCase("availableNow") => Trigger.AvailableNow()
    case Some(interval) =>
      try Trigger.ProcessingTime(interval)
      catch {
        case NonFatal(_) => throw ChangelogErrors.badStatementSet(
            s"The option trigger is '$interval', and must be availableNow or an interval such as " +
              "10 seconds.")
      }
  }

  private def from: String = options.get("from").fold("") { text =>
    val lower = text.toLowerCase(Locale.ROOT)
    if (!Seq("start", "now").contains(lower)) {
      throw ChangelogErrors.badStatementSet(
        s"The option from is '$text', and must be start or now.")
    }
    lower
  }

  private def required(name: String): String = options.getOrElse(
    name,
    throw ChangelogErrors.badStatementSet(s"The option $name is missing."))

  private def flag(name: String): Boolean = options.get(name).exists { text =>
    text.toBooleanOption.getOrElse(
      throw ChangelogErrors.badStatementSet(
        s"The option $name is '$text', and must be true or false."))
  }
}

private[statements] object ExecuteStatementSet {

  private val names = Seq("checkpoint", "trigger", "name", "parallel", "from")

  /**
   * One `INSERT`: the table as the text has it, the statement, and the query with its common table
   * expressions. A parser above this one finds its clauses in tuples, as in Spark's own nodes.
   */
  type Insert = (String, InsertIntoStatement, LogicalPlan)

  /** @param hasOptions whether the first statement of the script is `SELECT` with the options */
  def of(script: Seq[CompoundPlanStatement], hasOptions: Boolean): ExecuteStatementSet = {
    val plans = script.map {
      case single: SingleStatement => single.parsedPlan
      case _ => throw onlyInserts
    }
    val (before, statements) = plans.splitAt(if (hasOptions) 1 else 0)
    if (statements.isEmpty) throw ChangelogErrors.badStatementSet("There is no statement.")
    val inserts = statements.map {
      case insert: InsertIntoStatement => of(insert, insert.query)
      case tables: UnresolvedWith => tables.child match {
          case insert: InsertIntoStatement => of(insert, tables.copy(child = insert.query))
          case _ => throw onlyInserts
        }
      case _ => throw onlyInserts
    }
    val targets = inserts.map(_._1.toLowerCase(Locale.ROOT))
    targets.diff(targets.distinct).headOption.foreach { twice =>
      throw ChangelogErrors.badStatementSet(
        s"Two statements write to $twice: write the union of their queries.")
    }
    ExecuteStatementSet(before.headOption.fold(Map.empty[String, String])(options), inserts)
  }

  private def of(insert: InsertIntoStatement, query: LogicalPlan): Insert = insert.table match {
    case table: UnresolvedRelation =>
      (quoted(table.multipartIdentifier), insert, query)
    case _ => throw onlyInserts
  }

  private def quoted(name: Seq[String]): String = name.map { part =>
    if (part.matches("[A-Za-z0-9_]+")) part else s"`${part.replace("`", "``")}`"
  }.mkString(".")

  private def onlyInserts: Throwable = ChangelogErrors.badStatementSet(
    "The statements of a statement set are INSERT INTO and INSERT OVERWRITE of a table.")

  private def options(select: LogicalPlan): Map[String, String] = {
    val read = select match {
      case Project(Seq(one), _) => pairs(one).map(option)
      case _ => Nil
    }
    if (read.isEmpty) throw badOption("An option")
    read.map(_._1).diff(read.map(_._1).distinct).headOption.foreach { twice =>
      throw ChangelogErrors.badStatementSet(s"The option $twice is there twice.")
    }
    read.toMap
  }

  private def pairs(options: Expression): Seq[Expression] = options match {
    case Alias(child, _) => pairs(child)
    case alias: UnresolvedAlias => pairs(alias.child)
    case struct: CreateNamedStruct => struct.valExprs
    case other => Seq(other)
  }

  private def option(pair: Expression): (String, String) = pair match {
    case EqualTo(Name(name), Text(value)) =>
      val known = name.toLowerCase(Locale.ROOT)
      if (!names.contains(known)) {
        throw ChangelogErrors.badStatementSet(
          s"The option $name is unknown. Known are ${names.mkString(", ")}.")
      }
      known -> value
    case other => throw badOption(other.sql)
  }

  private def badOption(text: String): Throwable =
    ChangelogErrors.badStatementSet(s"$text is no option of the form 'name' = 'value'.")

  private object Name {
    def unapply(expression: Expression): Option[String] = expression match {
      case column: UnresolvedAttribute if column.nameParts.size == 1 => column.nameParts.headOption
      case Text(name) => Some(name)
      case _ => None
    }
  }

  private object Text {
    def unapply(expression: Expression): Option[String] = expression match {
      case Literal(text: UTF8String, _) => Some(text.toString)
      case Literal(flag: Boolean, BooleanType) => Some(flag.toString)
      case _ => None
    }
  }
}
