package io.firesteel.changelog.plan.share

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan}
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.streaming.{EventTimeWatermarkExec, StateStoreWriter}

/** Computes the parts in their order, then the query. See [[SharedPlans]]. */
final private[changelog] case class SharedPlansExec(
    parts: Seq[SharedPart],
    children: Seq[SparkPlan])
  extends SparkPlan {
  override def nodeName: String = "SharedPlans"
  override def output: Seq[Attribute] = children.last.output

  /** Adaptive execution would run shuffles above a part before the part. Without a link it does not. */
  override def logicalLink: Option[LogicalPlan] = None

  override protected def doExecute(): RDD[InternalRow] = computed

  /** Once: operators of the parts would write their state again. */
  @transient private lazy val computed: RDD[InternalRow] = {
    lazy val conf = session.sessionState.newHadoopConf()
    parts.zip(children).foreach { case (part, plan) =>
      val mustRun = plan.exists {
        case _: StateStoreWriter | _: EventTimeWatermarkExec => true
        case _ => false
      }
      part.keep(plan.execute(), plan.schema, mustRun, conf)
    }
    val read = readBy(children.last)
    parts.filterNot(read).foreach(_.release())
    children.last.execute()
  }

  /** The parts whose rows a plan reads when it runs; the others have been read by then. */
  private def readBy(plan: SparkPlan): Set[SharedPart] = plan.collectWithSubqueries {
    case SharedViewExec(part, _) => Set(part)
    case reused: ReusedExchangeExec => readBy(reused.child)
  }.flatten.toSet

  override def simpleString(maxFields: Int): String = s"$nodeName ${parts.mkString(", ")}"

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[SparkPlan]): SharedPlansExec = copy(children = newChildren)
}

/** Reads the rows of a part that has been computed in this micro-batch. See [[SharedView]]. */
final private[changelog] case class SharedViewExec(part: SharedPart, output: Seq[Attribute])
  extends LeafExecNode {
  override def nodeName: String = "SharedView"
  override lazy val metrics: Map[String, SQLMetric] =
    Map("numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val count = longMetric("numOutputRows")
    part.rows.map { row =>
      count += 1
      row
    }
  }

  override def simpleString(maxFields: Int): String =
    s"$nodeName $part ${output.mkString("[", ", ", "]")}"
}
