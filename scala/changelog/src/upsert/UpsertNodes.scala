package io.firesteel.changelog.upsert

import io.firesteel.changelog.plan.lower.ChangelogNode
import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, AttributeSet, CreateNamedStruct, Expression, Literal, NamedExpression, StructsToJson}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, UnaryNode}
import org.apache.spark.sql.types.StringType

/**
 * The changes of a query as records of an upsert topic: `to_upsert(TABLE(q), keys => ...)`.
 *
 * In a stream the node stays in the analysed query until [[UpsertWrite]] knows the query's changes.
 * In a batch query [[ResolveToUpsert]] replaces it.
 */
final private[changelog] case class ToUpsert(
    keys: Seq[NamedExpression],
    key: Attribute,
    value: Attribute,
    child: LogicalPlan)
  extends UnaryNode {

  override def output: Seq[Attribute] = Seq(key, value)
  override def producedAttributes: AttributeSet = AttributeSet(output)

  /**
   * The records of changes.
   *
   * @param changes rows with the columns of `child`, and the kind
   * @param kind the kind as a number; none if every row is an insert
   * @param keepsFractions whether a `TIME` in a key has its fraction
   */
  def records(
      changes: LogicalPlan,
      kind: Option[Attribute],
      keepsFractions: Boolean = true): LogicalPlan = {
    val columns = child.output
    val written = Alias(json(columns), "row")()
    val change = Alias(kind.getOrElse(Literal(RowKind.Insert)), "kind")()
    val texts = Project(
      Seq(Alias(json(keys, keepsFractions), key.name)(key.exprId), written, change),
      changes)
    val texted = texts.output
    NetRecords(texted.head, texted(1), texted(2), value, texts)
  }

  /**
   * As text that says the same in every session. Nulls are written, or a key with a null would
   * have no columns. Spark's own format of a time drops microseconds.
   */
  private def json(columns: Seq[NamedExpression], keepsFractions: Boolean = true): Expression = {
    val fields = columns.flatMap(c => Seq(Literal.create(c.name, StringType), c.toAttribute))
    val format = if (keepsFractions) ToUpsert.format else ToUpsert.format - "timeFormat"
    StructsToJson(format, CreateNamedStruct(fields), Some("UTC"))
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): ToUpsert =
    copy(child = newChild)
}

private[changelog] object ToUpsert {

  def apply(keys: Seq[NamedExpression], child: LogicalPlan): ToUpsert =
    ToUpsert(
      keys,
      AttributeReference("key", StringType, nullable = false)(),
      AttributeReference("value", StringType)(),
      child)

  private val format = Map(
    "ignoreNullFields" -> "false",
    "timeZone" -> "UTC",
    "timestampFormat" -> "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat" -> "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "timeFormat" -> "HH:mm:ss.SSSSSS"
  )
}

/**
 * The net change of each key: its new row, null for a deletion, or nothing.
 *
 * @param key the key as text, by which Kafka chooses the partition
 * @param row the row as text
 * @param kind the kind of the change
 * @param value the new row
 */
final private[changelog] case class NetRecords(
    key: Attribute,
    row: Attribute,
    kind: Attribute,
    value: Attribute,
    child: LogicalPlan)
  extends UnaryNode
  with ChangelogNode {

  override def output: Seq[Attribute] = Seq(key, value)

  // All of it is read, whatever is selected above: keys alone would make updates nothing.
  override lazy val references: AttributeSet = child.outputSet

  override protected def withNewChildInternal(newChild: LogicalPlan): NetRecords =
    copy(child = newChild)
}
