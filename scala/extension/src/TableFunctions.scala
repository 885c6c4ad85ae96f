package io.firesteel.extension

import io.firesteel.core.errors.FiresteelAnalysisException
import org.apache.spark.sql.catalyst.expressions.Expression

/** Code that the table functions share. */
private[extension] object TableFunctions {

  /** Refuses a call that has more or fewer arguments than `names`. */
  def requireArguments(function: String, names: Seq[String], arguments: Seq[Expression]): Unit =
    if (arguments.length != names.length) {
      throw new FiresteelAnalysisException(
        "FIRESTEEL_WRONG_ARGUMENTS",
        Map(
          "call" -> arguments.map(_.sql).mkString(s"$function(", ", ", ")"),
          "expected" -> names.mkString(s"$function(", ", ", ")")))
    }
}
