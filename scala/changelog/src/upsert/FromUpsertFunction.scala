package io.firesteel.changelog.upsert

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.sql.{FromChangelogFunction, FromDebeziumFunction, SourceArguments}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedExtractValue}
import org.apache.spark.sql.catalyst.expressions.{Alias, CaseWhen, Cast, EqualTo, Expression, ExpressionInfo, IsNull, JsonToStructs, Literal, StringTrim}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{StringType, StructField, StructType}

/**
 * `SELECT * FROM from_upsert(TABLE(t), 'id INT, name STRING', keys => array('id'))`: the table that
 * the records of an upsert topic make. The key columns are read from the JSON in `key`, the others
 * from the JSON in `value`. A null value deletes the row of the key.
 */
object FromUpsertFunction {

  private val name = "from_upsert"

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) =
    (FunctionIdentifier(name), new ExpressionInfo(getClass.getName, name), build)

  // No column of a table has this name.
  private val op = "__op"

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    val passed = new SourceArguments(name, Seq("input", "schema", "keys"), arguments)
    val row =
      FromDebeziumFunction.rowType(passed.text("schema").getOrElse(throw passed.wrong()))
    val keys = passed.names("keys")
    if (keys.isEmpty) throw passed.wrong()
    FromChangelogFunction.of(passed, changes(passed.table("input"), row, keys), op)
  }

  private def changes(input: LogicalPlan, row: StructType, keys: Seq[String]): LogicalPlan = {
    val same = SQLConf.get.resolver
    keys.find(key => !row.exists(field => same(field.name, key))).foreach { key =>
      throw ChangelogErrors.noKeyColumn(name, key, row.fieldNames.toSeq)
    }
    def isKey(field: StructField) = keys.exists(same(field.name, _))
    val (ofKey, others) = row.fields.toSeq.partition(isKey)
    val (key, value) = (column("key"), column("value"))
    // An unknown kind is an error.
    val kind = CaseWhen(
      Seq(
        IsNull(key) -> Literal("a record without key"),
        isBlank(key) -> Literal("a record with an empty key"),
        IsNull(value) -> Literal("d"),
        isBlank(value) -> Literal("a record with an empty value")
      ),
      Literal("u")
    )
    val parsed = Project(
      Seq(
        Alias(json(ofKey, key), "key")(),
        Alias(json(others, value), "value")(),
        Alias(kind, op)()),
      input)
    val columns = row.fields.toSeq.map { field =>
      val from = if (isKey(field)) "key" else "value"
      Alias(UnresolvedExtractValue(column(from), Literal(field.name)), field.name)()
    }
    Project(column(op) +: columns, parsed)
  }

  /** Text that is not JSON, or has another type, is an error. */
  private def json(fields: Seq[StructField], text: Expression): Expression =
    JsonToStructs(StructType(fields), Map("mode" -> "FAILFAST"), Cast(text, StringType))

  /** Spark reads text of nothing but JSON's blanks as null, in each mode. */
  private def isBlank(text: Expression): Expression =
    EqualTo(StringTrim(Cast(text, StringType), Some(Literal(" \t\r\n"))), Literal(""))

  private def column(name: String) = UnresolvedAttribute(Seq(name))
}
