package io.firesteel.changelog

import scala.collection.mutable

import org.apache.spark.sql.Row

/**
 * The table that a consumer makes of a changelog, row by row: each row and how often it is there. The
 * kind of a change is its last column.
 */
final class ConsumedTable {

  private val copies = mutable.Map.empty[String, Int].withDefaultValue(0)
  private var failure: Option[String] = None

  /** The first change that could not be applied, and why. */
  def wrong: Option[String] = failure

  def rows: Map[String, Int] = copies.toMap.filter(_._2 != 0)

  /** Begins with these rows, whatever was consumed before. */
  def become(rows: Seq[Row]): Unit = {
    copies.clear()
    rows.map(ChangelogStream.text).foreach(copies(_) += 1)
  }

  def consume(change: Row): Unit = if (failure.isEmpty) {
    val kind = change.getString(change.length - 1)
    val row = ChangelogStream.text(Row.fromSeq(change.toSeq.init))
    if (kind == "+I" || kind == "+U") copies(row) += 1
    else if (copies(row) > 0) copies(row) -= 1
    else failure = Some(s"$kind $row takes back a row that is not there")
  }
}
