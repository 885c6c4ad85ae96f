package io.firesteel.core.rows

import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StringType, StructType}

/** Types whose strings are compared by their bytes. */
object PlainStrings {

  /** The type without collations, at any depth. */
  def of(dataType: DataType): DataType = dataType match {
    case _: StringType => StringType
    case array: ArrayType => array.copy(elementType = of(array.elementType))
    case map: MapType => map.copy(keyType = of(map.keyType), valueType = of(map.valueType))
    case struct: StructType =>
      StructType(struct.map(field => field.copy(dataType = of(field.dataType))))
    case other => other
  }
}
