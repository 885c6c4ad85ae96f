package io.firesteel.extension

import io.firesteel.core.errors.FiresteelAnalysisException
import org.apache.spark.sql.catalyst.expressions.Expression

/** What the table functions have in common. */
private[extension] object TableFunctions {

  /** Refuses a call whose number of arguments is not that of `names`. */
  def requireArguments(function: String, names: Seq[String], arguments: Seq[Expression]): Unit =
    if (arguments.length != names.length) {
      throw new FiresteelAnalysisException(
        "FIRESTEEL_WRONG_ARGUMENTS",
        Map(
          "call" -> arguments.map(_.sql).mkString(s"$function(", ", ", ")"),
          "expected" -> names.mkString(s"$function(", ", ", ")")))
    }
}
