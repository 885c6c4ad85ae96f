package io.firesteel.lookup

import io.firesteel.core.errors.{FiresteelAnalysisException, FiresteelException}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.commons.text.similarity.LevenshteinDistance

/** Errors of the room. Each names the value, and says what to do next. */
private[lookup] object LookupErrors {

  def unknownOption(name: String, known: Seq[String]): Throwable = {
    val distance = LevenshteinDistance.getDefaultInstance
    val near = known.sortBy(other => (distance.apply(other, name).intValue, other)).take(3)
    analysis("UNKNOWN_OPTION", "option" -> name, "suggestions" -> near.mkString(", "))
  }

  def badOption(name: String, value: String, expected: String): Throwable =
    analysis("BAD_OPTION", "option" -> name, "value" -> value, "expected" -> expected)

  /** @param example a valid value */
  def missingOption(name: String, because: String, example: String): Throwable =
    analysis("MISSING_OPTION", "option" -> name, "because" -> because, "example" -> example)

  /** @param cure the option without which it has no effect */
  def unusedOption(name: String, cure: String): Throwable =
    analysis("UNUSED_OPTION", "option" -> name, "cure" -> cure)

  def incompleteRetry(present: Seq[String], absent: Seq[String]): Throwable =
    analysis(
      "INCOMPLETE_RETRY",
      "present" -> present.mkString(", "),
      "absent" -> absent.mkString(", "))

  def unboundedCache(): Throwable = analysis("UNBOUNDED_CACHE")

  def malformedHint(written: String): Throwable = analysis("MALFORMED_HINT", "written" -> written)

  def parameterInHint(written: String, version: String): Throwable =
    analysis("PARAMETER_IN_HINT", "written" -> written, "version" -> version)

  def clauseTaken(clause: String): Throwable = analysis("CLAUSE_TAKEN", "clause" -> clause)

  def untakenHint(written: String): Throwable = analysis("UNTAKEN_HINT", "written" -> written)

  def hintWithoutTable(written: String, joined: Seq[String]): Throwable =
    analysis("HINT_WITHOUT_TABLE", "written" -> written, "joined" -> listed(joined))

  def tableNotJoined(table: String, joined: Seq[String]): Throwable =
    analysis(
      "TABLE_NOT_JOINED",
      "table" -> table,
      "joined" -> listed(joined))

  def unsupportedJoin(table: String, joinType: String): Throwable =
    analysis("UNSUPPORTED_JOIN", "table" -> table, "joinType" -> joinType)

  def unknownTimeColumn(column: String, known: Seq[String]): Throwable =
    analysis("UNKNOWN_TIME_COLUMN", "column" -> column, "columns" -> known.mkString(", "))

  def notATime(column: String, dataType: String): Throwable =
    analysis("NOT_A_TIME", "column" -> column, "type" -> dataType)

  def switchedOff(table: String): Throwable = analysis("SWITCHED_OFF", "table" -> table)

  def noKey(table: String, equalities: Seq[String], condition: String): Throwable =
    analysis(
      "NO_KEY",
      "table" -> table,
      "candidates" -> listed(equalities),
      "condition" -> condition)

  def unusableKey(table: String, reasons: Seq[(String, String)]): Throwable =
    analysis(
      "UNUSABLE_KEY",
      "table" -> table,
      "columns" -> listed(reasons.map(_._1)),
      "reasons" -> reasons.map { case (column, why) => s"$column: $why." }.mkString(" "))

  /** @param cast the expression to write instead of `condition` */
  def keyOfAnotherType(
      table: String,
      column: Attribute,
      comparedAs: String,
      condition: String,
      cast: String): Throwable =
    analysis(
      "KEY_OF_ANOTHER_TYPE",
      "table" -> table,
      "column" -> column.name,
      "type" -> column.dataType.sql,
      "comparedAs" -> comparedAs,
      "condition" -> condition,
      "cast" -> cast)

  def unsupportedKey(table: String, column: String, dataType: String): Throwable =
    analysis("UNSUPPORTED_KEY", "table" -> table, "column" -> column, "type" -> dataType)

  def notScannable(table: String): Throwable = analysis("NOT_SCANNABLE", "table" -> table)

  def fullNotScannable(table: String): Throwable = analysis("FULL_NOT_SCANNABLE", "table" -> table)

  def notDeterministic(table: String, expression: String): Throwable =
    analysis("NOT_DETERMINISTIC", "table" -> table, "expression" -> expression)

  def badPartition(connector: String, key: String, number: String, count: Int): Throwable =
    running(
      "BAD_PARTITION",
      None,
      "connector" -> connector,
      "key" -> key,
      "number" -> number,
      "last" -> (count - 1).toString)

  def failed(connector: String, key: String, cause: Throwable): Throwable =
    running(
      "FAILED",
      Some(cause),
      "connector" -> connector,
      "key" -> key,
      "cause" -> textOf(cause))

  def methodFailed(
      connector: String,
      method: String,
      subject: String,
      cause: Throwable): Throwable =
    running(
      "METHOD_FAILED",
      Some(cause),
      "connector" -> connector,
      "method" -> method,
      "subject" -> subject,
      "cause" -> textOf(cause))

  def badBatchKeys(connector: String, maxBatchKeys: Int): Throwable =
    running(
      "BAD_BATCH_KEYS",
      None,
      "connector" -> connector,
      "maxBatchKeys" -> maxBatchKeys.toString)

  def timedOut(connector: String, key: String, keys: Int, millis: Long): Throwable =
    running(
      "TIMED_OUT",
      None,
      "connector" -> connector,
      "key" -> key,
      "keys" -> keys.toString,
      "timeout" -> s"$millis ms")

  def keyNotAsked(connector: String, key: String): Throwable =
    running("KEY_NOT_ASKED", None, "connector" -> connector, "key" -> key)

  def wrongColumns(connector: String, wanted: String, got: String): Throwable =
    running("WRONG_COLUMNS", None, "connector" -> connector, "wanted" -> wanted, "got" -> got)

  private def listed(names: Seq[String]): String =
    if (names.isEmpty) "none" else names.mkString(", ")

  private def textOf(cause: Throwable): String =
    Option(cause.getMessage).getOrElse(cause.getClass.getName)

  private def analysis(condition: String, parameters: (String, String)*): Throwable =
    new FiresteelAnalysisException(s"FIRESTEEL_LOOKUP_$condition", parameters.toMap)

  private def running(
      condition: String,
      cause: Option[Throwable],
      parameters: (String, String)*): Throwable =
    new FiresteelException(s"FIRESTEEL_LOOKUP_$condition", parameters.toMap, cause)
}
