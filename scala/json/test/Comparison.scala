package io.firesteel.json

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GenericInternalRow, GetJsonObject, GetStructField, JsonToStructs, JsonTuple, Literal, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** Spark's expressions and one scan of ours over the same documents, byte for byte of the row. */
final class Comparison(expressions: Seq[Expression]) {

  private val outputs: Array[JsonOutput] = expressions.zipWithIndex.flatMap {
    case (tuple: JsonTuple, _) =>
      JsonCall.ofTuple(tuple, DataTypes.columns(tuple)).fold(
        why => throw new IllegalArgumentException(why.message),
        identity)
    case (expression, i) =>
      val call = JsonCall.of(expression).getOrElse(
        throw new IllegalArgumentException(s"no call: $expression"))
      call.reading.left.foreach(why => throw new IllegalArgumentException(why.message))
      call.output(s"c$i").toSeq
  }.toArray

  private val ours = new JsonTask(outputs, new Backoff(Int.MaxValue), JsonCounts.none)
  private val types = outputs.map(_.dataType)
  private val copying = UnsafeProjection.create(types)
  private val values = expressions.zipWithIndex.map { case (e, _) => e }

  /** Documents of which all outputs were read here. */
  var read = 0

  /** What differs, if anything. */
  def difference(document: Array[Byte]): Option[String] = {
    val ourRow = attempt(ours.read(UTF8String.fromBytes(document)))
    val sparkRow = attempt(sparks(UTF8String.fromBytes(document)))
    if (ourRow == sparkRow) None
    else Some(
      s"document: ${new String(document, "UTF-8")}\n  ours:    ${ourRow.fold(identity, show)}" +
        s"\n  Spark's: ${sparkRow.fold(identity, show)}")
  }

  private def sparks(json: UTF8String): InternalRow = {
    val argument = new GenericInternalRow(Array[Any](json))
    new GenericInternalRow(values.flatMap {
      case tuple: JsonTuple =>
        val row = tuple.eval(argument).iterator.next()
        DataTypes.columns(tuple).indices.map(row.getUTF8String(_): Any)
      case value => Seq(value.eval(argument))
    }.toArray)
  }

  private def attempt(row: => InternalRow): Either[String, UnsafeRow] =
    try Right(row match {
        case unsafe: UnsafeRow =>
          read += 1
          unsafe.copy()
        case other => copying(other).copy()
      })
    catch {
      case error: Exception => Left(Comparison.condition(error))
    }

  private def show(row: UnsafeRow): String =
    row.toSeq(types.toSeq).mkString(", ") + s"   ($row)"
}

object Comparison {

  private val column = BoundReference(0, StringType, nullable = true)

  def fromJson(schema: DataType, options: Map[String, String] = Map.empty): Expression =
    JsonToStructs(schema, options, column, Some("America/Los_Angeles"))

  def fromJson(ddl: String): Expression = fromJson(StructType.fromDDL(ddl))

  def failing(ddl: String): Expression =
    fromJson(StructType.fromDDL(ddl), Map("mode" -> "FAILFAST"))

  /** As Spark prunes it. */
  def field(ddl: String): Expression = field(StructType.fromDDL(ddl))

  def field(schema: StructType): Expression = GetStructField(fromJson(schema), 0)

  def get(path: String): Expression = GetJsonObject(column, Literal(path))

  def tuple(names: String*): Expression = JsonTuple(column +: names.map(Literal(_)))

  /** The conditions of an error and its causes. */
  def condition(error: Throwable): String =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).map {
      case known: SparkThrowable if known.getCondition != null => known.getCondition
      case other => other.getClass.getName
    }.mkString(" / ")
}

private object DataTypes {
  import org.apache.spark.sql.catalyst.expressions.AttributeReference

  def columns(tuple: JsonTuple): Seq[AttributeReference] =
    tuple.elementSchema.map(field => AttributeReference(field.name, field.dataType)())
}
