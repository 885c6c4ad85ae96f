package org.apache.spark.sql.firesteel

import java.lang.reflect.Field

import scala.jdk.CollectionConverters.MapHasAsScala

import org.apache.spark.sql.catalyst.expressions.SupportQueryContext
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.{Origin, SQLQueryContext, TreeNode}

/**
 * The text that errors show, while a parser reads another one of the same length in its place.
 *
 * Spark 4.0 writes the text that it reads into the plan; the nodes get the user's afterwards.
 */
final class UserText private (val text: String) {

  /** Runs a parser on `plain`, the other text. */
  def whileParsing[T](parse: => T): T = parse

  /** Replaces `plain` by the user's text in a node that the parser made. */
  def showIn(node: TreeNode[_], plain: String): Unit =
    if (node.origin.sqlText.contains(plain)) {
      val own = node.origin.copy(sqlText = Some(text))
      UserText.ORIGINS.get(node.getClass).foreach(_.set(node, own))
      node match {
        // What it shows when it fails was made from the origin before.
        case fails: SupportQueryContext =>
          val _ = UserText.SET_CONTEXT.invoke(fails, fails.initQueryContext())
        case _ => ()
      }
    }

  /** Replaces `plain` by the user's text in an error of the parser. */
  def showIn(error: ParseException, plain: String): ParseException = {
    val contexts = error.getQueryContext.map {
      case context: SQLQueryContext if context.sqlText.contains(plain) =>
        context.copy(sqlText = Some(text))
      case other => other
    }
    new ParseException(
      Some(text),
      error.start,
      error.stop,
      error.getCondition,
      error.getMessageParameters.asScala.toMap,
      contexts)
  }
}

object UserText {

  def of(text: String): UserText = new UserText(text)

  private val ORIGINS = new ClassValue[Seq[Field]] {
    override protected def computeValue(node: Class[_]): Seq[Field] = originsOf(node)
  }

  /** Protected in Scala. */
  private val SET_CONTEXT =
    classOf[SupportQueryContext].getMethod("queryContext_$eq", classOf[Option[_]])

  /**
   * A node has its origin from its thread when it is made, and no copy has another one. Statements of
   * scripts have a field of their own beside the one of all nodes.
   */
  private def originsOf(node: Class[_]): Seq[Field] =
    if (node == null) Nil
    else {
      val own = node.getDeclaredFields.toSeq.filter { field =>
        field.getName == "origin" && field.getType == classOf[Origin]
      }
      own.foreach(_.setAccessible(true))
      own ++ originsOf(node.getSuperclass)
    }
}
