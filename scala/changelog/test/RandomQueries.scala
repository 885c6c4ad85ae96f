package io.firesteel.changelog

import org.apache.spark.sql.Row
import org.scalacheck.Gen

/**
 * Random queries of all operators of the room over a random table `{t}`, three levels deep at most,
 * and random rows that break careless operators.
 *
 * Only queries whose answer is one answer: places in an order are told apart by all columns, unless
 * the function gives ties the same place.
 */
object RandomQueries {

  val schema: String = "k INT, g STRING, v BIGINT, d DOUBLE, w DECIMAL(30,2), id BIGINT"

  /** A column and what may be done with it; sums of ratios depend on the order of adding. */
  final case class Column(name: String, kind: String)

  final case class Query(sql: String, columns: Seq[Column])

  private def orNull[T](values: Gen[T]): Gen[Any] =
    Gen.frequency[Any](1 -> Gen.const(null), 7 -> values)

  private val doubles = Gen.oneOf(
    Gen.oneOf(0.0, -0.0, 1.5, -2.5),
    Gen.oneOf(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, 1024.25))

  private val row: Gen[Seq[Any]] = for {
    k <- orNull(Gen.choose(0, 3))
    g <- orNull(Gen.oneOf("", "a", "A", "longer than eight bytes"))
    v <- orNull(Gen.choose(-4L, 4L))
    d <- orNull(doubles)
    w <- orNull(Gen.oneOf("0.01", "-7.25", "9999999999999999999999.99", "3").map(
      new java.math.BigDecimal(_).setScale(2)))
  } yield Seq(k, g, v, d, w)

  /** Micro-batches, some of them empty; rows may be equal but for their id, and the id too. */
  val batches: Gen[Seq[Seq[Row]]] = for {
    count <- Gen.choose(2, 5)
    batches <- Gen.listOfN(count, Gen.choose(0, 9).flatMap(Gen.listOfN(_, row)))
    repeats <- Gen.choose(1, 4)
  } yield {
    var id = 0
    batches.map(_.map { values =>
      id += 1
      Row.fromSeq(values :+ (id / repeats).toLong)
    })
  }

  private val columns =
    Seq("k" -> "int", "g" -> "text", "v" -> "int", "d" -> "float", "w" -> "decimal")
      .map { case (name, kind) => Column(name, kind) } :+ Column("id", "int")

  /** The table itself. */
  val plain: Query = Query("SELECT * FROM {t}", columns)

  private val base: Gen[Query] =
    Gen.oneOf(
      "SELECT * FROM {t}",
      "SELECT * FROM {t} WHERE v IS NULL OR v > -2",
      "SELECT * FROM {t} UNION ALL SELECT k + 1, g, v, d, w, id FROM {t} WHERE k < 2"
    ).map(Query(_, columns))

  val query: Gen[Query] = for {
    depth <- Gen.choose(1, 3)
    query <- (1 to depth).foldLeft(base)((below, _) => below.flatMap(above))
  } yield query

  /** An operator above a query. */
  def above(below: Query): Gen[Query] = Gen.frequency(
    5 -> aggregate(below),
    3 -> topN(below),
    3 -> over(below),
    2 -> trending(below),
    1 -> distinct(below),
    1 -> limit(below),
    2 -> filter(below),
    1 -> union(below))

  private def aggregate(below: Query): Gen[Query] = for {
    keyCount <- Gen.frequency(1 -> 0, 3 -> 1, 2 -> 2)
    keys <- Gen.pick(math.min(keyCount, below.columns.size), below.columns)
    callCount <- Gen.choose(1, 3)
    calls <- Gen.listOfN(callCount, call(below))
    having <- Gen.oneOf("", "", "", "HAVING count(*) > 1", "HAVING max(1) IS NOT NULL")
    rolledUp <- Gen.frequency(4 -> false, 1 -> true)
  } yield {
    val named = keys.toSeq.zipWithIndex.map { case (key, i) => key -> s"key$i" }
    val results = calls.zipWithIndex.map { case ((sql, kind), i) => (sql, Column(s"f$i", kind)) }
    val select = named.map { case (key, name) => s"${key.name} AS $name" } ++
      results.map { case (sql, column) => s"$sql AS ${column.name}" }
    val names = keys.map(_.name).mkString(", ")
    val by =
      if (keys.isEmpty) ""
      else if (rolledUp) s"GROUP BY ROLLUP($names)"
      else s"GROUP BY $names"
    Query(
      s"SELECT ${select.mkString(", ")} FROM (${below.sql}) $by $having",
      named.map { case (key, name) => Column(name, key.kind) } ++ results.map(_._2))
  }

  private def call(below: Query): Gen[(String, String)] = for {
    column <- Gen.oneOf(below.columns)
    function <- Gen.oneOf(functions(column.kind))
    where <- Gen.oneOf("", "", "", s"FILTER (WHERE ${column.name} IS NOT NULL)", condition(below))
  } yield {
    val call = function._1.replace("c", column.name).replace("#", "c")
    val filtered = if (call.contains("?")) call.replace("?", where) else s"$call $where"
    (filtered, function._2)
  }

  private def condition(below: Query): String =
    below.columns.find(_.kind == "int").fold("")(c => s"FILTER (WHERE ${c.name} % 2 = 0)")

  /**
   * Calls on a column `c`, in which `#` stands for the letter c and `?` for the place of a `FILTER`, by default the
   * end; and the kinds of their results.
   */
  private def functions(kind: String): Seq[(String, String)] = {
    val any = Seq(
      "#ount(*)" -> "int",
      "#ount(c)" -> "int",
      "min(c)" -> kind,
      "max(c)" -> kind,
      "#ount(DISTINCT c)" -> "int",
      "max_by(c, c)" -> kind,
      "#ardinality(#olle#t_list(c) ?)" -> "int",
      "#ardinality(#olle#t_set(c) ?)" -> "int",
      "approx_#ount_distin#t(DISTINCT c)" -> "int"
    )
    val sums = kind match {
      case "int" => Seq(
          "sum(c)" -> "int",
          "avg(c)" -> "ratio",
          "sum(DISTINCT c)" -> "int",
          "per#entile(c, 0.5)" -> "ratio",
          "bit_or(c)" -> "int")
      case "float" => Seq("sum(c)" -> "float", "avg(c)" -> "ratio")
      // A sum of sums would have more digits than there are.
      case "decimal" => Seq("sum(c)" -> "wide", "avg(c)" -> "wide")
      case _ => Nil
    }
    any ++ sums
  }

  private def topN(below: Query): Gen[Query] = for {
    partition <- Gen.option(Gen.oneOf(below.columns))
    order <- Gen.oneOf(below.columns)
    direction <- Gen.oneOf("", "DESC", "DESC NULLS FIRST", "NULLS LAST")
    function <- Gen.frequency(4 -> "row_number", 1 -> "rank", 1 -> "dense_rank")
    bound <- Gen.oneOf("rn <= 3", "rn = 1", "2 >= rn", "rn BETWEEN 2 AND 3", "rn < 2", "rn = 2")
    shown <- Gen.oneOf(true, false)
  } yield {
    val all = below.columns.map(_.name)
    val by =
      if (function == "row_number") order.name +: all.filter(_ != order.name) else Seq(order.name)
    val sorted = (s"${by.head} $direction" +: by.tail).mkString(", ")
    val of = partition.fold("")(p => s"PARTITION BY ${p.name}")
    val place = s"place${all.size}"
    val select = if (shown) all :+ s"rn AS $place" else all
    Query(
      s"SELECT ${select.mkString(", ")} FROM (SELECT *, $function() OVER ($of ORDER BY $sorted) AS rn " +
        s"FROM (${below.sql})) WHERE $bound",
      if (shown) below.columns :+ Column(place, "int") else below.columns
    )
  }

  /** Functions over the rows around each row. */
  private def over(below: Query): Gen[Query] = for {
    partition <- Gen.option(Gen.oneOf(below.columns))
    order <- Gen.oneOf(below.columns)
    direction <- Gen.oneOf("", "DESC", "DESC NULLS FIRST", "NULLS LAST")
    count <- Gen.choose(1, 2)
    own <- Gen.oneOf(true, false)
    calls <- Gen.listOfN(count, if (own) windowCall(below) else framedCall(below, order))
  } yield {
    val by = order.name +: below.columns.map(_.name).filter(_ != order.name)
    val of = partition.fold("")(p => s"PARTITION BY ${p.name}")
    val made = calls.zipWithIndex.map { case ((call, frame, kind), i) =>
      val columns = if (frame.startsWith("RANGE")) by.take(1) else by
      val sorted = (s"${columns.head} $direction" +: columns.tail).mkString(", ")
      val name = s"over${below.columns.size + i}"
      (s"$call OVER ($of ORDER BY $sorted $frame) AS $name", Column(name, kind))
    }
    Query(
      s"SELECT *, ${made.map(_._1).mkString(", ")} FROM (${below.sql})",
      below.columns ++ made.map(_._2))
  }

  /** A function with a frame of its own. */
  private def windowCall(below: Query): Gen[(String, String, String)] = for {
    column <- Gen.oneOf(below.columns)
    call <- Gen.oneOf(
      "row_number()" -> "int",
      "rank()" -> "int",
      "dense_rank()" -> "int",
      "ntile(2)" -> "int",
      "cume_dist()" -> "ratio",
      s"lag(${column.name})" -> column.kind,
      s"lead(${column.name}, 2)" -> column.kind,
      s"lag(${column.name}, 1) IGNORE NULLS" -> column.kind
    )
  } yield (call._1, "", call._2)

  /** An aggregate function over a frame. */
  private def framedCall(below: Query, order: Column): Gen[(String, String, String)] = for {
    column <- Gen.oneOf(below.columns)
    function <- Gen.oneOf(functions(column.kind).filterNot { case (call, _) =>
      call.contains("DISTINCT") || call.contains("?")
    } ++
      Seq("first_value(c)" -> column.kind, "last_value(c)" -> column.kind))
    unit <- if (order.kind == "int") Gen.oneOf("ROWS", "RANGE") else Gen.const("ROWS")
    ends <- Gen.oneOf(
      "UNBOUNDED PRECEDING AND CURRENT ROW",
      "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
      "CURRENT ROW AND UNBOUNDED FOLLOWING",
      "1 PRECEDING AND CURRENT ROW",
      "2 PRECEDING AND 1 PRECEDING",
      "1 PRECEDING AND 1 FOLLOWING",
      "CURRENT ROW AND 2 FOLLOWING"
    )
  } yield {
    // Rows that tie have no order among themselves.
    val call =
      if (unit == "RANGE" && function._1.contains("_value")) "#ount(c)" -> "int" else function
    val text = call._1.replace("c", column.name).replace("#", "c").replace("?", "")
    (text, s"$unit BETWEEN $ends", call._2)
  }

  /** The groups with the most rows, or the largest value: over rows that come, these only improve. */
  private def trending(below: Query): Gen[Query] = for {
    keyCount <- Gen.frequency(1 -> 0, 4 -> 2)
    keys <- Gen.pick(math.min(keyCount, below.columns.size), below.columns)
    column <- Gen.oneOf(below.columns)
    by <- Gen.oneOf(s"count(${column.name})" -> "int", s"max(${column.name})" -> column.kind)
    function <- Gen.oneOf("row_number", "rank", "dense_rank")
    of <- if (keys.isEmpty) Gen.const("") else Gen.oneOf("", "PARTITION BY key0")
    ties <- if (function == "row_number") Gen.const(false) else Gen.oneOf(true, false)
    n <- Gen.choose(1, 3)
    shown <- Gen.oneOf(Seq(Column("position", "int")), Nil)
  } yield {
    val named = keys.toSeq.zipWithIndex.map { case (key, i) => key -> s"key$i" }
    val select = (named.map { case (key, name) => s"${key.name} AS $name" } :+
      s"${by._1} AS best, count(*) AS rows").mkString(", ")
    val group = if (keys.isEmpty) "" else keys.map(_.name).mkString("GROUP BY ", ", ", "")
    val columns = named.map { case (key, name) => Column(name, key.kind) } ++
      Seq(Column("best", by._2), Column("rows", "int")) ++ shown
    val order = ("best DESC" +: (if (ties) Nil else named.map(_._2))).mkString(", ")
    Query(
      s"SELECT ${columns.map(_.name).mkString(", ")} FROM (SELECT *, rn AS position FROM (SELECT *, " +
        s"$function() OVER ($of ORDER BY $order) AS rn FROM (SELECT $select " +
        s"FROM (${below.sql}) $group)) WHERE rn <= $n)",
      columns
    )
  }

  private def distinct(below: Query): Gen[Query] = for {
    count <- Gen.choose(1, 2)
    columns <- Gen.pick(math.min(count, below.columns.size), below.columns)
  } yield Query(
    s"SELECT DISTINCT ${columns.map(_.name).mkString(", ")} FROM (${below.sql})",
    columns.toSeq)

  private def limit(below: Query): Gen[Query] = for {
    order <- Gen.oneOf(below.columns)
    n <- Gen.choose(1, 4)
    offset <- Gen.oneOf("", "OFFSET 1")
  } yield {
    val by = order.name +: below.columns.map(_.name).filter(_ != order.name)
    Query(
      s"SELECT * FROM (${below.sql}) ORDER BY ${by.mkString(", ")} LIMIT $n $offset",
      below.columns)
  }

  private def filter(below: Query): Gen[Query] =
    Gen.oneOf(below.columns).map { column =>
      val condition = column.kind match {
        case "int" => s"${column.name} % 2 = 0"
        case "text" => s"${column.name} > 'A'"
        case _ => s"${column.name} > 0"
      }
      Query(s"SELECT * FROM (${below.sql}) WHERE $condition", below.columns)
    }

  private def union(below: Query): Gen[Query] =
    Gen.const(
      Query(s"SELECT * FROM (${below.sql}) UNION ALL SELECT * FROM (${below.sql})", below.columns))
}
