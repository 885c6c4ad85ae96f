package io.firesteel.changelog

import io.firesteel.changelog.RandomQueries.{Column, Query}
import org.apache.spark.sql.Row
import org.scalacheck.Gen

/**
 * Random chains and trees of two to six operators that mostly have the same key, over a random table
 * `{t}`. Every query has the columns k, g, v and id, and few rows for each key.
 */
object RandomChains {

  val schema: String = "k INT, g STRING, v BIGINT, id BIGINT"

  private val columns =
    Seq(Column("k", "int"), Column("g", "text"), Column("v", "int"), Column("id", "int"))

  private def orNull[T](values: Gen[T]): Gen[Any] =
    Gen.frequency[Any](1 -> Gen.const(null), 6 -> values)

  private val row: Gen[Row] = for {
    k <- orNull(Gen.choose(0, 4))
    g <- orNull(Gen.oneOf("", "a", "longer than eight bytes"))
    v <- orNull(Gen.choose(-4L, 4L))
    id <- Gen.choose(0L, 9L)
  } yield Row(k, g, v, id)

  val batches: Gen[Seq[Seq[Row]]] = for {
    count <- Gen.choose(2, 4)
    batches <- Gen.listOfN(count, Gen.choose(0, 7).flatMap(Gen.listOfN(_, row)))
  } yield batches

  private val base: Gen[String] =
    Gen.oneOf(
      "SELECT * FROM {t}",
      "SELECT * FROM {t} WHERE v > -3",
      "SELECT k, 'x' AS g, v, id FROM {t}")

  val query: Gen[Query] = for {
    size <- Gen.choose(2, 6)
    sql <- tree(size)
  } yield Query(sql, columns)

  private def tree(size: Int): Gen[String] =
    if (size == 0) base
    else Gen.frequency(
      5 -> tree(size - 1).flatMap(above),
      (if (size > 1) 3 else 1) -> (for {
        left <- Gen.choose(0, size - 1)
        l <- tree(left)
        r <- tree(size - 1 - left)
        both <- joined(l, r)
      } yield both)
    )

  private val key: Gen[String] = Gen.frequency(4 -> "k", 2 -> "k, g", 2 -> "g, k", 1 -> "g")

  private def above(below: String): Gen[String] = for {
    by <- key
    one <- Gen.oneOf(
      s"SELECT k, max(g) g, sum(v) v, count(*) id FROM ($below) GROUP BY k",
      s"SELECT k, g, sum(v) v, count(*) id FROM ($below) GROUP BY $by, k, g",
      s"SELECT max(k) k, g, count(v) v, max(id) id FROM ($below) GROUP BY g",
      s"SELECT DISTINCT $by, ${Seq("k", "g", "v", "id").filterNot(by.split(", ").contains).mkString(", ")} FROM ($below)",
      s"SELECT k, g, v, id FROM (SELECT *, row_number() OVER (PARTITION BY $by ORDER BY v DESC, id, k, g) rn " +
        s"FROM ($below)) WHERE rn <= 2",
      s"SELECT k, g, v, id FROM (SELECT *, row_number() OVER (PARTITION BY $by ORDER BY id, v, k, g) rn " +
        s"FROM ($below)) WHERE rn = 1",
      s"SELECT k, g, sum(v) OVER (PARTITION BY $by ORDER BY id, v, k, g) v, id FROM ($below)",
      s"SELECT k, g, v, count(*) OVER (PARTITION BY $by) id FROM ($below)",
      s"SELECT k, g, v, id FROM ($below) WHERE v % 2 = 0 OR k IS NULL",
      s"SELECT k, g, x AS v, id FROM ($below) LATERAL VIEW explode(array(v, id)) AS x",
      s"SELECT k, g, v, id + 1 AS id FROM ($below) UNION ALL SELECT k, g, v, id FROM {t} WHERE id < 3"
    )
  } yield one.replace("SELECT DISTINCT", "SELECT DISTINCT ")

  private def joined(left: String, right: String): Gen[String] = for {
    joinType <-
      Gen.oneOf("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
    on <- Gen.frequency(
      4 -> "l.k = r.k",
      2 -> "l.k = r.k AND l.g = r.g",
      1 -> "l.g = r.g AND l.k = r.k",
      1 -> "l.k <=> r.k",
      2 -> "l.k = r.k AND l.v < r.v")
    side <- Gen.oneOf("l", "r")
  } yield {
    val of = if (joinType.contains("SEMI") || joinType.contains("ANTI")) "l" else side
    val other = if (joinType.contains("SEMI") || joinType.contains("ANTI")) "l"
    else if (of == "l") "r" else "l"
    s"SELECT $of.k, $of.g, $other.v, $of.id FROM ($left) l $joinType ($right) r ON $on"
  }
}
