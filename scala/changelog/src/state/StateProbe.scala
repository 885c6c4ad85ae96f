package io.firesteel.changelog.state

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.{StatefulOperatorStateInfo, StreamingGlobalLimitExec}

/**
 * How an operator of ours learns where its state lies.
 *
 * Spark tells that only to operators that it knows, each by its class, when a micro-batch is planned.
 * So a limit of Spark's is planned below ours; Spark fills it, ours takes what it says and drops it.
 * The limit never runs: its number of rows is one that no query can ask for.
 */
private[changelog] object StateProbe {

  private val mark = -4242L

  def apply(child: SparkPlan): SparkPlan =
    StreamingGlobalLimitExec(mark, child, stateInfo = None, outputMode = None)

  /** A probe that Spark has filled, and what was planned below it. */
  def unapply(plan: SparkPlan): Option[(StatefulOperatorStateInfo, SparkPlan)] = plan match {
    case probe: StreamingGlobalLimitExec if probe.streamLimit == mark =>
      probe.stateInfo.map(_ -> probe.child)
    case _ => None
  }
}
