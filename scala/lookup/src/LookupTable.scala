package io.firesteel.lookup

import io.firesteel.core.plans.ReadByKey
import org.apache.spark.sql.catalyst.analysis.{MultiInstanceRelation, RelationTimeTravel, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, ResolvedHint, Statistics, SubqueryAlias, UnaryNode}

/**
 * Marks a relation that a join looks up, with the query's options.
 *
 * In all other ways it is its child: Spark resolves names, types and join conditions as usual. The
 * optimizer leaves projections and filters above it, and [[LookupQuery]] reads them from there to
 * push them to the store.
 *
 * @param name its name in the query, if it has one
 * @param options as the hint wrote them, by lower-case name
 * @param asOf text of the time expression after `FOR SYSTEM_TIME AS OF`
 * @param inOrder the reason why rows must keep their tasks and their order, whatever the hint says
 */
private[lookup] final case class LookupTable(
    child: LogicalPlan,
    options: Map[String, String],
    override val asOf: Option[String],
    inOrder: Option[String] = None,
    name: Option[String] = None)
  extends UnaryNode
  with ReadByKey {

  override def output: Seq[Attribute] = child.output

  override def stats: Statistics = LookupTable.unknownSize

  override def inPlace(why: String): LogicalPlan = copy(inOrder = Some(why))

  override protected def stringArgs: Iterator[Any] =
    LookupValues.shown(
      name.map("table" -> _).toSeq ++ options.toSeq.sorted ++ asOf.map("asOf" -> _) ++ inOrder.map(
        "inOrder" -> _))

  override protected def withNewChildInternal(newChild: LogicalPlan): LookupTable =
    copy(child = newChild)
}

private[lookup] object LookupTable {

  /** Too large for any rule to plan an extra read of the whole table. */
  val unknownSize: Statistics = Statistics(sizeInBytes = BigInt(Long.MaxValue))

  /** A relation with a time that makes it a lookup, before it is resolved. */
  def asOf(relation: LogicalPlan, time: String): LookupTable =
    LookupTable(relation, Map.empty, Some(time), name = nameOf(relation))

  /** The name by which a query block knows a relation. */
  def nameOf(plan: LogicalPlan): Option[String] = plan match {
    case SubqueryAlias(alias, _) => Some(alias.name)
    case relation: UnresolvedRelation => Some(relation.multipartIdentifier.last)
    case travel: RelationTimeTravel => nameOf(travel.relation)
    case table: LookupTable => nameOf(table.child)
    case hint: ResolvedHint => nameOf(hint.child)
    case _ => None
  }
}

/**
 * A dimension whose connector answers by key.
 *
 * @param name its name in errors and plans
 * @param options options of the connector, `lookup.*` only
 * @param scan the relation to read it whole, if it can be scanned
 */
private[lookup] final case class LookupRelation(
    name: String,
    connector: Connector,
    output: Seq[Attribute],
    options: Map[String, String],
    scan: Option[LogicalPlan])
  extends LeafNode
  with MultiInstanceRelation
  with ReadByKey {

  /** Those of these columns by which the store can be asked. */
  def keysAmong(columns: Seq[String]): Seq[String] = connector match {
    case Connector.Jvm(table) =>
      ConnectorCall(name, "lookupKeys", s"the columns ${columns.mkString(", ")}") {
        table.lookupKeys(columns.toArray).toSeq
      }
    case Connector.Python(spec) =>
      if (spec.keys.isEmpty) columns else columns.filter(spec.keys.contains)
  }

  /** The scan of a new instance is a new instance too, because it has the same columns. */
  override def newInstance(): LogicalPlan = scan match {
    case Some(relation: MultiInstanceRelation) =>
      val renewed = relation.newInstance()
      copy(output = renewed.output, scan = Some(renewed))
    case _ => copy(output = output.map(_.newInstance()), scan = None)
  }

  override def computeStats(): Statistics = LookupTable.unknownSize

  override def inPlace(why: String): LogicalPlan = LookupTable(this, Map.empty, None, Some(why))

  override protected def stringArgs: Iterator[Any] =
    LookupValues.shown(
      Seq("table" -> name, "connector" -> connector.kind, "columns" -> output.mkString(", ")))
}

/** The connector of a relation. */
private[lookup] sealed trait Connector {

  /** The connector in one word, for plans. */
  def kind: String
}

private[lookup] object Connector {

  /** A connector that runs in the JVM. */
  final case class Jvm(table: SupportsLookup) extends Connector {
    override def kind: String = table.getClass.getSimpleName
  }

  /** A connector that runs in Spark's Python workers. */
  final case class Python(spec: PythonLookup) extends Connector {
    override def kind: String = "Python"
  }
}
