package io.firesteel.bench

/** The measures that judge the cases of the lookup room. */
object LookupMeasure {

  /** The operator's metrics, by their names in the UI. */
  val requests: String = "round trips to the store"
  val hits: String = "rows answered from the cache"
  val misses: String = "keys asked of the store"

  /** Accumulators of the connector for files. */
  val bytesRead: String = "firesteel-files: bytes read"
  val rowsLoaded: String = "firesteel-files: rows loaded"
  val bucketsLoaded: String = "firesteel-files: buckets loaded"

  /** The time of one contestant as a multiple of another's, in the same round. */
  final case class Times(over: String, under: String) extends Measure {
    override def label: String = s"$over / $under"
    override def of(rounds: Rounds): Sample = rounds.ratio(over, under)
  }

  /** Rows of the stream by wall time, including planning and loading the cache. */
  final case class RowsPerCore(contestant: String, rows: Long, cores: Int) extends Measure {
    override def label: String = s"$contestant, rows/s per core"
    override def of(rounds: Rounds): Sample =
      Sample(rounds.seconds(contestant).values.map(rows / _ / cores))
  }

  /** Round trips for a thousand rows of the stream. */
  final case class RequestsPerThousand(contestant: String, rows: Long) extends Measure {
    override def label: String = s"$contestant, round trips per 1,000 rows"
    override def of(rounds: Rounds): Sample =
      Sample(rounds.runs(contestant).map(_.total(requests) * 1000.0 / rows))
  }

  /** One contestant's count as a multiple of another's. */
  final case class Needs(what: String, over: String, under: String, amount: Run => Long)
    extends Measure {
    override def label: String = s"$what, $over / $under"
    override def of(rounds: Rounds): Sample = {
      def needed(contestant: String) = Sample(rounds.runs(contestant).map(amount(_).toDouble))
      Sample.ofRatios(needed(over), needed(under))
    }
  }

  /** The share of rows that did not ask the store; none if no row was looked up. */
  def hitRate(run: Run): Option[Double] = {
    val (found, asked) = (run.total(hits), run.total(misses))
    Option.when(found + asked > 0)(found.toDouble / (found + asked))
  }
}
