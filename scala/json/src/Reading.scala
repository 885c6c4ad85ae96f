package io.firesteel.json

import org.apache.spark.sql.types.{DataType, StructType}

/** What one output takes from a document. */
sealed private[json] trait Reading extends Serializable {

  /** In words of `explain`. */
  def text: String
}

private[json] object Reading {

  /** One field of `from_json` whose schema has no other: `from_json(j, 'a INT').a`. */
  final case class Field(name: String, dataType: DataType, zone: String) extends Reading {
    override def text: String = s"$name ${dataType.sql}"
  }

  /**
   * A struct of `from_json`.
   *
   * @param corrupt the field that holds a record which could not be read
   */
  final case class Struct(schema: StructType, corrupt: String, zone: String) extends Reading {
    override def text: String = schema.sql
  }

  /** An array or a map of `from_json`, which is the whole document. */
  final case class Whole(dataType: DataType, zone: String) extends Reading {
    override def text: String = dataType.sql
  }

  /** The text of a value: `get_json_object`, and one name of `json_tuple`. */
  final case class Path(steps: Seq[Step]) extends Reading {
    override def text: String = steps.map {
      case Name(name) => s".$name"
      case Index(index) => s"[$index]"
    }.mkString("$", "", "")
  }

  /** A step of a path. */
  sealed trait Step extends Serializable
  final case class Name(name: String) extends Step
  final case class Index(index: Int) extends Step
}
