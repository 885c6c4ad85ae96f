package io.firesteel.lookup

import io.firesteel.testkit.RoomSuite
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.analysis.RelationTimeTravel
import org.apache.spark.sql.catalyst.expressions.{EqualTo, Literal}
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkSqlParser
import org.apache.spark.sql.firesteel.TravelInTime
import org.scalatest.BeforeAndAfterEach

/**
 * A session with the parser, and with a rule that notes the lookups it sees and removes the time
 * from each table. So the session's answers are those of a plain join.
 */
abstract class ParserSuite extends RoomSuite with BeforeAndAfterEach {

  protected lazy val stockParser: ParserInterface = {
    spark // the parsers read its settings
    new SparkSqlParser
  }

  protected lazy val parser: ParserInterface = new LookupParser(stockParser)

  /** Texts of hint parameters and times, in the order in which the analyser saw them. */
  protected var seen: Seq[String] = Nil

  override protected def beforeEach(): Unit = {
    super.beforeEach()
    seen = Nil
  }

  /** Scripts; on by default since Spark 4.1. */
  override protected def settings: Map[String, String] =
    Map("spark.sql.scripting.enabled" -> "true")

  override protected def install(extensions: SparkSessionExtensions): Unit = {
    extensions.injectParser((_, delegate) => new LookupParser(delegate))
    extensions.injectHintResolutionRule(_ => NoteLookups)
  }

  private object NoteLookups extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
      case hint: UnresolvedHint =>
        seen ++= hintsOf(hint)
        hint.child
      case table: LookupTable =>
        seen ++= timesOf(table)
        table.child
      case TravelInTime(relation, _) => relation
    }
  }

  /** Each `LOOKUP` hint of a plan as its parameters, `key=value` where they are two literals. */
  protected def hintsOf(plan: LogicalPlan): Seq[String] = collect(plan) {
    case hint: UnresolvedHint =>
      val parameters = hint.parameters.map {
        case EqualTo(Literal(key, _), Literal(value, _)) => s"$key=$value"
        case other => other.toString
      }
      parameters.mkString(s"${hint.name}(", ", ", ")")
  }

  /** Each time of a plan: of a lookup, or of Spark's time travel, or the version of that. */
  protected def timesOf(plan: LogicalPlan): Seq[String] = collect(plan) {
    case table: LookupTable => table.asOf.fold("")(time => s"as of $time")
    case travel: RelationTimeTravel =>
      travel.timestamp.map { case Literal(time, _) => time.toString; case other => other.sql }
        .orElse(travel.version).get
  }

  private def collect(plan: LogicalPlan)(what: PartialFunction[LogicalPlan, String]): Seq[String] =
    plan.collectWithSubqueries(what) ++ plan.innerChildren.flatMap {
      case inner: LogicalPlan => collect(inner)(what)
      case _ => Nil
    }

  /** The text of a plan and its subqueries, without ids that differ between parses. */
  protected def show(plan: LogicalPlan): String = {
    val text = plan.treeString.replaceAll("#\\d+", "#").replaceAll("Body [0-9a-f-]{36}", "Body")
    (text +: plan.subqueries.map(show)).mkString("\n")
  }

  /** The plan's text, or the whole error. */
  protected def outcome(parse: => LogicalPlan): Either[String, String] =
    try Right(show(parse))
    catch { case e: ParseException => Left(e.getMessage) }

  protected def error(parse: => Any): ParseException = intercept[ParseException](parse)
}
