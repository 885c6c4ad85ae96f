package io.firesteel.changelog.state

import io.firesteel.changelog.state.RowsOperator.Change

import scala.collection.mutable

import org.scalatest.Assertions

/**
 * The table that emitted changes make, applied row by row. It insists on the contract: `-U` and
 * right after it `+U`, and no retraction of a row that is not there.
 *
 * @param key columns that identify a row, where `+U` is emitted without its `-U`
 */
final private[changelog] class FoldedChanges(key: Option[Seq[Any] => Seq[Any]] = None)
  extends Assertions {

  // By their text: in Scala NaN is not itself.
  private[this] val copies = mutable.LinkedHashMap.empty[String, (Seq[Any], Int)]

  /** Applies the changes of a micro-batch; the table, each row as often as it is there. */
  def add(changes: Seq[Change]): Seq[Seq[Any]] = {
    changes.zipWithIndex.foreach { case ((row, kind), i) =>
      def about = s"$kind $row in ${changes.mkString("\n")}"
      kind match {
        case "+I" => come(row)
        case "-D" => go(row, about)
        case "-U" =>
          assert(changes.lift(i + 1).exists(_._2 == "+U"), s"no +U follows $about")
          go(row, about)
        case "+U" =>
          val replaces = changes.lift(i - 1).exists(_._2 == "-U")
          assert(key.isDefined != replaces, about)
          key.foreach { of =>
            val old = copies.values.map(_._1).filter(other => of(other) == of(row)).toSeq
            assert(old.size == 1, s"replaces no row: $about")
            go(old.head, about)
          }
          come(row)
      }
    }
    table
  }

  def table: Seq[Seq[Any]] = copies.values.toSeq.flatMap { case (row, n) => Seq.fill(n)(row) }

  private def come(row: Seq[Any]): Unit = add(row, 1)

  private def go(row: Seq[Any], about: => String): Unit = {
    assert(copies.contains(FoldedChanges.text(row)), s"is not there: $about")
    add(row, -1)
  }

  private def add(row: Seq[Any], n: Int): Unit = {
    val _ = copies.updateWith(FoldedChanges.text(row)) { known =>
      Some((row, known.fold(0)(_._2) + n)).filter(_._2 > 0)
    }
  }
}

private[changelog] object FoldedChanges {

  /** Rows as a bag: the same for the same rows, in whichever order; NaN equals itself. */
  def bag(rows: Iterable[Seq[Any]]): Map[String, Int] =
    rows.groupMapReduce(text)(_ => 1)(_ + _)

  private def text(value: Any): String = value match {
    case bytes: Array[Byte] => bytes.mkString("0x", ",", "")
    case items: Iterable[_] => items.map(text).mkString("(", ",", ")")
    case other => String.valueOf(other)
  }
}
