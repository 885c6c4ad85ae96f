package io.firesteel.changelog.state

import io.firesteel.changelog.state.inputs.StateProbe
import io.firesteel.core.decide.FiredOperator
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.{Distribution, Partitioning, UnspecifiedDistribution}
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo
import org.apache.spark.sql.firesteel.PartitionRows

/**
 * An operator whose state is in the store of an operator above it, the host, without a shuffle
 * between them (Flink: MultipleInput). Both run in one task. Spark knows the host only: it has the
 * store, its commits, its watermark and its progress.
 *
 * @param operator what is run, over leaves of the children's columns
 * @param host where the store is; none while the micro-batch is planned
 */
final private[changelog] case class GuestExec(
    operator: StoreMember,
    host: Option[GuestExec.Host],
    children: Seq[SparkPlan])
  extends SparkPlan
  with FiredOperator {

  /** Its number among those that share the store; the host is 0. */
  def member: Int = operator.contract.placement.guest.get

  override def nodeName: String = operator.nodeName
  override def argString(maxFields: Int): String =
    (operator.argString(maxFields) +: host.map(its => s"storeOf=${its.name}").toSeq).mkString(", ")
  override def output: Seq[Attribute] = operator.output
  override def producedAttributes: AttributeSet = operator.producedAttributes
  @transient override lazy val references: AttributeSet = operator.references
  override def requiredChildDistribution: Seq[Distribution] =
    if (host.isEmpty) children.map(_ => UnspecifiedDistribution)
    else operator.requiredChildDistribution
  override def outputPartitioning: Partitioning = operator.placedAs(children)
  override def logicalLink: Option[LogicalPlan] = None

  override def firedRule: String = operator.firedRule
  override def firedMessage: String = operator.firedMessage
  override def firedValues: Map[String, String] =
    operator.firedValues + ("store" -> host.fold("that of an operator above")(_.name))

  /** The store's own metrics are the host's. */
  override lazy val metrics: Map[String, SQLMetric] = operator.ownMetrics

  override protected def doExecute(): RDD[InternalRow] = {
    val (work, number) = (operator.work(), member)
    val id = host.getOrElse(
      throw new IllegalStateException(s"$nodeName has no store to share")).info.operatorId
    PartitionRows.mapped(PartitionRows.together(children.map(_.execute()))) { inputs =>
      SharedStore.ofThisTask(id).guest(number, work)(inputs.next())
    }
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[SparkPlan]): SparkPlan = copy(children = newChildren)
}

private[changelog] object GuestExec {

  /** The operator with the store. */
  final case class Host(info: StatefulOperatorStateInfo, name: String)

  /** The operator as a guest, if it is one. */
  def orHost(operator: StoreMember): SparkPlan =
    if (operator.contract.placement.guest.isEmpty) operator
    else {
      val inputs = operator.children.map(StateProbe.without)
      val alone = operator.withState(None, inputs.map(input => GuestInputExec(input.output)))
      GuestExec(alone.asInstanceOf[StoreMember], None, inputs)
    }

  /** The inputs of a host, with what its guests must know of it. */
  private[state] def hosted(host: Host, input: SparkPlan): SparkPlan = input match {
    case guest: GuestExec if guest.host.isEmpty =>
      val of = guest.operator.withState(Some(host.info), guest.operator.children)
      GuestExec(
        of.asInstanceOf[StoreMember],
        Some(host),
        guest.children.map(hosted(host, _)))
    case _: StoreMember => input
    case other => other.withNewChildren(other.children.map(hosted(host, _)))
  }

  /** The guests below a plan: those that no shuffle and no other store is between. */
  private[changelog] def below(plan: SparkPlan): Seq[GuestExec] = plan match {
    case guest: GuestExec => guest.children.flatMap(below) :+ guest
    case _: StoreMember | _: Exchange => Nil
    case other => other.children.flatMap(below)
  }
}

/** The place of an input in the operator of a guest. It is never run. */
final private[state] case class GuestInputExec(output: Seq[Attribute]) extends LeafExecNode {
  override protected def doExecute(): RDD[InternalRow] =
    throw new IllegalStateException("the input of a guest is run by the guest")
}
