package io.firesteel.changelog.state.inputs

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.streaming.{StatefulOperatorStateInfo, StreamingGlobalLimitExec}

/**
 * Finds out where the state of an operator lies.
 *
 * Spark passes that information to its own operators only, by their classes, when it plans a
 * micro-batch. So one of Spark's limits is planned below the operator. Spark fills it in; the
 * operator takes the information and drops the limit. The limit never runs: its number of rows is
 * one that no query can ask for.
 */
private[changelog] object StateProbe {

  private val mark = -4242L

  def apply(child: SparkPlan): SparkPlan =
    StreamingGlobalLimitExec(mark, child, stateInfo = None, outputMode = None)

  /** The plan without the probe above it, if there is one. */
  def without(plan: SparkPlan): SparkPlan = plan match {
    case probe: StreamingGlobalLimitExec if probe.streamLimit == mark => probe.child
    case other => other
  }

  /** A probe that Spark has filled in, and its child. */
  def unapply(plan: SparkPlan): Option[(StatefulOperatorStateInfo, SparkPlan)] = plan match {
    case probe: StreamingGlobalLimitExec if probe.streamLimit == mark =>
      probe.stateInfo.map(_ -> probe.child)
    case _ => None
  }
}
