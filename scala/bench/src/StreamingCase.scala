package io.firesteel.bench

/**
 * One question to firesteel and to Flink: the same files, the same SQL, asked of a stream.
 *
 * @param sql over the table's name; Flink's too unless `flink` has another
 * @param reads columns of the table that the query reads
 * @param answer columns of the result, whole numbers all of them: both engines can add those up
 * @param mode in which firesteel writes: update where the result has a key, as Flink's sink takes it,
 *   else append
 * @param target how many times faster than Flink
 */
final case class StreamingCase(
    name: String,
    title: String,
    note: String,
    table: Table,
    sql: String,
    reads: Seq[String],
    answer: Seq[String],
    target: Option[Double],
    mode: String = "update",
    flink: FlinkDialect = FlinkDialect())

/**
 * What Flink is told that Spark need not be.
 *
 * @param columns computed columns and watermarks of the table
 * @param sql instead of the case's
 */
final case class FlinkDialect(
    columns: Seq[String] = Nil,
    sql: Option[String] = None,
    settings: Map[String, String] = Map.empty)

/**
 * What came of a case; all answers were equal, or there is none.
 *
 * @param truth what the batch query answers
 * @param batches micro-batches of one run
 * @param state rows in state at the end, and bytes of memory by the provider's own count
 * @param operators firesteel's stateful operators, from the sink down
 * @param flinkPlan Flink's own words
 * @param warmUps rounds before those that count
 */
final case class StreamingResult(
    question: StreamingCase,
    truth: StockOutcome.Answered,
    stock: StockVerdict,
    batches: Int,
    state: StateSize,
    operators: Seq[String],
    flinkPlan: String,
    warmUps: Rounds,
    rounds: Rounds) {

  def speedUp: Sample = StreamingMeasure.of(rounds)

  def target: Option[Target] =
    question.target.map(times => Target(StreamingMeasure, Bound.AtLeast(times)))
}

/** Rows and bytes of a query's stateful operators together. */
final case class StateSize(rows: Long, bytes: Long)

/** How many times faster than Flink. */
case object StreamingMeasure extends Measure {
  override def label: String = s"${StreamingContestant.flink} / ${StreamingContestant.firesteel}"
  override def of(rounds: Rounds): Sample =
    rounds.ratio(StreamingContestant.flink, StreamingContestant.firesteel)
}

/** Names of those that run in turn. */
object StreamingContestant {
  val firesteel: String = Contestant.firesteel
  val rocksDb: String = "firesteel, RocksDB"
  val flink: String = "Flink"
  val flinkCheckpoints: String = "Flink, checkpoints"
  val sparkScan: String = "Spark's scan"
  val flinkScan: String = "Flink's scan"

  val all: Seq[String] = Seq(firesteel, flink, rocksDb, flinkCheckpoints, sparkScan, flinkScan)
}
