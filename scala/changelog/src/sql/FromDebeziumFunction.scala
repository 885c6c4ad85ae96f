package io.firesteel.changelog.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAlias, UnresolvedAttribute, UnresolvedStar}
import org.apache.spark.sql.catalyst.expressions.{Alias, Cast, Expression, ExpressionInfo, IsNotNull, JsonToStructs, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.firesteel.{asNullable, parseExpression}
import org.apache.spark.sql.types.{DataType, StringType, StructType}

/**
 * `SELECT * FROM from_debezium(TABLE(t), 'id INT, name STRING', keys => array('id'))`: the table
 * whose changes Debezium wrote to the column `value` as JSON, with or without a schema around the
 * payload.
 *
 * {{{
 *   {"before": {..}, "after": {..}, "op": "u"}      -U before, +U after
 *   {"before": null, "after": {..}, "op": "u"}      an update by its key
 * }}}
 *
 * A null value (the tombstone after a deletion) is ignored. Invalid JSON is an error.
 */
object FromDebeziumFunction {

  private val name = "from_debezium"

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) =
    (FunctionIdentifier(name), new ExpressionInfo(getClass.getName, name), build)

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    val names = Seq("input", "schema", "keys", "value", "sequence_by")
    val passed = new SourceArguments(name, names, arguments)
    val row = rowType(passed.text("schema").getOrElse(throw passed.wrong()))
    val value = UnresolvedAttribute(Seq(passed.text("value").getOrElse("value")))
    FromChangelogFunction.of(passed, changes(passed.table("input"), value, row), op)
  }

  // No column of a table has this name.
  private val op = "__op"

  /** The schema as DDL, or as JSON, which is how Python passes its types. */
  private[changelog] def rowType(text: String): StructType = {
    val written =
      if (text.trim.startsWith("{")) DataType.fromJson(text).asInstanceOf[StructType]
      else StructType.fromDDL(text)
    asNullable(written).asInstanceOf[StructType]
  }

  private def changes(input: LogicalPlan, value: Expression, row: StructType): LogicalPlan = {
    val event = new StructType().add("before", row).add("after", row).add("op", StringType)
    val parsed = JsonToStructs(
      event.add("payload", event),
      Map("mode" -> "FAILFAST"),
      Cast(value, StringType))
    val told = Filter(IsNotNull(value), input)
    val envelope = Project(Seq(Alias(parsed, "event")()), told)
    val parts = Project(event.fieldNames.toSeq.map(payload), envelope)
    val rows = Project(Seq(UnresolvedAlias(parsedSql(written))), parts)
    Project(Seq(UnresolvedAttribute(Seq(op)), UnresolvedStar(Some(Seq("row")))), rows)
  }

  private def payload(field: String): NamedExpression =
    Alias(parsedSql(s"coalesce(event.payload.$field, event.$field)"), field)()

  /**
   * One row for each side of the event. If a required side is missing, the kind is an unknown one,
   * which is then an error.
   */
  private val written: String =
    s"""inline(CASE
       |  WHEN op = 'u' AND before IS NOT NULL AND after IS NOT NULL
       |    THEN array(struct('-U' AS $op, before AS row), struct('+U' AS $op, after AS row))
       |  WHEN op = 'd' AND before IS NULL
       |    THEN array(struct('d without before' AS $op, before AS row))
       |  WHEN op = 'd' THEN array(struct(op AS $op, before AS row))
       |  WHEN op IN ('c', 'r', 'u') AND after IS NULL
       |    THEN array(struct(concat(op, ' without after') AS $op, after AS row))
       |  ELSE array(struct(op AS $op, after AS row))
       |END)""".stripMargin

  private def parsedSql(text: String): Expression = parseExpression(SparkSession.active, text)
}
