package io.firesteel.bench

import io.firesteel.bench.Target.{atMostTimes, neverSlower, timesFaster}

/** The cases of the JSON room: documents as text, and the functions that read them. */
object JsonBenchmark extends Room {

  override def name: String = "json"

  override def memory: Option[MemoryCase] = None

  private val shared = Map("spark.sql.optimizer.getJsonObjectSharedParsing.enabled" -> "true")

  /** @param rows five times the documents */
  override def cases(rows: Long): Seq[Case] = {
    val documents = math.max(rows / 5, 1)
    structs(documents) ++ Seq(paths(documents)) ++ forms(documents) ++ files(documents)
  }

  private def order(field: String): String = s"from_json(j, ${JsonTables.orderSchema}).$field"

  private def structs(rows: Long): Seq[Case] = Seq(
    Case(
      name = "three-fields",
      title = "from_json, 3 of 15 fields",
      table = JsonTables.orders(rows),
      sql = s"SELECT ${order("order_id")} AS a, ${order("status")} AS b, ${order("price")} AS c " +
        "FROM orders_json",
      compared = Seq("a", "b", "c"),
      targets = Seq(timesFaster(8), atMostTimes(2, Contestant.scan))
    ),
    Case(
      name = "all-fields",
      title = "from_json, all 15 fields",
      table = JsonTables.orders(rows),
      sql = s"SELECT from_json(j, ${JsonTables.orderSchema}) AS s FROM orders_json",
      compared = Seq("s"),
      targets = Seq(timesFaster(4))
    ),
    Case(
      name = "aggregate",
      title = "from_json, 3 fields, then sums by one of them",
      table = JsonTables.orders(rows),
      sql = s"SELECT ${order("status")} AS k, count(*) AS n, sum(${order("quantity")}) AS s, " +
        s"max(${order("price")}) AS m FROM orders_json GROUP BY 1",
      compared = Seq("k", "n", "s", "m"),
      targets = Seq(timesFaster(8))
    )
  )

  private def paths(rows: Long): Case = {
    val paths = Seq("order_id", "status", "price", "address.city", "device.os", "session")
    val calls = paths.zipWithIndex.map { case (path, i) =>
      s"get_json_object(j, '$$.$path') AS p$i"
    }
    Case(
      name = "six-paths",
      title = "six get_json_object over one column",
      table = JsonTables.orders(rows),
      sql = s"SELECT ${calls.mkString(", ")} FROM orders_json",
      compared = paths.indices.map(i => s"p$i"),
      targets = Seq(timesFaster(10)),
      references = Seq(
        Reference(
          "stock, shared parsing",
          s"SELECT ${calls.mkString(", ")} FROM orders_json",
          settings = shared))
    )
  }

  private def forms(rows: Long): Seq[Case] = {
    val fewer = math.max(rows / 10, 1)
    val text = "'title STRING, path STRING, quote STRING, more STRING'"
    Seq(
      Case(
        name = "wide",
        title = "documents of 200 fields, 2 read",
        table = JsonTables.wide(fewer),
        sql = "SELECT get_json_object(j, '$.field_40') AS a, " +
          "get_json_object(j, '$.field_161') AS b FROM wide_json",
        compared = Seq("a", "b"),
        targets = Seq(timesFaster(8)),
        references = Seq(
          Reference(
            "stock, shared parsing",
            "SELECT get_json_object(j, '$.field_40') AS a, " +
              "get_json_object(j, '$.field_161') AS b FROM wide_json",
            settings = shared)),
        note = f"$fewer%,d documents."
      ),
      Case(
        name = "small",
        title = "documents of 60 bytes, 3 fields",
        table = JsonTables.small(rows),
        sql = "SELECT from_json(j, 'id BIGINT, name STRING, value DOUBLE') AS s FROM small_json",
        compared = Seq("s"),
        targets = Seq(timesFaster(3))
      ),
      Case(
        name = "escapes",
        title = "escapes and other than ASCII in every string",
        table = JsonTables.escaped(rows),
        sql = s"SELECT from_json(j, $text) AS s FROM escaped_json",
        compared = Seq("s"),
        targets = Seq(timesFaster(3))
      ),
      Case(
        name = "handed-over",
        title = "every document is handed to Spark, 3 of 15 fields",
        table = JsonTables.quoted(rows),
        sql = s"SELECT ${order("order_id")} AS a, ${order("status")} AS b, " +
          s"${order("price")} AS c FROM quoted_json",
        compared = Seq("a", "b", "c"),
        targets = Seq(neverSlower)
      )
    )
  }

  private def files(rows: Long): Seq[Case] = Seq(
    Case(
      name = "lines-three-fields",
      title = "spark.read.json, 3 of 15 fields",
      table = JsonTables.orderLines(rows),
      sql = "SELECT order_id, status, price FROM orders_lines",
      compared = Seq("order_id", "status", "price"),
      targets = Seq(neverSlower)
    ),
    Case(
      name = "lines-all-fields",
      title = "spark.read.json, all 15 fields",
      table = JsonTables.orderLines(rows),
      sql = "SELECT * FROM orders_lines",
      compared = Seq("order_id", "status", "price", "tags", "address", "placed"),
      targets = Seq(neverSlower)
    ),
    Case(
      name = "lines-aggregate",
      title = "spark.read.json, 3 fields, then sums by one of them",
      table = JsonTables.orderLines(rows),
      sql = "SELECT status AS k, count(*) AS n, sum(quantity) AS s, max(price) AS m " +
        "FROM orders_lines GROUP BY 1",
      compared = Seq("k", "n", "s", "m"),
      targets = Seq(neverSlower)
    )
  )
}
