package io.firesteel.lookup

import io.firesteel.core.decide.Decisions
import scala.jdk.OptionConverters._

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeSet, Expression, Literal, Murmur3Hash, Pmod}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.exchange.{REPARTITION_BY_NUM, ShuffleExchangeExec}
import org.apache.spark.sql.firesteel.shuffleByNumber
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, DateType, DoubleType, IntegerType, LongType, StringType, TimestampNTZType, TimestampType}

/**
 * Plans a join with a dimension that is looked up.
 *
 * {{{
 *   Join (o.customer_id = c.id)         LookupJoin customers, lookup=[id=o.customer_id]
 *   :- o                            =>  +- Exchange, by the connector's partitioner or by hash
 *   +- Filter (c.type = 'x')               +- o
 *      +- LookupRelation customers
 * }}}
 *
 * A join that cannot be looked up is an error instead of a decline: the query asked for a lookup,
 * and often nothing else could read the dimension.
 *
 * Order of planning: keys, partitioner, decision, and then the lookup function. A connector that
 * loads only its share must know that the partitioner is really applied (FLIP-462).
 */
private[firesteel] object PlanLookupJoin extends SparkStrategy with Logging {

  /** The name in `firesteel.explain`. */
  val ruleName: String = "PlanLookupJoin"

  /** Reads no switch: adaptive execution plans a running query again. See [[UnmarkSwitchedOff]]. */
  override def apply(plan: LogicalPlan): Seq[SparkPlan] =
    LiftedLookup.of(plan).toSeq.map { lookup =>
      val planned = lookup.upon(this.planned(lookup.query))
      Decisions.fire(lookup.subject, ruleName)
      planned
    }

  private def planned(query: LookupQuery): SparkPlan =
    query.dimension match {
      case relation: LookupRelation =>
        val asked = optionsOf(query, fullByDefault = false)
        val options = if (query.inOrder.isEmpty) asked else asked.copy(ordered = true)
        options.cache match {
          case full: CachePolicy.Full =>
            val scan = relation.scan.getOrElse(throw LookupErrors.fullNotScannable(relation.name))
            PlanFullCache(ruleName, query, scan, full, planLater(query.left))
          case _ => keyed(query, relation, options)
        }
      case whole =>
        val options = optionsOf(query, fullByDefault = true)
        options.cache match {
          case full: CachePolicy.Full =>
            PlanFullCache(ruleName, query, whole, full, planLater(query.left))
          case other => throw LookupErrors.badOption(
              "lookup.cache",
              other.toString,
              s"FULL, because ${query.name} has no connector that answers by key")
        }
    }

  private def optionsOf(query: LookupQuery, fullByDefault: Boolean): LookupOptions = {
    val options = LookupOptions.of(query.options, SQLConf.get, fullByDefault)
    LookupOptions.unused(query.hinted, options.cache).foreach { case (name, cure) =>
      // A stream that was started with it goes on.
      if (!query.join.isStreaming) throw LookupErrors.unusedOption(name, cure)
      logWarning(s"The lookup option $name has no effect: add $cure, or leave it out.")
    }
    options
  }

  private def keyed(
      query: LookupQuery,
      relation: LookupRelation,
      options: LookupOptions): SparkPlan = {
    val keys = chooseKeys(query, relation)
    val filters = LookupQuery.ownFilters(query, keys).reduceOption(And(_, _))
    val residual = LookupQuery.residual(query, keys)
    relation.connector match {
      case Connector.Jvm(table) =>
        val source = LookupSource(relation.name, table)
        val columns = neededColumns(query, keys, filters)
        val (shuffle, child) = distribute(query, source, keys, options)
        LookupJoinExec(
          ruleName,
          source,
          query.left.output,
          keys.map(_.value),
          keys.map(_.column),
          keys.map(_.compared),
          columns,
          filters,
          query.projection,
          residual,
          query.joinType,
          options,
          shuffle,
          child
        )
      case Connector.Python(spec) =>
        PlanPythonLookup(
          ruleName,
          SparkSession.active,
          query,
          spec,
          keys,
          filters,
          residual,
          options.copy(ordered = true), // its worker answers a batch of rows at a time
          planLater(query.left)
        )
    }
  }

  private def chooseKeys(query: LookupQuery, relation: LookupRelation): Seq[KeyCandidate] = {
    // Columns by which a store cannot be asked are compared afterwards, if there is another key.
    val (stable, unstable) = LookupQuery
      .candidates(query)
      .partition(key => UnsafeRowUtils.isBinaryStable(key.column.dataType))
    val candidates = if (stable.isEmpty) unstable else stable
    val names = candidates.map(_.column.name)
    val chosen = relation.keysAmong(names)
    val keys = candidates.filter(key => chosen.contains(key.column.name))
    if (keys.isEmpty || chosen.exists(!names.contains(_))) {
      throw WhyNoKey(query, relation, names)
    }
    keys.find(key => !UnsafeRowUtils.isBinaryStable(key.column.dataType)).foreach { key =>
      throw LookupErrors.unsupportedKey(relation.name, key.column.name, key.column.dataType.sql)
    }
    keys.find(!_.value.deterministic).foreach { key =>
      throw LookupErrors.notDeterministic(relation.name, key.value.sql)
    }
    keys
  }

  private def neededColumns(
      query: LookupQuery,
      keys: Seq[KeyCandidate],
      filters: Option[Expression]): Seq[Attribute] = {
    val needed = AttributeSet(keys.map(_.column)) ++
      AttributeSet.fromAttributeSets(query.projection.map(_.references)) ++
      AttributeSet.fromAttributeSets(filters.map(_.references).toSeq)
    query.dimension.output.filter(needed.contains)
  }

  /** Decides the distribution. The plan shows the decision, not the hint. */
  private def distribute(
      query: LookupQuery,
      source: LookupSource,
      keys: Seq[KeyCandidate],
      options: LookupOptions): (ShuffleDecision, SparkPlan) = {
    val left = planLater(query.left)
    val keySchema = DataTypeUtils.fromAttributes(keys.map(_.column))
    def asked[T](method: String)(call: => T): T =
      ConnectorCall(source.name, method, s"the keys ${keySchema.fieldNames.mkString(", ")}")(call)
    if (!options.shuffle) (ShuffleDecision.Unchanged("not asked for"), left)
    else if (query.inOrder.nonEmpty) (ShuffleDecision.Unchanged(query.inOrder.get), left)
    else {
      source.table match {
        case custom: SupportsLookup with SupportsLookupCustomShuffle =>
          val needed = asked("partitionKeys")(custom.partitionKeys())
          val absent = needed.filterNot(keySchema.fieldNames.contains)
          if (absent.nonEmpty) {
            (
              PlanShuffle.byHash(keys, s"the join gives no value for ${absent.mkString(", ")}"),
              left)
          } else {
            asked("getPartitioner")(custom.getPartitioner(keySchema)).toScala match {
              case None =>
                (ShuffleDecision.Unchanged("the connector gave no partitioner"), left)
              case Some(partitioner) =>
                val count = PlanShuffle.partitions
                val number = PartitionOfKey(keys.map(_.value), source.name, partitioner, count)
                val name = PartitionOfKey.nameOf(partitioner)
                (
                  ShuffleDecision.Custom(name, count),
                  PlanShuffle.byNumber(
                    query,
                    source.name,
                    keys,
                    number,
                    number.deterministic,
                    left))
            }
          }
        case _ => (PlanShuffle.byHash(keys, "the connector has no partitioner"), left)
      }
    }
  }
}

/** The exchanges below a lookup join. */
private[lookup] object PlanShuffle {

  /** The number of shards of a custom shuffle. */
  def partitions: Int = {
    val conf = SQLConf.get
    conf.getConf(LookupConf.SHUFFLE_PARTITIONS).getOrElse(conf.numShufflePartitions)
  }

  /** Keys that are all constants cannot distribute rows. */
  def byHash(keys: Seq[KeyCandidate], why: String): ShuffleDecision =
    if (keys.forall(_.isConstant)) ShuffleDecision.Unchanged("every key is a constant")
    else ShuffleDecision.Hash(why)

  /**
   * Sends every row to the partition `number`, and checks that it exists.
   *
   * The exchange counts as a user's own repartition. Adaptive execution would merge small
   * partitions of any other exchange, and tasks would be asked keys of several shards.
   *
   * @param repeatable whether the same row always gets the same number
   */
  def byNumber(
      query: LookupQuery,
      connector: String,
      keys: Seq[KeyCandidate],
      number: Expression,
      repeatable: Boolean,
      child: SparkPlan): SparkPlan = {
    val count = partitions
    val checked =
      CheckedPartition(number, anywhere(query, count), keys.map(_.value), connector, count)
    val partition = Alias(checked, "lookup_partition")()
    val numbered = ProjectExec(query.left.output :+ partition, child)
    val shuffle = shuffleByNumber(partition.toAttribute, count)
    val sent = if (repeatable) numbered else UnrepeatableExec(numbered)
    ShuffleExchangeExec(shuffle, sent, REPARTITION_BY_NUM)
  }

  private val hashable: Set[DataType] =
    Set(IntegerType, LongType, DoubleType, StringType, DateType, TimestampType, TimestampNTZType)

  /** Spreads rows with a null in a key by their other columns; the same row always equally. */
  private def anywhere(query: LookupQuery, count: Int): Expression = {
    val hashed = query.left.output.filter(column => hashable.contains(column.dataType))
    if (hashed.isEmpty) Literal(0) else Pmod(Murmur3Hash(hashed, 42), Literal(count))
  }

  /** The column of a shuffled child that holds a row's partition. */
  def partitionOf(shuffled: SparkPlan): Attribute = shuffled.output.last
}
