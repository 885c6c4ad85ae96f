package io.firesteel.lookup

import scala.jdk.CollectionConverters.{ListHasAsScala, SeqHasAsJava}

import org.antlr.v4.runtime.{CommonTokenStream, ListTokenSource}
import org.apache.spark.sql.catalyst.parser.{AbstractSqlParser, SqlBaseParser}
import org.apache.spark.sql.execution.SparkSqlAstBuilder
import org.apache.spark.sql.firesteel.ParameterBinding
import org.apache.spark.sql.internal.VariableSubstitution

/**
 * Spark's SQL parser, with [[LookupTokens]] between its lexer and its grammar.
 *
 * @param substitute replaces variables (`${x}`) in a text
 */
private[lookup] final class LookupSqlParser(override protected val substitute: String => String)
  extends AbstractSqlParser
  with ParameterBinding {

  def this() = this(new VariableSubstitution().substitute(_))

  override val astBuilder: SparkSqlAstBuilder = new SparkSqlAstBuilder

  override protected def parse[T](command: String)(toResult: SqlBaseParser => T): T =
    super.parse(substitute(command)) { parser =>
      rewriteTokens(parser)
      toResult(parser)
    }

  /** Spark calls this once or, after a failure in its fast mode, twice with the same parser. */
  private def rewriteTokens(parser: SqlBaseParser): Unit = parser.getTokenStream match {
    case lexed: CommonTokenStream if !lexed.getTokenSource.isInstanceOf[ListTokenSource] =>
      lexed.fill()
      val tokens = LookupTokens.rewrite(
        lexed.getTokens.asScala.toIndexedSeq,
        parser.double_quoted_identifiers)
      parser.setTokenStream(new CommonTokenStream(new ListTokenSource(tokens.asJava)))
    case _ => ()
  }

  override protected def plain(sqlText: String): String = LookupText.withoutPairs(sqlText)

  override protected def ofBoundText: LookupSqlParser = LookupSqlParser.ofBoundText
}

private object LookupSqlParser {

  private val ofBoundText = new LookupSqlParser(identity)
}
