package io.firesteel.lookup

import io.firesteel.core.plans.ReadByKey
import org.apache.spark.sql.catalyst.analysis.MultiInstanceRelation
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Statistics, UnaryNode}

/**
 * Marks a relation that a join is to look up, with what the query says about how.
 *
 * Apart from that it is its child: names, types and join conditions are resolved by Spark as ever.
 * The optimizer leaves projections and filters above it, where [[LookupQuery]] reads them off as
 * what to push to the store.
 *
 * @param name as the query calls it, if it has a name
 * @param options as the hint wrote them, by lower-case name
 * @param asOf text of the time expression after `FOR SYSTEM_TIME AS OF`
 * @param inOrder why rows stay where they are and in their order, whatever the hint says
 */
private[lookup] final case class LookupTable(
    child: LogicalPlan,
    options: Map[String, String],
    asOf: Option[String],
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

  /** So large that no rule plans to read it whole for the benefit of something else. */
  val unknownSize: Statistics = Statistics(sizeInBytes = BigInt(Long.MaxValue))
}

/**
 * A dimension whose connector answers by key.
 *
 * @param name as an error or a plan shows it
 * @param options of the connector, `lookup.*` only
 * @param scan the relation to read it whole by, if it can be read so
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

  /** Those of these columns that the store can be asked by. */
  def keysAmong(columns: Seq[String]): Seq[String] = connector match {
    case Connector.Jvm(table) =>
      ConnectorCall(name, "lookupKeys", s"the columns ${columns.mkString(", ")}") {
        table.lookupKeys(columns.toArray).toSeq
      }
    case Connector.Python(spec) =>
      if (spec.keys.isEmpty) columns else columns.filter(spec.keys.contains)
  }

  /** The scan of a new instance is a new instance, too: it stands for the same columns. */
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

/** How the store of a relation is asked. */
private[lookup] sealed trait Connector {

  /** In a word, for plans. */
  def kind: String
}

private[lookup] object Connector {

  /** One that runs in the JVM. */
  final case class Jvm(table: SupportsLookup) extends Connector {
    override def kind: String = table.getClass.getSimpleName
  }

  /** One that runs in Spark's Python workers. */
  final case class Python(spec: PythonLookup) extends Connector {
    override def kind: String = "Python"
  }
}
