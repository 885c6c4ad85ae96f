package io.firesteel.core.parse

import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.firesteel.{UserText, VersionedParser}
import org.apache.spark.sql.types.{DataType, StructType}

/** A parser for texts with clauses of its own. The delegate parses all others, and all parts of SQL. */
abstract class WrappedParser(override protected val delegate: ParserInterface)
  extends VersionedParser {

  /** The text without this parser's clauses, equally long. */
  protected def ownReadable(sqlText: String): String

  /** Another parser of ours may be right below. */
  final override protected def readable(sqlText: String): String = {
    val own = ownReadable(sqlText)
    delegate match {
      case below: WrappedParser => below.readable(own)
      case _ => own
    }
  }

  private def read[T](sqlText: String, parse: String => T): T =
    withClauses(sqlText).fold(parse(sqlText))(text => parsed(UserText.of(text))(parse))

  override def parsePlan(sqlText: String): LogicalPlan = read(sqlText, delegate.parsePlan)

  /** The bodies of views. */
  override def parseQuery(sqlText: String): LogicalPlan = read(sqlText, delegate.parseQuery)

  /** The bodies of SQL functions, which are scalar subqueries. */
  override def parseExpression(sqlText: String): Expression =
    read(sqlText, delegate.parseExpression)

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
