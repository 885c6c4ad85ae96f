package io.firesteel.changelog.sql

import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, Expression}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StringType

/** A value of any type as text, for types that Spark can neither compare nor hash. */
private[changelog] object ValueText {

  def of(value: Expression): Expression =
    Cast(value, StringType, Some(SQLConf.get.sessionLocalTimeZone), EvalMode.LEGACY)
}
