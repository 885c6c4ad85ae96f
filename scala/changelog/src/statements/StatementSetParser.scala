package io.firesteel.changelog.statements

import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.{CompoundBody, LogicalPlan}
import org.apache.spark.sql.firesteel.{UserText, VersionedParser}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Takes Flink's text for a statement set.
 *
 * {{{
 *   EXECUTE STATEMENT SET OPTIONS ('checkpoint' = '/folder', 'trigger' = 'availableNow') BEGIN
 *     INSERT INTO a SELECT ...;
 *     INSERT OVERWRITE b SELECT ...;
 *   END
 * }}}
 *
 * The delegate parses every text, this one as the script of [[StatementSetText]].
 */
final private[changelog] class StatementSetParser(
    override protected val delegate: ParserInterface)
  extends VersionedParser {

  override protected def withClauses(sqlText: String): Option[String] =
    Some(sqlText).filter(StatementSetText.script(_).nonEmpty)

  override protected def parsed[T](shown: UserText)(parse: String => T): T =
    StatementSetText.script(shown.text).fold(parse(shown.text)) { script =>
      try
        shown.whileParsing(asScript(parse(script))) match {
          case body: CompoundBody =>
            val hasOptions = StatementSetText.hasOptions(shown.text)
            ExecuteStatementSet.of(body.collection, hasOptions).asInstanceOf[T]
          case other => other
        }
      catch {
        case e: ParseException if e.command.contains(script) => throw shown.showIn(e, script)
      }
    }

  /** Spark 4.0 reads scripts only if they are switched on. */
  private def asScript[T](parse: => T): T = {
    val scripting = SQLConf.get.clone()
    scripting.setConfString("spark.sql.scripting.enabled", "true")
    SQLConf.withExistingConf(scripting)(parse)
  }

  override protected def readable(sqlText: String): String =
    StatementSetText.script(sqlText).getOrElse(sqlText)

  override def parsePlan(sqlText: String): LogicalPlan =
    withClauses(sqlText).fold(delegate.parsePlan(sqlText)) { text =>
      parsed(UserText.of(text))(delegate.parsePlan)
    }

  override def parseQuery(sqlText: String): LogicalPlan = delegate.parseQuery(sqlText)

  override def parseExpression(sqlText: String): Expression = delegate.parseExpression(sqlText)

  override def parseTableIdentifier(sqlText: String): TableIdentifier =
    delegate.parseTableIdentifier(sqlText)

  override def parseFunctionIdentifier(sqlText: String): FunctionIdentifier =
    delegate.parseFunctionIdentifier(sqlText)

  override def parseMultipartIdentifier(sqlText: String): Seq[String] =
    delegate.parseMultipartIdentifier(sqlText)

  override def parseRoutineParam(sqlText: String): StructType = delegate.parseRoutineParam(sqlText)

  override def parseTableSchema(sqlText: String): StructType = delegate.parseTableSchema(sqlText)

  override def parseDataType(sqlText: String): DataType = delegate.parseDataType(sqlText)
}
