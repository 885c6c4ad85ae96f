package io.firesteel.lookup

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.types.StructType

/** Keys as an error shows them: `id = 5, type = 'x'`, cut when long. */
private[lookup] object KeyText {

  private val longest = 200 // characters

  def of(values: Seq[Expression]): String = cut(values.map(_.sql).mkString("(", ", ", ")"))

  def of(key: InternalRow, schema: StructType): String =
    cut(schema.fields.zipWithIndex
      .map { case (field, i) =>
        s"${field.name} = ${Literal.create(key.get(i, field.dataType), field.dataType).sql}"
      }
      .mkString(", "))

  private def cut(text: String): String =
    if (text.length <= longest) text else text.take(longest) + "..."
}
