package io.firesteel.core.parse

import scala.jdk.CollectionConverters.ListHasAsScala

import org.antlr.v4.runtime.{CharStream, CharStreams, IntStream, Token}
import org.antlr.v4.runtime.misc.Interval
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/** The tokens of a SQL text, by Spark's own lexer. */
object SqlTokens {

  /** All tokens of a text, blanks and comments included, without the end of file. */
  def all(sqlText: String): IndexedSeq[Token] = {
    val lexer = new SqlBaseLexer(new Capitals(CharStreams.fromString(sqlText)))
    lexer.removeErrorListeners()
    lexer.getAllTokens.asScala.toIndexedSeq
  }

  /** The tokens that a grammar reads. */
  def of(sqlText: String): IndexedSeq[Token] =
    all(sqlText).filter(_.getChannel == Token.DEFAULT_CHANNEL)

  /** The lexer knows capitals only, and Spark's own upper-case stream is not accessible. */
  private final class Capitals(text: CharStream) extends CharStream {

    override def LA(offset: Int): Int = text.LA(offset) match {
      case IntStream.EOF => IntStream.EOF
      case point => Character.toUpperCase(point)
    }

    override def getText(interval: Interval): String = text.getText(interval)
    override def consume(): Unit = text.consume()
    override def mark(): Int = text.mark()
    override def release(marker: Int): Unit = text.release(marker)
    override def index(): Int = text.index()
    override def seek(index: Int): Unit = text.seek(index)
    override def size(): Int = text.size()
    override def getSourceName: String = text.getSourceName
  }
}
