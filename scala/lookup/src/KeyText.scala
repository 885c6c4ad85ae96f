package io.firesteel.lookup

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ArrayType, DataType, StringType, StructType}

/** Keys as an error shows them: `id = 5, type = 'x'`. Long keys are cut. */
private[lookup] object KeyText {

  private val longest = 200 // characters

  def of(values: Seq[(Any, DataType)]): String =
    cut(values.map { case (value, of) => text(value, of) }.mkString("(", ", ", ")"))

  def of(key: InternalRow, schema: StructType): String =
    cut(schema.fields.zipWithIndex
      .map { case (field, i) =>
        s"${field.name} = ${text(key.get(i, field.dataType), field.dataType)}"
      }
      .mkString(", "))

  /** A value of an InternalRow. `Literal.create` would expect a value of a Row. */
  private def text(value: Any, dataType: DataType): String = dataType match {
    // Literal.sql supports only some classes of rows and arrays, which a key's value may not have.
    case _: StructType | _: ArrayType if value != null =>
      val zone = Some(SQLConf.get.sessionLocalTimeZone)
      String.valueOf(Cast(Literal(value, dataType), StringType, zone).eval())
    case _ => Literal(value, dataType).sql
  }

  private def cut(text: String): String =
    if (text.length <= longest) text else text.take(longest) + "..."
}
