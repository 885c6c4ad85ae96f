package io.firesteel.changelog.state

import io.firesteel.changelog.plan.lower.{ChangelogNode, StatefulNode}
import io.firesteel.changelog.state.inputs.StateProbe
import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, BoundReference, Literal, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo
import org.apache.spark.sql.types.{LongType, StringType, StructField, StructType}

/**
 * The smallest operator with several inputs, each of one STRING column: counts, for each key that
 * the first input has had, the matches over all of them, which is the product of the rows of each.
 * Inputs that are replicated come whole to every partition, whatever their rows.
 *
 * {{{
 *   clustered a: x x    clustered b: x    replicated c: p q    =>    x, 2 * 1 * 2
 * }}}
 */
final private[state] case class MatchCounter(
    replicated: Seq[Boolean],
    key: Attribute,
    matches: Attribute,
    contract: ChangelogContract,
    children: Seq[LogicalPlan])
  extends StatefulNode {
  override protected def shown: Seq[String] = Seq(key.toString)
  override def output: Seq[Attribute] = Seq(key, matches) ++ contract.kindOut
  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[LogicalPlan]): MatchCounter = copy(children = newChildren)
}

private[state] object MatchCounter {

  /** Of streams with one STRING column each; the last ones are replicated. */
  def of(inputs: Seq[LogicalPlan], replicated: Int): MatchCounter = MatchCounter(
    inputs.indices.map(_ >= inputs.size - replicated),
    AttributeReference("key", StringType)(),
    AttributeReference("matches", LongType, nullable = false)(),
    ChangelogContract(
      inputs.map(_ => None),
      Some(ChangelogNode.newKind()),
      updateBefore = false,
      inputs.map(_ => None),
      ttl = None,
      new Watermark,
      "[I,UA]",
      MemberRecord("MatchCounter")
    ),
    inputs
  )

  object Plan extends SparkStrategy {
    override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
      case node: MatchCounter =>
        val inputs = node.children.map(planLater)
        MatchCounterExec(
          node.replicated,
          node.key,
          node.matches,
          node.contract,
          None,
          StateProbe(inputs.head) +: inputs.tail) :: Nil
      case _ => Nil
    }
  }
}

final private[state] case class MatchCounterExec(
    replicated: Seq[Boolean],
    key: Attribute,
    matches: Attribute,
    contract: ChangelogContract,
    stateInfo: Option[StatefulOperatorStateInfo],
    children: Seq[SparkPlan])
  extends NaryChangelogExec {

  override def shortName: String = "matchCounter"
  override def output: Seq[Attribute] = Seq(key, matches) ++ contract.kindOut
  override def producedAttributes: AttributeSet = outputSet
  override def plannedBy: String = "Plan"
  override def firedMessage: String = "matches are counted"
  override def firedValues: Map[String, String] = Map("operator" -> "MatchCounter")
  override protected def shown: Seq[String] = Seq(key.toString)

  override def distributions: Seq[InputDistribution] =
    children.zip(replicated).map { case (input, everywhere) =>
      if (everywhere) InputDistribution.Replicated
      else InputDistribution.Clustered(input.output.take(1))
    }

  override def layout: StateLayout = StateLayout.ofTables(
    "matches",
    Seq(StringType),
    children.indices.map(i => MatchCounterExec.table(i, replicated(i))))

  override def withState(
      info: Option[StatefulOperatorStateInfo],
      inputs: Seq[SparkPlan]): SparkPlan = copy(stateInfo = info, children = inputs)

  override protected def task(): StatefulTask = new MatchCounterTask(replicated, layout)
}

private[state] object MatchCounterExec {

  /** The number of rows of each key; of a replicated input one number, whose key is null. */
  def table(input: Int, replicated: Boolean): TableLayout = TableLayout(
    s"rows_$input",
    StructType(Nil),
    StructType(Seq(StructField("rows", LongType))),
    replicated)
}

/** Counts what has come; whatever has changed is emitted once the inputs are read. */
final private[state] class MatchCounterTask(replicated: Seq[Boolean], layout: StateLayout)
  extends StatefulTask {

  override def run(
      entries: StateEntries,
      partition: Int,
      inputs: Seq[Iterator[InternalRow]]): Iterator[InternalRow] = {
    val tables = layout.tables.indices.map(i => new StateTable(entries, layout, i))
    val toKey = UnsafeProjection.create(Seq(BoundReference(0, StringType, nullable = true)))
    val none = UnsafeProjection.create(Seq(Literal(null, StringType)))(InternalRow.empty).copy()
    val nothing = UnsafeProjection.create(Nil)(InternalRow.empty).copy()
    val value = UnsafeProjection.create(Seq(BoundReference(0, LongType, nullable = false)))
    def rows(table: Int, key: UnsafeRow): Long = {
      val stored = tables(table).get(if (replicated(table)) none else key, nothing)
      if (stored == null) 0L else stored.getLong(0)
    }
    def product(key: UnsafeRow): Long = tables.indices.map(rows(_, key)).product
    val before = scala.collection.mutable.LinkedHashMap.empty[UnsafeRow, Long]
    // A replicated row changes every key's number.
    if (inputs.zip(replicated).exists { case (input, everywhere) => everywhere && input.hasNext }) {
      tables.head.all.foreach { case (key, _, _) =>
        val copied = key.copy()
        before.getOrElseUpdate(copied, product(copied))
      }
    }
    inputs.zipWithIndex.foreach { case (input, i) =>
      input.foreach { row =>
        val key = if (replicated(i)) none else toKey(row).copy()
        if (!replicated(i)) before.getOrElseUpdate(key, product(key))
        tables(i).put(key, nothing, value(InternalRow(rows(i, key) + 1)))
      }
    }
    val toOutput = UnsafeProjection.create(Seq(
      BoundReference(0, StringType, nullable = true),
      BoundReference(1, LongType, nullable = false),
      Literal(RowKind.UpdateAfter)))
    before.iterator.collect {
      case (key, old) if product(key) != old =>
        toOutput(InternalRow(key.getUTF8String(0), product(key)))
    }
  }
}
