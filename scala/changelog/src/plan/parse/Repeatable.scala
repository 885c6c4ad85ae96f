package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.{ChangelogOperator, Projection, UserText}

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{AesEncrypt, Cast, CurrentCatalog, CurrentDatabase, CurrentTimeZone, CurrentUser, Expression, RuntimeReplaceable, SubqueryExpression, UserDefinedExpression}
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.types.{DateType, StringType, TimestampNTZType, TimestampType}

/** Expressions that give the same value again: a retraction must repeat the row as it was emitted. */
private[changelog] object Repeatable {

  /** Requires the columns of all projections to be repeatable; columns that nothing reads are gone. */
  def require(query: ChangelogOperator): Unit = {
    query.inputs.foreach(require)
    query match {
      case Projection(columns, input) => require("Project", columns, input)
      case _ => ()
    }
  }

  private[parse] def require(
      operator: String,
      expressions: Seq[Expression],
      input: ChangelogOperator): Unit =
    if (!input.facts.changes.insertOnly) {
      expressions.find(varies).foreach { e =>
        throw ChangelogErrors.notRepeatable(operator, UserText.of(e))
      }
    }

  /** Whether it may be evaluated once more, and of other rows: users' functions are called once. */
  def isFree(expression: Expression): Boolean =
    !varies(expression) && !expression.exists(_.isInstanceOf[UserDefinedExpression])

  /** Whether the expression may have another value when it is evaluated again. */
  private[parse] def varies(expression: Expression): Boolean =
    !expression.deterministic || SubqueryExpression.hasSubquery(expression) ||
      expression.exists {
        case special: Cast if isClock(special) => true
        case replaced: RuntimeReplaceable => drawsBytes(replaced) || varies(replaced.replacement)
        case other => isCurrent(other)
      }

  /** `CAST('now' AS TIMESTAMP)`, which the optimizer computes in each micro-batch. */
  private def isClock(cast: Cast): Boolean =
    Seq(TimestampType, TimestampNTZType, DateType).contains(cast.dataType) &&
      cast.child.foldable && cast.child.dataType.isInstanceOf[StringType] &&
      Option(cast.child.eval()).exists(text => names(text.toString.trim.toLowerCase(Locale.ROOT)))

  private val names = Set("now", "today", "yesterday", "tomorrow")

  /** Without an initialization vector one is drawn for each row, if the mode has one. */
  private def drawsBytes(function: Expression): Boolean = function match {
    case encrypt: AesEncrypt => isText(encrypt.iv, "") && !isText(encrypt.mode, "ECB")
    case _ => false
  }

  private def isText(value: Expression, text: String): Boolean = value.foldable &&
    (value.eval() match {
      case null => false
      case bytes: Array[Byte] => new String(bytes, UTF_8).equalsIgnoreCase(text)
      case other => other.toString.equalsIgnoreCase(text)
    })

  /** The current time changes. The zone, user and catalog of a running query do not. */
  private def isCurrent(expression: Expression): Boolean = expression match {
    case _: CurrentTimeZone | _: CurrentUser | _: CurrentDatabase | _: CurrentCatalog => false
    case other =>
      other.containsPattern(CURRENT_LIKE) && !other.children.exists(_.containsPattern(CURRENT_LIKE))
  }
}
