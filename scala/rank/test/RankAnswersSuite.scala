package io.firesteel.rank

import io.firesteel.testkit.{AwkwardRows, TestSize}
import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf

/** Compares answers with Spark's, for every type and every path through the operators. */
class RankAnswersSuite extends RankSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    AwkwardRows.createView(spark, "awkward", rows = 400)
  }

  private val paths = Seq(
    "generated code" -> Seq(SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> true),
    "iterators" -> Seq(SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> false),
    "interpreted" -> Seq(
      SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> false,
      SQLConf.CODEGEN_FACTORY_MODE.key -> "NO_CODEGEN"),
    "no adaptive execution" -> Seq(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false),
    "stepping aside at once" -> Seq(
      RankConf.SAMPLE_ROWS.key -> 20,
      RankConf.MAX_NEW_KEYS.key -> 0),
    "no memory" -> Seq(RankConf.MAX_TASK_MEMORY.key -> 1)
  )

  private val directions =
    Seq("ASC NULLS FIRST", "ASC NULLS LAST", "DESC NULLS FIRST", "DESC NULLS LAST")

  /** Columns with their places: on a path other than the first, a third of them unless long. */
  private def columnsOf(path: Int): Seq[(String, Int)] =
    AwkwardRows.columns.zipWithIndex.filter { case (_, at) =>
      path == 0 || TestSize.isLong || at % 3 == path % 3
    }

  private val ranks = Seq("rank" -> 3, "dense_rank" -> 2, "row_number" -> 5)

  private def query(rank: String, key: String, order: String, condition: String): String = {
    // The rank and its inputs only. A column id would show which of several equal rows was chosen.
    val columns = (Seq(key, order.takeWhile(_ != ' ')).filterNot(_.isEmpty) :+ "rn").distinct
    val partition = if (key.isEmpty) "" else s"PARTITION BY $key"
    s"""SELECT ${columns.mkString(", ")} FROM (
       |SELECT *, $rank() OVER ($partition ORDER BY $order) AS rn FROM awkward) WHERE $condition
       |""".stripMargin
  }

  /** Compares bags of ranks per key if the key or order value may be any of several equal ones. */
  private def assertRanks(rank: String, key: String, order: String, condition: String): Unit = {
    val sql = query(rank, key, order, condition)
    assert(fired(sql).nonEmpty, sql)
    val compared =
      if (rank == "row_number") s"SELECT rn, count(*) FROM ($sql) GROUP BY rn" else sql
    // Spark's answer does not depend on our path, so it is computed once.
    val theirs =
      sparkAnswers.getOrElseUpdate(compared, stock(spark.sql(compared).collect().toSeq))
    assertSameRows(spark.sql(compared).collect().toSeq, theirs, compared)
    ()
  }

  private val sparkAnswers = scala.collection.mutable.Map.empty[String, Seq[Row]]

  paths.zipWithIndex.foreach { case ((path, settings), number) =>
    test(s"every type as order key, by every function: $path") {
      withConf(settings: _*) {
        // The usual path tests all functions. Each column tests one function on the other paths.
        for {
          (column, at) <- columnsOf(number)
          (rank, n) <- if (number == 0) ranks else Seq(ranks(at % 3))
        } assertRanks(rank, "by", s"$column ${directions(at % 4)}", s"rn <= $n")
      }
    }

    test(s"every type as key: $path") {
      withConf(settings: _*) {
        columnsOf(number).foreach { case (column, at) =>
          val (rank, n) = ranks(at % 3)
          assertRanks(rank, column, "sh DESC", s"rn <= $n")
        }
      }
    }
  }

  test("every type as order key, in both directions and null orders") {
    for {
      (column, at) <- AwkwardRows.columns.zipWithIndex
      (direction, number) <- directions.zipWithIndex
      if TestSize.isLong || (at + number) % 2 == 0
    } assertRanks("rank", "bo", s"$column $direction", "rn <= 3")
  }

  test("keeps maps and nested columns on every path") {
    val sql =
      """SELECT m, arr, st, bin, ci, wide, id, rk FROM (
        |SELECT *, rank() OVER (PARTITION BY s ORDER BY wide, id) AS rk FROM awkward) WHERE rk <= 4
        |""".stripMargin
    paths.foreach { case (_, settings) => withConf(settings: _*)(assertSameAnswer(sql)) }
  }

  test("reads an empty table and a table of one giant key") {
    Seq("id < 0", "s = 'a'").foreach { rows =>
      assertSameAnswer(
        s"""SELECT s, l, rk FROM (SELECT *, rank() OVER (PARTITION BY s ORDER BY l) AS rk
           |FROM awkward WHERE $rows) WHERE rk <= 2""".stripMargin)
    }
  }

  test(
    "a nested collated key is declined, because equal keys may differ in bytes, or answered right") {
    val sql =
      """SELECT rn, count(*) FROM (SELECT row_number() OVER (PARTITION BY struct(ci) ORDER BY id) AS rn
        |FROM awkward) WHERE rn <= 2 GROUP BY rn""".stripMargin
    assertDecided(sql, "Window ")
    assertSameAnswer(sql)
  }

  test("a wide decimal order key does not change its row") {
    assertSameAnswer(
      """SELECT wide, id FROM (SELECT *, row_number() OVER (PARTITION BY by ORDER BY wide DESC, id) AS rn
        |FROM awkward) WHERE rn <= 3""".stripMargin)
  }
}
