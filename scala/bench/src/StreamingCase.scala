package io.firesteel.bench

/**
 * One query for firesteel and for Flink: the same files, the same SQL, as a stream.
 *
 * @param sql over the table's name; for Flink too, unless `flink` has another
 * @param reads columns of the table that the query reads
 * @param answer columns of the result, all of whole numbers: both engines can sum those exactly
 * @param mode firesteel's output mode: update if the result has a key, as for Flink's sink, else
 *   append
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
 * Declarations that only Flink needs.
 *
 * @param columns computed columns and watermarks of the table
 * @param sql replaces the case's
 */
final case class FlinkDialect(
    columns: Seq[String] = Nil,
    sql: Option[String] = None,
    settings: Map[String, String] = Map.empty)

/**
 * The result of a case. It exists only if all answers were equal.
 *
 * @param truth the answer of the batch query
 * @param batches micro-batches of one run
 * @param state rows in state at the end, and bytes of memory by the provider's own count
 * @param operators firesteel's stateful operators, from the sink down
 * @param flinkPlan Flink's text of its plan
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

/** Rows and bytes of all stateful operators of a query. */
final case class StateSize(rows: Long, bytes: Long)

/** How many times faster than Flink. */
case object StreamingMeasure extends Measure {
  override def label: String = s"${StreamingContestant.flink} / ${StreamingContestant.firesteel}"
  override def of(rounds: Rounds): Sample =
    rounds.ratio(StreamingContestant.flink, StreamingContestant.firesteel)
}

/** Names of the contestants that run in turn. */
object StreamingContestant {
  val firesteel: String = Contestant.firesteel
  val rocksDb: String = "firesteel, RocksDB"
  val flink: String = "Flink"
  val flinkCheckpoints: String = "Flink, checkpoints"
  val sparkScan: String = "Spark's scan"
  val flinkScan: String = "Flink's scan"

  val all: Seq[String] = Seq(firesteel, flink, rocksDb, flinkCheckpoints, sparkScan, flinkScan)
}
