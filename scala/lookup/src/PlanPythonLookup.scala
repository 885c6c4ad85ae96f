package io.firesteel.lookup

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Literal, PlanExpression, PredicateHelper, PythonUDF}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.ArrowEvalPythonExec
import org.apache.spark.sql.firesteel.callFunction
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.IntegerType

/**
 * Plans a lookup by a Python connector: Spark's own Arrow workers answer batches of keys with an
 * array of rows for each, and the join unfolds the arrays.
 *
 * {{{
 *   PythonLookupJoin customers
 *   +- ArrowEvalPython [lookup(context, partition, keys)]
 *      +- Exchange, by number          (custom shuffle only)
 *         +- ArrowEvalPython [partition(context, keys)]
 *            +- left
 * }}}
 */
private[lookup] object PlanPythonLookup extends PredicateHelper {

  def apply(
      rule: String,
      session: SparkSession,
      query: LookupQuery,
      spec: PythonLookup,
      keys: Seq[KeyCandidate],
      filters: Option[Expression],
      residual: Option[Expression],
      options: LookupOptions,
      left: SparkPlan): SparkPlan = {
    def context(shuffle: ShuffleDecision): Expression =
      LookupRequest(requestOf(query, keys, filters, options, shuffle).json)
    val (shuffle, child, shard) = distribute(session, query, spec, keys, options, left, context)
    val columns = query.dimension.output
    val asked = Seq(context(shuffle), shard) ++ keys.map(_.value)
    val call = callOf(session, spec.udf, s"lookup_${spec.name}", asked)
    val answer = AttributeReference("lookup_answer", call.dataType)()
    val answered = ArrowEvalPythonExec(Seq(call), Seq(answer), child, call.evalType)
    PythonLookupJoinExec(
      rule,
      spec.name,
      query.left.output,
      keys.map(_.value),
      keys.map(_.column),
      answer,
      columns,
      query.projection,
      filters,
      residual,
      query.joinType,
      options,
      shuffle,
      answered
    )
  }

  private def distribute(
      session: SparkSession,
      query: LookupQuery,
      spec: PythonLookup,
      keys: Seq[KeyCandidate],
      options: LookupOptions,
      left: SparkPlan,
      context: ShuffleDecision => Expression): (ShuffleDecision, SparkPlan, Expression) = {
    val nobody = Literal(null, IntegerType)
    val absent = spec.partitionKeys.filterNot(keys.map(_.column.name).contains)
    if (!options.shuffle) (ShuffleDecision.Unchanged("not asked for"), left, nobody)
    else if (query.inOrder.nonEmpty) (ShuffleDecision.Unchanged(query.inOrder.get), left, nobody)
    else if (spec.partitionUdf.isEmpty) {
      val decision = PlanShuffle.byHash(keys, "the connector has no partitioner")
      (decision, hashed(decision, keys, left), nobody)
    } else if (absent.nonEmpty) {
      val decision =
        PlanShuffle.byHash(keys, s"the join gives no value for ${absent.mkString(", ")}")
      (decision, hashed(decision, keys, left), nobody)
    } else {
      val count = PlanShuffle.partitions
      val decision = ShuffleDecision.Custom(s"partitioner of ${spec.name}", count)
      val asked = context(decision) +: keys.map(_.value)
      val call = callOf(session, spec.partitionUdf.get, s"partition_${spec.name}", asked)
      val number = AttributeReference("lookup_number", call.dataType)()
      val numbered = ArrowEvalPythonExec(Seq(call), Seq(number), left, call.evalType)
      val shuffled =
        PlanShuffle.byNumber(query, spec.name, keys, number, spec.deterministic, numbered)
      (decision, shuffled, PlanShuffle.partitionOf(shuffled))
    }
  }

  /** A node that requires the distribution: the operator itself is above the Python call. */
  private def hashed(
      decision: ShuffleDecision,
      keys: Seq[KeyCandidate],
      left: SparkPlan): SparkPlan = decision match {
    case _: ShuffleDecision.Hash =>
      DistributedByExec(keys.filterNot(_.isConstant).map(_.value), left)
    case _ => left
  }

  /** @param shown the name in plans; the function's own name contains its registration */
  private def callOf(
      session: SparkSession,
      name: String,
      shown: String,
      arguments: Seq[Expression]): PythonUDF =
    callFunction(session, name, arguments)
      .collect { case call: PythonUDF => call.copy(name = shown) }
      .getOrElse(throw new IllegalStateException(s"$name is no Python function"))

  /** The description for the worker, with the worker's names. */
  private def requestOf(
      query: LookupQuery,
      keys: Seq[KeyCandidate],
      filters: Option[Expression],
      options: LookupOptions,
      shuffle: ShuffleDecision): WorkerRequest = {
    val wanted = query.projection.flatMap(_.references) ++ filters.toSeq.flatMap(_.references) ++
      keys.map(_.column)
    WorkerRequest(
      keys = keys.map(_.column.name),
      columns =
        query.dimension.output.filter(c => wanted.exists(_.exprId == c.exprId)).map(_.name),
      filters = told(filters),
      partitions = shuffle.customPartitions,
      cacheScope = SQLConf.get.getConf(LookupConf.CACHE_SCOPE),
      options = options
    )
  }

  /**
   * The filters that a connector may apply itself. The text of a subquery lacks its result, and that
   * of a hidden constant is none that a connector knows.
   */
  private def told(filters: Option[Expression]): Seq[String] =
    filters.toSeq
      .flatMap(splitConjunctivePredicates)
      .filterNot(_.exists(_.isInstanceOf[PlanExpression[_]]))
      .filterNot(KeyCandidate.hidesConstant)
      .map(_.sql)
}
