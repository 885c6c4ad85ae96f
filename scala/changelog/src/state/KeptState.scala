package io.firesteel.changelog.state

import io.firesteel.changelog.common.ChangelogErrors
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{StateSchemaCompatibilityChecker, StateStoreId, StateStoreProviderId}
import org.apache.spark.sql.firesteel.stateSchemaFile
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo
import org.apache.spark.sql.types.StructType

/**
 * The state of an operator in the checkpoint when the query starts, on the driver. A checkpoint of
 * another query is refused before any data is read.
 *
 * @param operator its name in errors
 */
final private[state] class KeptState(
    state: StatefulOperatorStateInfo,
    operator: String,
    hadoopConf: Configuration) {

  private val file = new RecordFile(state.checkpointLocation, state.operatorId, hadoopConf)

  /** The record of the query that wrote the checkpoint, or the later version of its format. */
  private lazy val recorded: Option[Either[Int, OperatorRecord]] =
    file.read().map(OperatorRecord.read)

  /** Key and value of the store; none before the first micro-batch. */
  private lazy val schema: Option[(StructType, StructType)] = {
    val store = StateStoreId(
      state.checkpointLocation,
      state.operatorId,
      0,
      StateStoreId.DEFAULT_STORE_NAME)
    val file = stateSchemaFile(store.storeCheckpointLocation())
    if (!file.getFileSystem(hadoopConf).exists(file)) None
    else {
      val checker = new StateSchemaCompatibilityChecker(
        StateStoreProviderId(store, state.queryRunId),
        hadoopConf)
      checker.readSchemaFile().headOption.map(s => (s.keySchema, s.valueSchema))
    }
  }

  /** The columns of the store's key; of a shared store those of one member, as it names them. */
  def keys(member: Int, isShared: Boolean): Seq[String] =
    named(schema.map(_._1), member, isShared)

  /** The columns of the store's value; of a shared store those of one member. */
  def columns(member: Int, isShared: Boolean): Seq[String] =
    named(schema.map(_._2), member, isShared)

  private def named(all: Option[StructType], member: Int, isShared: Boolean): Seq[String] =
    all.toSeq.flatMap { columns =>
      if (isShared) SharedLayout.ownNames(member, columns) else columns.fieldNames.toSeq
    }

  /** The recorded aggregate calls of a member. */
  def calls(member: Int): Seq[CallRecord] =
    recorded.flatMap(_.toOption).toSeq.flatMap(_.members.lift(member)).flatMap(_.calls)

  /**
   * Refuses other columns. Spark compares types only, but two different sums may have one type. The
   * error names what differs in the query, if the records differ, and else the columns.
   *
   * @param otherwise the columns with a time to live if there is none now, else the columns without
   */
  def requireLayout(now: StateLayout, otherwise: StateLayout, record: OperatorRecord): Unit = {
    def differences(from: StateLayout) =
      schema.toSeq.flatMap { case (key, value) => from.differences(key, value) }
    // A join has other columns with a time to live, not only one more.
    def onlyTtl = differences(otherwise).isEmpty ||
      schema.exists(its => expires(its._2)) != expires(now.value) &&
      recorded.nonEmpty &&
      inQuery(record).isEmpty
    if (differences(now).nonEmpty) {
      throw (
        if (onlyTtl)
          ChangelogErrors.stateTtlChanged(operator, kept = !expires(now.value))
        else
          ChangelogErrors.stateMismatch(operator, inQuery(record).getOrElse(differences(now))))
    }
  }

  /** Whether values, or those of an operator in a shared store, have the time of their last write. */
  private def expires(value: StructType): Boolean =
    value.lastOption.exists(_.name.endsWith(StateLayout.writtenAt)) ||
      SharedLayout.valuesOf(value).exists(expires)

  private def inQuery(now: OperatorRecord): Option[Seq[String]] = recorded
    .flatMap(_.toOption)
    .map(now.differences)
    .filter(_.nonEmpty)

  /**
   * Refuses another query with the same columns, by its record. An earlier version of this library
   * wrote none, or one with less in it; then the record is written. A first micro-batch that is
   * repeated is compared, too: its target may have rows of the query that began.
   */
  def requireQuery(now: OperatorRecord, batchId: Long): Unit = {
    // As in `BegunPlan`.
    val version = recorded.flatMap(_.toOption).map(_.plan)
      .getOrElse(if (batchId == 0) now.plan else PlanVersion.first)
    recorded match {
      case None => file.write(now.copy(plan = version))
      case Some(Left(later)) => throw ChangelogErrors.laterRecord(operator, later)
      case Some(Right(old)) =>
        val differences = now.differences(old)
        if (differences.nonEmpty) throw ChangelogErrors.stateMismatch(operator, differences)
        if (old.format < now.format) file.write(now.copy(plan = version))
    }
  }
}
