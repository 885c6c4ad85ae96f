package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.{ChangelogOperator, Projection, UserText}
import io.firesteel.changelog.sql.Clock
import io.firesteel.changelog.state.PlanVersion

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.expressions.{AesEncrypt, CurrentDate, CurrentTimestamp, Expression, LocalTimestamp, Now, RuntimeReplaceable, SubqueryExpression, UserDefinedExpression}

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

  /**
   * Whether it may be evaluated once more, and of other rows. Users' functions are called once, see
   * `PlanVersion.usersFunctionsAbove`.
   */
  def isFree(expression: Expression, version: Int): Boolean = !varies(expression) &&
    (version < PlanVersion.usersFunctionsAbove ||
      !expression.exists(_.isInstanceOf[UserDefinedExpression]))

  /** Whether the expression may have another value when it is evaluated again. */
  private[parse] def varies(expression: Expression): Boolean =
    !expression.deterministic || SubqueryExpression.hasSubquery(expression) ||
      expression.exists {
        case replaced: RuntimeReplaceable =>
          drawsBytes(replaced) || Clock.reads(replaced) || varies(replaced.replacement)
        case other => Clock.reads(other)
      }

  /**
   * Whether an expression that Spark takes for deterministic has another value where a micro-batch is
   * repeated. The times of a micro-batch are in its entry of the log; `now()` becomes one of them.
   */
  def differsAgain(expression: Expression): Boolean = expression.exists {
    case replaced: RuntimeReplaceable =>
      drawsBytes(replaced) || isOtherTime(replaced) || differsAgain(replaced.replacement)
    case other => isOtherTime(other)
  }

  private def isOtherTime(expression: Expression): Boolean = expression match {
    case _: CurrentTimestamp | _: LocalTimestamp | _: CurrentDate | _: Now => false
    case other => Clock.reads(other)
  }

  /**
   * Whether an aggregate function draws numbers, so that its result of the same rows is another one each
   * time: the sketches that drop every other value by chance.
   */
  def draws(function: Expression): Boolean = function.exists { its =>
    Seq("kll_sketch_agg", "kll_merge_agg").exists(its.prettyName.startsWith)
  }

  def drawn(function: Expression): Throwable = ChangelogErrors.unsupportedFunction(
    UserText.of(function),
    "it drops values by chance, so that a row with its result could not be taken back")

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
}
