package io.firesteel.json

import io.firesteel.core.decide.Decline

import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StringType, StructType}

/** What schemas of `from_json` may have. */
private[json] object JsonSchema {

  def objection(schema: DataType, corruptColumn: String): Option[Decline] =
    Readers.unread(schema).headOption.map(unread => JsonDecline.Type(unread.sql))
      .orElse(structs(schema).flatMap(why).headOption.map(JsonDecline.Schema(_)))
      .orElse(corrupt(schema, corruptColumn).map(JsonDecline.Schema(_)))

  /** Spark raises an error when it reads with such a schema. */
  private def corrupt(schema: DataType, column: String): Option[String] = schema match {
    case struct: StructType
        if struct.exists(field =>
          field.name == column && (field.dataType != StringType || !field.nullable)) =>
      Some("a column for corrupt records that is no STRING, or NOT NULL")
    // Spark takes an array or a map for a column of this name, and hides it.
    case _: ArrayType | _: MapType if column == "value" => Some("a column for corrupt records")
    case _ => None
  }

  private def why(struct: StructType): Option[String] =
    if (struct.isEmpty) Some("no fields")
    else if (struct.names.distinct.length < struct.length) Some("two fields of one name")
    else if (!struct.names.forall(JsonPath.isPlain)) Some("a name that is no Unicode text")
    else if (struct.exists(_.metadata.contains("EXISTS_DEFAULT"))) Some("a default value")
    else None

  private def structs(dataType: DataType): Seq[StructType] = dataType match {
    case struct: StructType => struct +: struct.map(_.dataType).flatMap(structs)
    case array: ArrayType => structs(array.elementType)
    case map: MapType => structs(map.keyType) ++ structs(map.valueType)
    case _ => Nil
  }
}
