package io.firesteel.lookup

import io.firesteel.core.errors.FiresteelAnalysisException
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.{DataType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * A Python connector, as `firesteel.register_lookup` describes it.
 *
 * @param udf name of the temporary function that looks up batches of keys
 * @param partitionUdf name of the temporary function that gives the partition of a key
 * @param keys the columns by which it can be asked; all if empty
 * @param partitionKeys the columns that the partitioner needs
 */
private[lookup] final case class PythonLookup(
    name: String,
    udf: String,
    partitionUdf: Option[String],
    deterministic: Boolean,
    schema: StructType,
    keys: Seq[String],
    partitionKeys: Seq[String],
    options: Map[String, String])

private[lookup] object PythonLookup {

  def parse(json: String): PythonLookup = {
    val node = new ObjectMapper().readTree(json)
    PythonLookup(
      name = node.get("name").asText,
      udf = node.get("udf").asText,
      partitionUdf = Option(node.get("partition_udf")).filterNot(_.isNull).map(_.asText),
      deterministic = node.get("deterministic").asBoolean,
      schema = DataType.fromJson(textOf(node.get("schema"))).asInstanceOf[StructType],
      keys = texts(node.get("keys")),
      partitionKeys = texts(node.get("partition_keys")),
      options = node.get("options").properties.asScala.map(e => e.getKey -> e.getValue.asText).toMap
    )
  }

  private def textOf(node: JsonNode): String = if (node.isTextual) node.asText else node.toString

  private def texts(node: JsonNode): Seq[String] = node.elements.asScala.map(_.asText).toSeq
}

/**
 * `firesteel_python_lookup('{...}')`: the relation under the view of `firesteel.register_lookup`.
 *
 * It is SQL, so that it reaches a Connect server as well as a session of this process.
 */
object PythonLookupFunction {

  private val name = "firesteel_python_lookup"

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) =
    (FunctionIdentifier(name), new ExpressionInfo(getClass.getName, name), build)

  private def build(arguments: Seq[Expression]): LogicalPlan = arguments match {
    case Seq(text) if text.foldable && text.dataType.isInstanceOf[StringType] =>
      text.eval() match {
        case json: UTF8String => relation(PythonLookup.parse(json.toString))
        case _ => throw wrong(arguments)
      }
    case _ => throw wrong(arguments)
  }

  private def relation(spec: PythonLookup): LogicalPlan =
    LookupRelation(
      spec.name,
      Connector.Python(spec),
      DataTypeUtils.toAttributes(spec.schema).map(_.withNullability(true)),
      spec.options,
      None)

  private def wrong(arguments: Seq[Expression]): Throwable =
    new FiresteelAnalysisException(
      "FIRESTEEL_WRONG_ARGUMENTS",
      Map(
        "call" -> arguments.map(_.sql).mkString(s"$name(", ", ", ")"),
        "expected" -> s"$name(json)"))
}
