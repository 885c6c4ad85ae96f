package io.firesteel.bench

/** The tables of the JSON cases: documents as text. */
object JsonTables {

  /** Orders of 15 fields, two of them structs and one an array; about 425 bytes. */
  val orderSchema: String =
    "'order_id BIGINT, customer STRING, email STRING, status STRING, price DOUBLE, quantity INT, " +
      "discount DECIMAL(10,2), placed TIMESTAMP, shipped DATE, express BOOLEAN, " +
      "address STRUCT<street: STRING, city: STRING, zip: STRING, country: STRING>, " +
      "tags ARRAY<STRING>, device STRUCT<os: STRING, version: INT>, note STRING, session STRING'"

  private def text(column: String): (String, String) = column -> """
    concat('{"order_id":', id, ',"customer":"customer ', pmod(xxhash64(id, 1), 100000),
      '","email":"user', pmod(xxhash64(id, 2), 100000), '@example.org","status":"',
      elt(1 + pmod(id, 4), 'placed', 'paid', 'shipped', 'returned'), '","price":',
      pmod(xxhash64(id, 3), 100000) / 100, ',"quantity":', 1 + pmod(xxhash64(id, 4), 20),
      ',"discount":', CAST(pmod(xxhash64(id, 5), 1000) / 100 AS DECIMAL(10,2)),
      ',"placed":"2026-0', 1 + pmod(id, 9), '-1', pmod(id, 10), 'T12:3', pmod(id, 7),
      ':45.123Z","shipped":"2026-0', 1 + pmod(id, 9), '-2', pmod(id, 8), '","express":',
      pmod(id, 3) = 0, ',"address":{"street":"', pmod(xxhash64(id, 6), 1000),
      ' Long Street","city":"', elt(1 + pmod(id, 5), 'Berlin', 'Paris', 'Rome', 'Oslo', 'Lima'),
      '","zip":"', 10000 + pmod(xxhash64(id, 7), 80000),
      '","country":"DE"},"tags":["new","gift","blue"],"device":{"os":"android","version":',
      10 + pmod(id, 5), '},"note":"leave it at the door, please","session":"', md5(CAST(id AS STRING)),
      '"}')"""

  def orders(rows: Long): Table = Table("orders_json", rows, Seq(text("j")))

  /** The same documents as lines of files. */
  def orderLines(rows: Long): Table =
    Table("orders_lines", rows, Seq(text("j")), lines = Some(orderSchema.replace("'", "")))

  /** 200 fields. */
  def wide(rows: Long): Table = {
    val fields = (0 until 200).map { i =>
      val value = i % 4 match {
        case 0 => s"pmod(xxhash64(id, $i), 100000)"
        case 1 => s"""'"text ', pmod(xxhash64(id, $i), 100000), '"'"""
        case 2 => s"pmod(xxhash64(id, $i), 100000) / 8"
        case _ => s"""'"', elt(1 + pmod(id + $i, 3), 'red', 'green', 'blue'), '"'"""
      }
      s"""'"field_$i":', $value"""
    }
    Table("wide_json", rows, Seq("j" -> s"concat('{', ${fields.mkString(", ',', ")}, '}')"))
  }

  /** Three fields, about 60 bytes. */
  def small(rows: Long): Table = Table(
    "small_json",
    rows,
    Seq("j" ->
      """concat('{"id":', id, ',"name":"name ', pmod(xxhash64(id, 1), 100000), '","value":',
        |  pmod(xxhash64(id, 2), 100000) / 8, '}')""".stripMargin)
  )

  /** Each string has escapes, and characters that are not ASCII. */
  def escaped(rows: Long): Table = Table(
    "escaped_json",
    rows,
    Seq("j" ->
      """concat('{"id":', id, ',"title":"\\"Stra\\u00dfe\\" ', pmod(xxhash64(id, 1), 1000),
        |  ' \\n größer","path":"C:\\\\new\\\\', pmod(xxhash64(id, 2), 1000),
        |  '\\tüber","quote":"«', pmod(id, 7), '» \\/ \\u20ac 日本語","more":"a\\\\b ñ ',
        |  pmod(id, 9), '"}')""".stripMargin)
  )

  /** Strings in single quotes, which are not JSON, but which Spark reads. */
  def quoted(rows: Long): Table = Table(
    "quoted_json",
    rows,
    Seq("j" -> s"replace(${text("j")._2}, '\"', '\\'')"))
}
