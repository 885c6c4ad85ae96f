package io.firesteel.changelog.common

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, RaiseError}
import org.apache.spark.sql.types.{DataType, MapType, StringType}

/** Spark's error of a subquery in the place of a value that has more than one row. */
private[changelog] object TooManyRows {

  def apply(dataType: DataType): Expression =
    RaiseError(
      Literal("SCALAR_SUBQUERY_TOO_MANY_ROWS"),
      Literal.create(Map.empty[String, String], MapType(StringType, StringType)),
      dataType)
}
