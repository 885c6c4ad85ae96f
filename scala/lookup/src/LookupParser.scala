package io.firesteel.lookup

import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.firesteel.VersionedParser
import org.apache.spark.sql.internal.VariableSubstitution
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Takes Flink's text for a lookup join verbatim.
 *
 * {{{
 *   SELECT /*+ LOOKUP('table'='c', 'shuffle'='true') */ o.id, c.country
 *   FROM orders AS o JOIN customers FOR SYSTEM_TIME AS OF o.proc_time AS c ON o.customer_id = c.id
 * }}}
 *
 * The hint becomes `UnresolvedHint("LOOKUP", Seq('table' = 'c', 'shuffle' = 'true'), ...)`, the
 * clause `RelationTimeTravel(customers, Some("firesteel:asof:o.proc_time"), None)`.
 *
 * A text with such a hint or with a column as its time goes to Spark's own parser with a few tokens
 * changed ([[LookupTokens]]); any other text goes to `delegate` as it is. So another extension's
 * parser, when it is the delegate, does not see the former: it has to be installed after this one
 * where it is to see everything, and its delegate is then this parser.
 */
final class LookupParser(override protected val delegate: ParserInterface)
  extends VersionedParser {

  private val lookups = new LookupSqlParser

  private val variables = new VariableSubstitution

  /** A variable (`${x}`) may contain such a clause; both parsers replace variables themselves. */
  override protected def parserOf(sqlText: String): ParserInterface = {
    val text = if (sqlText.contains("${")) variables.substitute(sqlText) else sqlText
    if (LookupText.hasClauses(text)) lookups else delegate
  }

  override protected def plain(sqlText: String): String = LookupText.withoutPairs(sqlText)

  override def parsePlan(sqlText: String): LogicalPlan = parserOf(sqlText).parsePlan(sqlText)

  /** The bodies of views. */
  override def parseQuery(sqlText: String): LogicalPlan = parserOf(sqlText).parseQuery(sqlText)

  /** The bodies of SQL functions, which are scalar subqueries. */
  override def parseExpression(sqlText: String): Expression =
    parserOf(sqlText).parseExpression(sqlText)

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
