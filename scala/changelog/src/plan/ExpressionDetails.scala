package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, NamedLambdaVariable}
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * What an expression has beside its children and means by it: a field's place, a schema, patterns.
 * Two expressions with equal children and equal details compute the same.
 */
private[plan] object ExpressionDetails {

  /** Ids and caches, and what depends on the session: neither is part of the query's text. */
  private val ignored = Set(
    "exprId",
    "resultId",
    "timeZoneId",
    "zoneId",
    "evalMode",
    "failOnError",
    "ansiEnabled",
    "nullable",
    "containsNull",
    "nullOnOverflow",
    "mutableAggBufferOffset",
    "inputAggBufferOffset",
    "numFields"
  )

  def of(expression: Expression): Seq[String] =
    expression.productElementNames.zip(expression.productIterator).collect {
      case (name, value) if !ignored(name) => detail(name, value).map(text => s"$name=$text")
    }.flatten.toSeq

  /** Spark numbers the variables of lambda functions anew at each start. */
  def nameOf(variable: NamedLambdaVariable): String = variable.name.replaceFirst("_\\d+$", "")

  private def detail(name: String, value: Any): Option[String] = value match {
    // Versions differ in whether `collect_list` has it. What is usual is no detail.
    case is: Boolean => Option.when(if (name == "ignoreNulls") !is else is)(is.toString)
    case bytes: Array[Byte] => Some(this.value(bytes, null))
    case _: Byte | _: Short | _: Int | _: Long | _: Float | _: Double | _: Char | _: String |
        _: UTF8String =>
      Some(value.toString)
    case dataType: DataType => Some(dataType.catalogString)
    case field: StructField => Some(s"${field.name}:${field.dataType.catalogString}")
    case Some(is: Boolean) => Some(is.toString)
    case Some(inner) => detail(name, inner)
    case map: collection.Map[_, _] =>
      Option.when(map.nonEmpty)(map.toSeq.map(_.toString).sorted.mkString(","))
    case set: collection.Set[_] => several(set.toSeq.flatMap(detail(name, _)).sorted)
    case all: Iterable[_] => several(all.toSeq.flatMap(detail(name, _)))
    case _ => None
  }

  private def several(details: Seq[String]): Option[String] =
    Option.when(details.nonEmpty)(details.map(text => s"${text.length}:$text").mkString(","))

  private def isAddress(value: Any): Boolean = value != null && {
    val address = s"${value.getClass.getName}@"
    // The class may have a `hashCode` of its own.
    Seq(value.hashCode, System.identityHashCode(value))
      .exists(hash => value.toString == address + Integer.toHexString(hash))
  }

  /** A value of Catalyst as text, equal at each start. */
  def value(value: Any, dataType: DataType): String = (value, dataType) match {
    case (bytes: Array[Byte], _) => bytes.map(byte => f"$byte%02x").mkString
    case (array: ArrayData, ArrayType(element, _)) =>
      array.toSeq[Any](element).map(this.value(_, element)).mkString("[", ",", "]")
    case (map: MapData, MapType(key, its, _)) =>
      val (keys, values) = (map.keyArray().toSeq[Any](key), map.valueArray().toSeq[Any](its))
      keys.zip(values).map { case (k, v) => s"${this.value(k, key)}->${this.value(v, its)}" }
        .mkString("{", ",", "}")
    case (row: InternalRow, struct: StructType) =>
      row.toSeq(struct).zip(struct).map { case (v, field) => this.value(v, field.dataType) }
        .mkString("[", ",", "]")
    // An object without a text of its own, as a function of a catalog, has its address.
    case _ if isAddress(value) => value.getClass.getName
    case _ => String.valueOf(value)
  }
}
