package io.firesteel.changelog.common

import io.firesteel.core.errors.{FiresteelAnalysisException, FiresteelException}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.types.DataType

/** Errors of the room. Each names the operator or column, the reason and an alternative. */
private[changelog] object ChangelogErrors {

  def unsupportedOperator(operator: String, reason: String, instead: String): Throwable =
    analysis(
      "UNSUPPORTED_OPERATOR",
      "operator" -> operator,
      "reason" -> reason,
      "instead" -> instead)

  def unsupportedFunction(function: String, reason: String): Throwable =
    analysis("UNSUPPORTED_FUNCTION", "function" -> function, "reason" -> reason)

  def unsupportedType(operator: String, column: String, dataType: DataType): Throwable =
    analysis(
      "UNSUPPORTED_TYPE",
      "operator" -> operator,
      "column" -> column,
      "type" -> dataType.sql)

  def notRepeatable(operator: String, expression: String): Throwable =
    analysis("NOT_REPEATABLE", "operator" -> operator, "expression" -> expression)

  def misplacedRowKind(operator: String): Throwable =
    analysis("MISPLACED_ROW_KIND", "operator" -> operator)

  def notInsertOnly(changes: String): Throwable =
    analysis("NOT_INSERT_ONLY", "changes" -> changes)

  def notAnUpsert(reason: String): Throwable = analysis("NOT_AN_UPSERT", "reason" -> reason)

  def noEventsInComplete(): Throwable = analysis("COMPLETE_WITH_ROW_KIND")

  def unsupportedTrigger(trigger: String): Throwable =
    analysis("UNSUPPORTED_TRIGGER", "trigger" -> trigger)

  def switchedOff(setting: String): Throwable = analysis("SWITCHED_OFF", "setting" -> setting)

  def otherStatements(before: Seq[String], now: Seq[String]): Throwable =
    analysis("OTHER_STATEMENTS", "before" -> before.mkString(", "), "now" -> now.mkString(", "))

  def otherParts(before: Seq[String], now: Seq[String]): Throwable = {
    def text(parts: Seq[String]) = if (parts.isEmpty) "none" else parts.mkString(", ")
    analysis("OTHER_PARTS", "before" -> text(before), "now" -> text(now))
  }

  def otherSources(before: Seq[String], now: Seq[String]): Throwable =
    analysis("OTHER_SOURCES", "before" -> before.mkString(", "), "now" -> now.mkString(", "))

  def noStatementSet(checkpoint: String): Throwable =
    analysis("NO_STATEMENT_SET", "checkpoint" -> checkpoint)

  /** @param problem what is wrong in a text `EXECUTE STATEMENT SET`, as a sentence */
  def badStatementSet(problem: String): Throwable =
    analysis("BAD_STATEMENT_SET", "problem" -> problem)

  def badSourceColumn(
      function: String,
      column: Attribute,
      role: String,
      expected: String): Throwable =
    analysis(
      "BAD_SOURCE_COLUMN",
      "function" -> function,
      "column" -> column.name,
      "type" -> column.dataType.sql,
      "role" -> role,
      "expected" -> expected)

  /** @param others the columns that identify a row of the result */
  def notAKey(keys: Seq[String], others: Seq[Seq[String]]): Throwable =
    analysis(
      "NOT_A_KEY",
      "keys" -> keys.mkString(", "),
      "others" ->
        (if (others.isEmpty) "none"
         else others.map(_.mkString("(", ", ", ")")).sorted.mkString(" or ")))

  /** Raised while a query runs. */
  def severalRows(key: String): Throwable =
    new FiresteelException("FIRESTEEL_CHANGELOG_SEVERAL_ROWS", Map("key" -> key))

  def noKeyColumn(function: String, key: String, columns: Seq[String]): Throwable =
    analysis(
      "NO_KEY_COLUMN",
      "function" -> function,
      "key" -> key,
      "columns" -> columns.mkString(", "))

  def badStateTtl(hint: String): Throwable = analysis("BAD_STATE_TTL", "hint" -> hint)

  def badMultiJoin(hint: String): Throwable = analysis("BAD_MULTI_JOIN", "hint" -> hint)

  def noHintedInput(hint: String, name: String, inputs: Seq[String]): Throwable = analysis(
    s"NO_${hint}_INPUT",
    "name" -> name,
    "inputs" -> inputs.mkString(", "))

  def stateMismatch(operator: String, differences: Seq[String]): Throwable =
    analysis(
      "STATE_MISMATCH",
      "operator" -> operator,
      "differences" -> differences.mkString("; "))

  /** Raised while a query runs. */
  def tooManyInOrder(table: String, most: Int): Throwable =
    new FiresteelException(
      "FIRESTEEL_CHANGELOG_TOO_MANY_IN_ORDER",
      Map("table" -> table, "most" -> most.toString))

  def laterRecord(operator: String, version: Int): Throwable =
    analysis("LATER_RECORD", "operator" -> operator, "version" -> version.toString)

  /** @param kept true if the checkpoint's state has a time to live and the query has none */
  def stateTtlChanged(operator: String, kept: Boolean): Throwable =
    analysis(
      s"STATE_TTL_${if (kept) "OFF" else "ON"}",
      "operator" -> operator,
      "setting" -> ChangelogConf.STATE_TTL.key)

  private def analysis(reason: String, parameters: (String, String)*): Throwable =
    new FiresteelAnalysisException(s"FIRESTEEL_CHANGELOG_$reason", parameters.toMap)
}
