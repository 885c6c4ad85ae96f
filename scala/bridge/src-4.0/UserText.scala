package org.apache.spark.sql.firesteel

import java.lang.reflect.Field

import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}

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
      UserText.originsOf(node.getClass).foreach(_.set(node, own))
    }
}

object UserText {

  def of(text: String): UserText = new UserText(text)

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
