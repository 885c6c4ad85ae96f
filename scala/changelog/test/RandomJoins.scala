package io.firesteel.changelog

import io.firesteel.changelog.RandomQueries.{Column, Query}
import io.firesteel.testkit.SinceSpark
import org.scalacheck.Gen

/**
 * Random queries of several inputs `{a}`, `{b}`, `{c}` with the columns of [[RandomQueries]]: joins of
 * all types and by any condition, set operations and subqueries, over inputs, aggregates and rankings,
 * and below them.
 */
object RandomJoins {

  val names: Seq[String] = Seq("a", "b", "c")

  /** Spark 4.0 and 4.1 drop the order of a limit in a batch query that reads few of its columns. */
  private val few = if (SinceSpark.isAfter("4.1")) 2 else 1000

  private val types = Seq("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")
  private val columns = RandomQueries.plain.columns
  private val all = columns.map(_.name).mkString(", ")

  val query: Gen[Query] = for {
    left <- side
    right <- side
    two <- pair(left, right, 1)
    third <- side
    three <- Gen.oneOf(pair(two, third, 2), pair(third, two, 2))
    both <- Gen.frequency(3 -> two, 2 -> three)
    above <- RandomQueries.above(both)
    query <- Gen.frequency(2 -> both, 3 -> above)
  } yield query

  /** An input as it is, or what an operator makes of it. */
  private def side: Gen[Query] = for {
    name <- Gen.oneOf(names)
    other <- Gen.oneOf(names)
    in = s"{$name}"
    sql <- Gen.frequency(
      4 -> Gen.const(s"SELECT * FROM $in"),
      1 -> Gen.const(s"SELECT * FROM $in WHERE v IS NULL OR v > -2"),
      1 -> Gen.const(s"SELECT DISTINCT k, g, v, d, w, 1 AS id FROM $in"),
      1 -> Gen.const(s"SELECT * FROM $in UNION ALL SELECT * FROM {$other}"),
      // All rows have one key.
      1 -> Gen.const(s"SELECT 1 AS k, g, v, d, w, id FROM $in"),
      2 -> Gen.const(
        s"SELECT k, max(g) g, sum(v) v, max(d) d, max(w) w, count(*) id FROM $in GROUP BY k"),
      1 -> Gen.const(
        s"SELECT k, g, sum(v) v, max(d) d, max(w) w, max(id) id FROM $in GROUP BY k, g"),
      1 -> Gen.const(
        s"SELECT min(k) k, max(g) g, sum(v) v, min(d) d, max(w) w, id FROM $in GROUP BY id"),
      1 -> ranked(in, "id", "rn = 1"),
      1 -> ranked(in, "k", "rn <= 2")
    )
  } yield Query(sql, columns)

  private def ranked(in: String, by: String, bound: String): Gen[String] =
    Gen.oneOf("v, g, d, k, w, id", "id DESC, v, g, d, k, w").map { order =>
      s"SELECT $all FROM (SELECT *, row_number() OVER (PARTITION BY $by ORDER BY $order) rn " +
        s"FROM $in) WHERE $bound"
    }

  private def pair(left: Query, right: Query, depth: Int): Gen[Query] = Gen.frequency(
    6 -> join(left, right, depth),
    2 -> setOperation(left, right),
    4 -> subquery(left, right, depth))

  private val comparable = Set("int", "text", "float", "decimal")

  /** A column of each side, of one kind. */
  private def same(left: Query, right: Query): Gen[(Column, Column)] = {
    val pairs = for {
      l <- left.columns if comparable(l.kind)
      r <- right.columns if l.kind == r.kind
    } yield (l, r)
    // Every side has a number: an input's, or a count above it.
    if (pairs.isEmpty) Gen.const((Column("1", "int"), Column("1", "int"))) else Gen.oneOf(pairs)
  }

  private def of(side: String, column: Column): String =
    if (column.name == "1") "1" else s"$side.${column.name}"

  private def equality(left: Query, right: Query): Gen[String] =
    same(left, right).flatMap { case (l, r) =>
      val (a, b) = (of("l", l), of("r", r))
      val more = l.kind match {
        case "int" => Seq(s"$a + 1 = $b", s"$b = $a")
        case "text" => Seq(s"$a COLLATE UTF8_LCASE = $b COLLATE UTF8_LCASE", s"upper($a) = $b")
        case "decimal" => Seq(s"$b = $a * 1.0")
        case _ => Seq(s"$a = $b + 0.0")
      }
      Gen.oneOf(Seq(s"$a = $b", s"$a = $b", s"$a <=> $b") ++ more)
    }

  private def comparison(left: Query, right: Query): Gen[String] =
    same(left, right).flatMap { case (l, r) =>
      val (a, b) = (of("l", l), of("r", r))
      Gen.oneOf(s"$a < $b", s"$a <> $b", s"$a >= $b", s"$a IS NOT NULL", s"$b IS NULL")
    }

  private def on(left: Query, right: Query): Gen[String] = for {
    one <- equality(left, right)
    two <- equality(left, right)
    more <- comparison(left, right)
    condition <- Gen.frequency(
      5 -> one,
      2 -> s"$one AND $two",
      3 -> s"$one AND $more",
      1 -> s"$one OR $two",
      1 -> s"$one AND ($two OR $more)",
      1 -> more,
      1 -> "true")
  } yield condition

  private def join(left: Query, right: Query, depth: Int): Gen[Query] = for {
    joinType <- Gen.oneOf(types)
    on <- on(left, right)
  } yield {
    val ofLeft = left.columns.map(c => s"l.${c.name} AS ${c.name}")
    val rights = right.columns.map(c => c.copy(name = s"r${depth}_${c.name}"))
    val ofRight = right.columns.zip(rights).map { case (c, named) =>
      s"r.${c.name} AS ${named.name}"
    }
    val halved = joinType.endsWith("SEMI") || joinType.endsWith("ANTI")
    val shown = if (halved) ofLeft else ofLeft ++ ofRight
    Query(
      s"SELECT ${shown.mkString(", ")} FROM (${left.sql}) l $joinType JOIN (${right.sql}) r ON $on",
      if (halved) left.columns else left.columns ++ rights)
  }

  private def setOperation(left: Query, right: Query): Gen[Query] = for {
    operation <-
      Gen.oneOf("INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL", "UNION", "UNION ALL")
    count <- Gen.choose(1, 3)
    pairs <- Gen.listOfN(count, same(left, right))
  } yield {
    // Spark itself fails if a stream's branch of a union has one column twice.
    val named = pairs.distinctBy(_._1).distinctBy(_._2).zipWithIndex.map { case ((l, r), i) =>
      (l, r, s"u$i")
    }
    Query(
      s"SELECT ${named.map { case (l, _, name) => s"${l.name} AS $name" }.mkString(", ")} " +
        s"FROM (${left.sql}) $operation " +
        s"SELECT ${named.map(_._2.name).mkString(", ")} FROM (${right.sql})",
      named.map { case (l, _, name) => Column(name, l.kind) }
    )
  }

  private def subquery(left: Query, right: Query, depth: Int): Gen[Query] = for {
    not <- Gen.oneOf("", "NOT")
    (x, y) <- same(left, right)
    (x2, y2) <- same(left, right)
    correlated <- Gen.frequency(3 -> equality(left, right), 1 -> comparison(left, right))
    more <- comparison(left, right)
    (a, b, a2, b2) = (of("l", x), of("r", y), of("l", x2), of("r", y2))
    rows = s"(${right.sql}) r"
    order = (y.name +: right.columns.map(_.name).filter(_ != y.name)).mkString(", ")
    condition =
      (text: String) => Query(s"SELECT l.* FROM (${left.sql}) l WHERE $text", left.columns)
    value = (text: String, kind: String) =>
      Query(
        s"SELECT l.*, ($text) AS q$depth FROM (${left.sql}) l",
        left.columns :+ Column(s"q$depth", kind))
    query <- Gen.oneOf(
      condition(s"$a $not IN (SELECT $b FROM $rows)"),
      condition(s"$a $not IN (SELECT $b FROM $rows)"),
      condition(s"($a, $a2) $not IN (SELECT $b, $b2 FROM $rows)"),
      condition(s"$a $not IN (SELECT $b FROM $rows WHERE $correlated)"),
      condition(s"$not EXISTS (SELECT 1 FROM $rows WHERE $correlated)"),
      condition(s"$not EXISTS (SELECT 1 FROM $rows WHERE $correlated AND $more)"),
      condition(s"$a2 IS NULL OR $a $not IN (SELECT $b FROM $rows)"),
      condition(s"$a2 IS NULL OR $not EXISTS (SELECT 1 FROM $rows WHERE $correlated)"),
      condition(s"$a >= (SELECT min($b) FROM $rows)"),
      value(s"SELECT max($b) FROM $rows WHERE $b2 = $a2", y.kind),
      value(s"SELECT count(*) FROM $rows WHERE $b = $a", "int"),
      value(s"SELECT count($b) FROM $rows", "int"),
      // All columns are selected: a batch query takes any rows if it orders by one that is not.
      Query(
        s"SELECT l.*, ${of("q", y)} AS q$depth FROM (${left.sql}) l, LATERAL " +
          s"(SELECT r.* FROM $rows WHERE $b2 = $a2 ORDER BY $order LIMIT $few) q",
        left.columns :+ Column(s"q$depth", y.kind)
      )
    )
  } yield query
}
