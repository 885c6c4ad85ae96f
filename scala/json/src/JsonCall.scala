package io.firesteel.json

import io.firesteel.core.decide.Decline

import org.apache.spark.sql.catalyst.expressions.{Attribute, BoundReference, Expression, GetJsonObject, GetStructField, JsonToStructs, JsonTuple, Literal}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * An expression over a document that this room knows.
 *
 * @param reading what a scan takes from the document, or the reason why it cannot
 * @param fails whether the expression may end in an error, so that it must stay where it is
 */
final private[json] case class JsonCall(
    document: Expression,
    expression: Expression,
    reading: Either[Decline, Reading],
    fails: Boolean = false) {

  def output(name: String): Option[JsonOutput] = reading.toOption.map { reading =>
    JsonOutput(name, expression.dataType, reading, JsonCall.overColumn(expression, document))
  }
}

private[json] object JsonCall {

  /** What `expression` itself is, apart from what is inside. */
  def of(expression: Expression): Option[JsonCall] = expression match {
    case field: GetStructField =>
      field.child match {
        case call: JsonToStructs => ofField(field, call)
        case _ => None
      }
    case call: JsonToStructs => Some(ofStructs(call))
    case call: GetJsonObject => Some(JsonCall(call.json, call, path(call.path)))
    case _ => None
  }

  /** Spark prunes a schema to the one field that is read. */
  private def ofField(field: GetStructField, call: JsonToStructs): Option[JsonCall] =
    call.dataType match {
      case schema: StructType if schema.length == 1 && schema.head.name != corruptColumn(call) =>
        val reading = objection(call, schema).toLeft(
          Reading.Field(schema.head.name, schema.head.dataType, zone(call)))
        Some(JsonCall(call.child, field, reading, canFail(call)))
      case _ => None
    }

  private def ofStructs(call: JsonToStructs): JsonCall = {
    val schema = call.dataType
    val reading = objection(call, schema).toLeft(schema match {
      case struct: StructType => Reading.Struct(struct, corruptColumn(call), zone(call))
      case other => Reading.Whole(other, zone(call))
    })
    JsonCall(call.child, call, reading, canFail(call))
  }

  /** The outputs of a generator that has one row for each document. */
  def ofTuple(call: JsonTuple, columns: Seq[Attribute]): Either[Decline, Seq[JsonOutput]] = {
    val document = call.children.head
    val names = call.children.tail.map {
      case literal: Literal if literal.value != null => Some(literal.value.toString)
      case _ => None
    }
    if (names.exists(_.forall(!JsonPath.isPlain(_)))) {
      Left(JsonDecline.Path(call.children.tail.mkString(", ")))
    } else {
      val original = overColumn(call, document)
      Right(names.flatten.zip(columns).zipWithIndex.map { case ((name, column), item) =>
        val reading = Reading.Path(Seq(Reading.Name(name)))
        JsonOutput(name, column.dataType, reading, original, item)
      })
    }
  }

  private def path(expression: Expression): Either[Decline, Reading] = {
    val steps = expression match {
      case literal: Literal =>
        Option(literal.value).collect { case text: UTF8String => text.toString }.flatMap(
          JsonPath.parse)
      case _ => None
    }
    steps.map(Reading.Path(_)).toRight(JsonDecline.Path(expression.toString))
  }

  private def overColumn(expression: Expression, document: Expression): Expression = {
    val column = BoundReference(0, document.dataType, nullable = true)
    expression match {
      case field: GetStructField => field.copy(child = overColumn(field.child, document))
      case other => other.withNewChildren(column +: other.children.tail)
    }
  }

  private def options(call: JsonToStructs): CaseInsensitiveMap[String] =
    CaseInsensitiveMap(call.options)

  private def zone(call: JsonToStructs): String =
    options(call).getOrElse("timeZone", call.timeZoneId.get)

  private def corruptColumn(call: JsonToStructs): String =
    options(call).getOrElse(
      "columnNameOfCorruptRecord",
      SQLConf.get.getConf(SQLConf.COLUMN_NAME_OF_CORRUPT_RECORD))

  /** In every mode Spark raises an error for a time that Spark 2 would have read, if it is told to. */
  private def canFail(call: JsonToStructs): Boolean =
    options(call).get("mode").exists(!_.equalsIgnoreCase("PERMISSIVE")) ||
      (JsonObjections.hasTimes(call.dataType) && JsonOptions.timePolicy == "EXCEPTION")

  private def objection(call: JsonToStructs, schema: DataType): Option[Decline] =
    JsonObjections.of(schema, options(call).toMap, zone(call), corruptColumn(call))
}
