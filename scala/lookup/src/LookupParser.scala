package io.firesteel.lookup

import io.firesteel.core.parse.WrappedParser

import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.firesteel.UserText
import org.apache.spark.sql.internal.{SQLConf, VariableSubstitution}

/**
 * Takes Flink's text for a lookup join verbatim.
 *
 * {{{
 *   SELECT /*+ LOOKUP('table'='c', 'shuffle'='true') */ o.id, c.country
 *   FROM orders AS o JOIN customers FOR SYSTEM_TIME AS OF o.proc_time AS c ON o.customer_id = c.id
 * }}}
 *
 * The hint becomes `UnresolvedHint("LOOKUP", Seq('table' = 'c', 'shuffle' = 'true'), ...)`, the
 * clause `LookupTable(customers, as of o.proc_time)`.
 *
 * The delegate parses every text. A text with such clauses becomes a [[PlainText]] for that time, so
 * Spark's parser takes it, and other extensions' parsers see each statement wherever they stand in
 * `spark.sql.extensions`. [[RestoreClauses]] gives their result the user's clauses and text.
 */
private[lookup] final class LookupParser(delegate: ParserInterface)
  extends WrappedParser(delegate) {

  private val variables = new VariableSubstitution

  /** A variable (`${x}`) may contain such a clause. */
  override protected def withClauses(sqlText: String): Option[String] = {
    val text = if (sqlText.contains("${")) variables.substitute(sqlText) else sqlText
    Some(text).filter(LookupText.hasClauses)
  }

  override protected def parsed[T](shown: UserText)(parse: String => T): T = {
    val text = LookupText.plain(shown.text)
    val restore = new RestoreClauses(text, shown)
    try restore(asItIs(text.plain)(shown.whileParsing(parse(text.plain))))
    catch {
      case e: ParseException if e.command.contains(text.plain) => throw shown.showIn(e, text.plain)
    }
  }

  /** Without variables, which are replaced already: a parameter's value may read `${x}`. */
  private def asItIs[T](text: String)(parse: => T): T =
    if (!text.contains("${")) parse
    else {
      val literal = SQLConf.get.clone()
      literal.setConf(SQLConf.VARIABLE_SUBSTITUTE_ENABLED, false)
      SQLConf.withExistingConf(literal)(parse)
    }

  override protected def ownReadable(sqlText: String): String = LookupText.withoutPairs(sqlText)
}
