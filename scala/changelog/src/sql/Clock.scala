package io.firesteel.changelog.sql

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Cast, CurrentCatalog, CurrentDatabase, CurrentTimeZone, CurrentUser, Expression, RuntimeReplaceable}
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.types.{DateType, StringType, TimestampNTZType, TimestampType}

/** Expressions that read the clock, and so have another value in another micro-batch. */
private[changelog] object Clock {

  def isIn(expression: Expression): Boolean = expression.exists {
    case replaced: RuntimeReplaceable => reads(replaced) || isIn(replaced.replacement)
    case other => reads(other)
  }

  /** Whether the expression reads it itself, and not one below. */
  def reads(expression: Expression): Boolean = expression match {
    case special: Cast if isNamed(special) => true
    case other => isCurrent(other)
  }

  /** `CAST('now' AS TIMESTAMP)`, which the optimizer computes in each micro-batch. */
  private def isNamed(cast: Cast): Boolean = nameIn(cast).exists(names)

  /** Whether an expression has `CAST('epoch' AS TIMESTAMP)`, which the optimizer alone computes. */
  def hasEpoch(expression: Expression): Boolean = expression.exists {
    case cast: Cast => nameIn(cast).contains("epoch")
    case _ => false
  }

  /** The word with which a constant text begins that is cast to a time. A zone may follow. */
  private def nameIn(cast: Cast): Option[String] =
    if (Seq(TimestampType, TimestampNTZType, DateType).contains(cast.dataType) &&
      cast.child.foldable && cast.child.dataType.isInstanceOf[StringType])
      Option(cast.child.eval())
        .map(_.toString.trim.takeWhile(_.isLetter).toLowerCase(Locale.ROOT))
    else None

  private val names = Set("now", "today", "yesterday", "tomorrow")

  /** The current time changes. The zone, user and catalog of a running query do not. */
  private def isCurrent(expression: Expression): Boolean = expression match {
    case _: CurrentTimeZone | _: CurrentUser | _: CurrentDatabase | _: CurrentCatalog => false
    case other =>
      other.containsPattern(CURRENT_LIKE) && !other.children.exists(_.containsPattern(CURRENT_LIKE))
  }
}
