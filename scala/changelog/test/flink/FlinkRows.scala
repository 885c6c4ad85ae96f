package io.firesteel.changelog.flink

import org.apache.spark.sql.Row

/**
 * What the cases read, with nulls, ties and duplicates. An `id` below 100 is of table `a`, one below
 * 200 of `b`, any other of `c`. The schema is that of [[io.firesteel.changelog.RandomQueries]].
 */
object FlinkRows {

  private def row(k: Any, g: String, v: Long, d: Any, w: String, id: Long): Row =
    Row(k, g, v, d, Option(w).map(new java.math.BigDecimal(_).setScale(2)).orNull, id)

  private val first = Seq(
    row(1, "tea", 1, 1.5, "3", 1),
    row(2, "cocoa", 2, null, "7.10", 2),
    row(2, "cocoa", 2, null, "7.10", 2),
    row(null, "milk", 4, -0.0, null, 3),
    row(1, "tea", 0, 2.5, "1.25", 101),
    row(3, "milk", 5, 0.0, "7.10", 102),
    row(null, "cocoa", 2, Double.NaN, null, 103),
    row(1, "oats,rye", 2, 1.0, "9999999999999999999999.99", 201)
  )

  private val second = Seq(
    row(3, "milk", 2, 0.0, "3", 4),
    row(1, "tea", 7, 1.5, "-4", 5),
    row(2, "water", 1, 3.5, "1.25", 104),
    row(2, "cocoa", 5, 1.25, "2", 105),
    row(1, "tea", 1, 1.0, "1.25", 106),
    row(2, "", 1, null, "3", 202),
    row(3, "rye", 5, 1.5, null, 203),
    row(null, "oats", 2, 1.5, "3", 204)
  )

  private val third = Seq(
    row(3, "water", 9, 2.5, "1", 6),
    row(4, null, 2, 1.5, "2", 7),
    row(4, "tea", 1, -1.0, "3", 107),
    row(4, null, 1, -1.0, "3", 108),
    row(2, "water", 1, 3.5, "1.25", 104),
    row(1, "barley,oats", 6, 1.5, "3", 205)
  )

  /** Micro-batches of rows that only come. */
  val rows: Seq[Seq[Row]] = Seq(first, second ++ third)

  /** Micro-batches of the same rows, which also change and go. */
  val changes: Seq[Seq[Row]] = Seq(
    changed(first, "+I"),
    changed(second, "+I") ++ changed(Seq(first(2)), "-D") ++ changed(Seq(first(5)), "-U") ++
      changed(Seq(row(3, "milk", 6, 0.0, "7.10", 102)), "+U"),
    changed(third, "+I") ++ changed(Seq(first.head, first(6), second(1), second(2)), "-D"),
    changed(second.drop(5) ++ third.take(3) ++ Seq(first(1), first(3)), "-D") ++
      changed(first.take(1), "+I")
  )

  private def changed(rows: Seq[Row], op: String): Seq[Row] =
    rows.map(row => Row.fromSeq(row.toSeq :+ op))
}
