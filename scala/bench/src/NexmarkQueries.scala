package io.firesteel.bench

/**
 * A query of Nexmark, and how it runs on a stream.
 *
 * @param answer columns of whole numbers that have one right value, whatever is first of what ties;
 *   without averages, which are whole numbers in Flink and doubles in Spark
 * @param key of the result; a query that has one runs in update mode, all others in append mode
 * @param isStateful whether it keeps anything from one event to the next
 * @param closes whether its result waits for the end of windows
 */
final case class NexmarkQuery(
    name: String,
    answer: Seq[String],
    key: Seq[String] = Nil,
    isStateful: Boolean = true,
    closes: Boolean = false) {

  def sql: String = NexmarkEvents.sql(name)

  def mode: String = if (key.isEmpty) "append" else "update"
}

object NexmarkQueries {

  private val bid = Seq("auction", "bidder", "price")

  private val levels =
    Seq("total_bids", "rank1_bids", "rank2_bids", "rank3_bids")

  private val distinct =
    for {
      what <- Seq("bidders", "auctions")
      of <- Seq("total", "rank1", "rank2", "rank3")
    } yield s"${of}_$what"

  private def stateless(name: String, answer: Seq[String]) =
    NexmarkQuery(name, answer, isStateful = false)

  val all: Seq[NexmarkQuery] = Seq(
    stateless("q0", bid),
    stateless("q1", Seq("auction", "bidder")),
    stateless("q2", Seq("auction", "price")),
    NexmarkQuery("q3", Seq("id")),
    NexmarkQuery("q4", Seq("category"), key = Seq("category")),
    NexmarkQuery("q5", Seq("auction", "num"), closes = true),
    NexmarkQuery("q6", Seq("seller")),
    NexmarkQuery("q7", bid, closes = true),
    NexmarkQuery("q8", Seq("id"), closes = true),
    NexmarkQuery("q9", Seq("id", "reserve", "seller", "auction", "price"), key = Seq("id")),
    stateless("q10", bid),
    NexmarkQuery("q11", Seq("bidder", "bid_count"), closes = true),
    NexmarkQuery(
      "q12",
      Seq("bidder", "bid_count"),
      key = Seq("bidder", "starttime", "endtime")),
    stateless("q13", bid),
    stateless("q14", Seq("auction", "bidder", "c_counts")),
    NexmarkQuery("q15", levels ++ distinct, key = Seq("day")),
    NexmarkQuery("q16", levels ++ distinct, key = Seq("channel", "day")),
    NexmarkQuery(
      "q17",
      "auction" +: (levels ++ Seq("min_price", "max_price", "sum_price")),
      key = Seq("auction", "day")),
    NexmarkQuery("q18", Seq("auction", "bidder"), key = Seq("bidder", "auction")),
    NexmarkQuery(
      "q19",
      Seq("auction", "price", "rank_number"),
      key = Seq("auction", "rank_number")),
    NexmarkQuery("q20", bid ++ Seq("initialBid", "reserve", "seller")),
    stateless("q21", bid),
    stateless("q22", bid),
    NexmarkQuery("q23", Seq("bidder", "price", "person_id", "reserve", "seller"))
  )

  def of(name: String): NexmarkQuery = all.find(_.name == name).get
}
