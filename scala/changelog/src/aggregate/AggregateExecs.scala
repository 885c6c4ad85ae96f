package io.firesteel.changelog.aggregate

import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.fold.FoldLimits
import io.firesteel.changelog.plan.PlanText
import io.firesteel.changelog.state.{ChangelogContract, MemberRecord, StateLayout, StatefulTask, UnaryChangelogExec, WholeKey}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, BindReferences, Expression, Literal, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo
import org.apache.spark.sql.types.ByteType

/**
 * The half of an aggregate below the exchange: the partial result that the rows of a task add to
 * each group's state.
 *
 * The columns of the child are `keys ++ arguments ++ kindIn`, in this order.
 *
 * Memory: [[ChangelogConf.MAX_BUFFERED_ROWS]] groups and values; at that limit it emits its partial
 * results and continues.
 */
final private[changelog] case class PartialAggregateExec(
    keys: Seq[Attribute],
    arguments: Seq[Attribute],
    functions: Seq[Expression],
    distinct: Seq[Boolean],
    kindIn: Option[Attribute],
    delta: Seq[Attribute],
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "PartialChangelogAggregate"
  override def argString(maxFields: Int): String =
    s"${PlanText.columns(keys)}, ${PlanText.list(PlanText.calls(functions, distinct, arguments))}"
  override def output: Seq[Attribute] = delta
  override def producedAttributes: AttributeSet = outputSet -- child.outputSet
  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val layout = AggregateExecs.layout(keys, functions, distinct, kindIn, isGlobal = false)
    val kindAt = if (kindIn.isEmpty) -1 else keys.size + arguments.size
    val (limit, out) = (conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS), longMetric("numOutputRows"))
    child.execute().mapPartitions { rows =>
      new PartialAggregate(rows, FoldLimits.ofThisTask(limit), layout, kindAt).map { row =>
        out += 1; row
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}

/**
 * Executes [[GroupAggregate]] on the partial results of [[PartialAggregateExec]].
 *
 * @param once whether a group is emitted once, when the watermark closes it
 */
final private[changelog] case class ChangelogAggregateExec(
    keys: Seq[Attribute],
    functions: Seq[Expression],
    distinct: Seq[Boolean],
    results: Seq[Attribute],
    isGlobal: Boolean,
    once: Boolean,
    calls: Seq[String],
    plannedBy: String,
    contract: ChangelogContract,
    stateInfo: Option[StatefulOperatorStateInfo],
    child: SparkPlan)
  extends UnaryChangelogExec {

  override def shortName: String = "changelogAggregate"
  override def output: Seq[Attribute] = keys ++ results ++ contract.kindOut
  override def producedAttributes: AttributeSet = outputSet -- child.outputSet
  // Arguments are read below the exchange; only partial results arrive here.
  @transient override lazy val references: AttributeSet = AttributeSet(keys)
  override def clusteredBy: Seq[Attribute] = keys

  /** The layout of the checkpoint's store, once the driver has read which calls wrote it. */
  private def aggregateLayout: AggregateLayout = {
    val kept = contract.keptCalls
    new AggregateLayout(
      keys,
      functions,
      distinct,
      contract.kindIn.nonEmpty,
      isGlobal,
      kept.columnsOf(contract.member.calls.map(_.text)),
      kept.columns)
  }

  override def member: MemberRecord = {
    val recorded = contract.member.calls
    // Unnamed functions of a user have one text; then calls are found by their places.
    val named = functions.map(_.canonicalized).zip(recorded).distinct.size ==
      recorded.map(_.text).distinct.size
    if (!named) contract.member
    else {
      val columns = aggregateLayout.columnsOfCalls
      contract.member.copy(calls =
        recorded.zip(columns).map { case (call, its) => call.copy(columns = its) })
    }
  }

  override def layout: StateLayout = aggregateLayout.state

  override protected def shown: Seq[String] =
    Seq(PlanText.columns(keys), PlanText.list(calls)) ++ Option.when(once)("once")

  override def emitsAtClose: Boolean = once
  override protected def alwaysPlaced: Boolean = once

  override def firedMessage: String =
    if (once) "groups are kept in state, and emitted once, when the watermark closes them"
    else "groups are kept in state, and each micro-batch emits the changes of their results"

  override def firedValues: Map[String, String] = Map(
    "operator" -> "Aggregate",
    "changelogMode" -> contract.mode,
    "keys" -> keys.map(_.name).mkString(", "),
    "state" -> stateText
  ) ++ shuffleText

  override def withState(
      info: Option[StatefulOperatorStateInfo],
      inputs: Seq[SparkPlan]): SparkPlan = copy(stateInfo = info, child = inputs.head)

  override protected def task(): StatefulTask = {
    val (layout, before) = (aggregateLayout, contract.updateBefore)
    val limit = conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
    val (expressions, inputs) = AggregateExecs.resultColumns(keys, functions)
    val home = if (isGlobal) Some(WholeKey.homeOf(getStateInfo.numPartitions)) else None
    val isOnce = once
    def results() = new GroupResults(layout, UnsafeProjection.create(expressions, inputs))
    val atClose: StatefulTask.AtClose = (entries, closed) => results().closing(entries, closed)
    val changes: StatefulTask.OfOneInput = (entries, place, rows) => {
      val whole = home.filter(_ == place).map(_ => WholeKey.row())
      new FinalAggregate(
        rows,
        FoldLimits.ofThisTask(limit),
        layout,
        results(),
        before,
        whole,
        isOnce,
        entries)
    }
    if (once) StatefulTask.ofOne(changes, atClose) else StatefulTask.ofOne(changes)
  }
}

private[changelog] object AggregateExecs {

  def layout(
      keys: Seq[Attribute],
      functions: Seq[Expression],
      distinct: Seq[Boolean],
      kindIn: Option[Attribute],
      isGlobal: Boolean): AggregateLayout =
    new AggregateLayout(
      keys,
      functions,
      distinct,
      kindIn.nonEmpty,
      isGlobal)

  /** The columns between the halves: those of the store's key and value. */
  def delta(keys: Seq[Attribute], layout: AggregateLayout): Seq[Attribute] =
    keys ++ (layout.state.key.drop(keys.size) ++ layout.state.value).map { field =>
      AttributeReference(field.name, field.dataType, nullable = true)()
    }

  /** The result row from keys and buffers; the row kind, its last column, is set in place. */
  def resultColumns(
      keys: Seq[Attribute],
      functions: Seq[Expression]): (Seq[Expression], Seq[Attribute]) = {
    val results = functions.map {
      case function: DeclarativeAggregate =>
        (function.aggBufferAttributes, function.evaluateExpression)
      case any =>
        val made = AttributeReference(any.prettyName, any.dataType, any.nullable)()
        (Seq(made), made)
    }
    val inputs = keys ++ results.flatMap(_._1)
    val kind = Literal(0.toByte, ByteType)
    val columns = keys ++ results.map(_._2) :+ kind
    (BindReferences.bindReferences(columns, inputs), inputs)
  }
}
