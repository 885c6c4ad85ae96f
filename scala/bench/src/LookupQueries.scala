package io.firesteel.bench

/** The queries of the cases of the lookup room. */
object LookupQueries {

  private val on = Map("spark.firesteel.enabled" -> "true")
  private val off = Map("spark.firesteel.enabled" -> "false")

  /** A join of stock Spark. */
  def stock(
      name: String,
      orders: String,
      dimension: String,
      settings: Map[String, String] = Map.empty,
      hint: String = ""): Contestant =
    Contestant(name, join(hint, orders, dimension), settings ++ off)

  /** A lookup join with the hint's options. */
  def lookup(
      name: String,
      orders: String,
      dimension: String,
      options: Seq[(String, String)],
      settings: Map[String, String] = Map.empty): Contestant = {
    val written = (("table" -> "c") +: options).map { case (key, value) => s"'$key'='$value'" }
    Contestant(
      name,
      join(written.mkString("/*+ LOOKUP(", ", ", ") */ "), orders, dimension),
      settings ++ on)
  }

  def partial(maxRows: Long): Seq[(String, String)] =
    Seq("lookup.cache" -> "PARTIAL", "lookup.partial-cache.max-rows" -> maxRows.toString)

  /** Orders, made while they are read, with customers by an expression over `id`. */
  def generated(rows: Long, tasks: Int, customer: String): String =
    s"(SELECT id AS seq, $customer AS customer FROM range(0, $rows, 1, $tasks))"

  /** Each of `keys` equally often. */
  def uniform(keys: Long): String = s"pmod(xxhash64(id, 1), $keys)"

  /** Customer n is about n times as rare as customer 1: the inverse of the distribution. */
  def zipf(keys: Long): String =
    s"CAST(pow($keys, pmod(xxhash64(id, 1), 1000000) / 1000000D) AS BIGINT) - 1"

  private def join(hint: String, orders: String, dimension: String): String =
    s"SELECT ${hint}o.seq, o.customer, c.name, c.region " +
      s"FROM $orders o JOIN $dimension c ON o.customer = c.id"
}
