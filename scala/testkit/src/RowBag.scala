package io.firesteel.testkit

import org.apache.spark.sql.Row

/** Rows as a bag. Bags are equal if each row occurs equally often, in any order. */
object RowBag {

  /** The count of each row, by its text. -0.0 and NaN have texts of their own. */
  def of(rows: Seq[Row]): Map[String, Int] =
    rows.groupBy(text).map { case (row, same) => row -> same.length }

  /** The rows of which `left` has more than `right`, and how many more. */
  def minus(left: Map[String, Int], right: Map[String, Int]): Seq[String] =
    left.toSeq.collect {
      case (row, count) if count > right.getOrElse(row, 0) =>
        s"${count - right.getOrElse(row, 0)} x $row"
    }

  private def text(value: Any): String = value match {
    case null => "NULL"
    case row: Row => row.toSeq.map(text).mkString("[", ", ", "]")
    case bytes: Array[Byte] => bytes.mkString("0x", ",", "")
    case map: scala.collection.Map[_, _] =>
      map.map { case (k, v) => text(k) + "->" + text(v) }.toSeq.sorted.mkString("{", ", ", "}")
    case items: Iterable[_] => items.map(text).mkString("(", ", ", ")")
    case other => other.toString
  }
}
