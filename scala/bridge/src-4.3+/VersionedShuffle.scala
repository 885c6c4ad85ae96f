package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleOrigin}

/** The base of an exchange of ours, with the arguments of Spark's in the newest version. */
abstract class VersionedShuffle(
    partitioning: Partitioning,
    input: SparkPlan,
    origin: ShuffleOrigin,
    advisory: Option[Long],
    isPipelined: Boolean)
  extends ShuffleExchangeExec(partitioning, input, origin, advisory, isPipelined)
