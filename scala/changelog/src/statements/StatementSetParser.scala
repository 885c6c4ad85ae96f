package io.firesteel.changelog.statements

import io.firesteel.core.parse.WrappedParser

import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.CompoundBody
import org.apache.spark.sql.firesteel.UserText
import org.apache.spark.sql.internal.SQLConf

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
final private[changelog] class StatementSetParser(delegate: ParserInterface)
  extends WrappedParser(delegate) {

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

  override protected def ownReadable(sqlText: String): String =
    StatementSetText.script(sqlText).getOrElse(sqlText)
}
