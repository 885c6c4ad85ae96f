package io.firesteel.json

import io.firesteel.core.decide.{Decline, DeclineDoc}

/** Why an expression over JSON is left to Spark. */
sealed abstract class JsonDecline(
    reason: String,
    override val message: String,
    override val cure: String)
  extends Decline {
  final override def code: String = s"JSON.$reason"
}

object JsonDecline {

  final case class Type(unread: String)
    extends JsonDecline(
      "TYPE",
      s"the schema has a type that is not read here: $unread",
      "Read the value as STRING, and convert it afterwards.") {
    override def values: Map[String, String] = Map("type" -> unread)
  }

  final case class ReadOption(option: String)
    extends JsonDecline(
      "OPTION",
      s"the option $option changes how values are read",
      "Leave the option out, if its default is enough.") {
    override def values: Map[String, String] = Map("option" -> option)
  }

  final case class Schema(why: String)
    extends JsonDecline("SCHEMA", s"the schema has $why", "Give each field one name.") {
    override def values: Map[String, String] = Map("schema" -> why)
  }

  final case class Path(path: String)
    extends JsonDecline(
      "PATH",
      s"the path $path is not a constant path of names and indexes",
      "Use names and indexes only, such as $.a.b[0].") {
    override def values: Map[String, String] = Map("path" -> path)
  }

  final case class Legacy(legacy: String)
    extends JsonDecline(
      "LEGACY",
      s"$legacy makes Spark read values in an old way",
      "Leave the setting at its default.") {
    override def setting: Option[String] = Some(legacy)
  }

  case object Lambda
    extends JsonDecline(
      "LAMBDA",
      "the document is an element of an array or a map",
      "Use explode() first, and read the JSON of its column.")

  case object FilteredArgument
    extends JsonDecline(
      "FILTER",
      "beside from_json, an argument that can fail has a FILTER, and generated code computes it first",
      "Compute the argument in a subquery below."
    )

  final case class Operator(node: String)
    extends JsonDecline(
      "OPERATOR",
      s"$node compares or keeps the values of several rows",
      "Read the JSON in a subquery below it.") {
    override def values: Map[String, String] = Map("node" -> node)
  }

  val docs: Seq[DeclineDoc] = Seq(
    Decline.switchedOffDoc("json", JsonConf.ENABLED),
    Type("an interval, VARIANT, CHAR or VARCHAR").doc,
    ReadOption("such as timestampFormat").doc,
    Schema("no fields, two fields of one name, or a default value").doc,
    Path("such as $.a[*]").doc,
    Legacy("spark.sql.legacy.timeParserPolicy").doc,
    Lambda.doc,
    FilteredArgument.doc,
    Operator("Sort").doc
  )
}
