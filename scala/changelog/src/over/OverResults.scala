package io.firesteel.changelog.over

import io.firesteel.changelog.fold.Tally

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeProjection}

/**
 * Evaluates the functions over the rows of spans before and after a micro-batch, in Spark's own
 * code for windows, and finds the rows of the result that differ.
 *
 * Spark evaluates one window partition after another; each span is two of them. It looks one row
 * ahead, so a span may be read before the results of the last one are.
 *
 * Memory: the rows of a span, and the results of those that are affected.
 *
 * @param evaluate rows with the number of their window partition in the last column, to the same
 *   rows with results
 * @param toFed a row and the number of its window partition, as `evaluate` wants it
 * @param toResult a row of `evaluate`, without that number
 * @param numbersCopies whether a further column has the number of a row among equal ones
 * @param opened to be called when Spark may have spilled the rows of a span to a file
 */
final private[over] class OverResults(
    evaluate: Iterator[InternalRow] => Iterator[InternalRow],
    toFed: UnsafeProjection,
    toResult: UnsafeProjection,
    numbersCopies: Boolean,
    opened: () => Unit) {
  import OverResults.mostInMemory

  private[this] val joined = new JoinedRow
  private[this] val number = new GenericInternalRow(1)
  private[this] val read = mutable.Queue.empty[OverSpan]
  private[this] var numbers = 0
  private[this] val copyNumber = new GenericInternalRow(1)
  private[this] val withCopy = new JoinedRow

  /** For each span the rows that come into the result, and those that leave it, as a number. */
  def of(spans: Iterator[OverSpan]): Iterator[OverPart] = {
    val results = evaluate(spans.filter(span => span.wasThere || span.isThere).flatMap(fed))
    new Iterator[OverPart] {
      override def hasNext: Boolean = results.hasNext
      override def next(): OverPart = {
        if (!results.hasNext) throw new NoSuchElementException("no more spans")
        val span = read.dequeue()
        if (span.rows.length >= mostInMemory) opened()
        OverPart(span.partition, changes(span, results))
      }
    }
  }

  private def fed(span: OverSpan): Iterator[InternalRow] = {
    read += span
    val before = if (span.wasThere) numbered(span, _.before) else Iterator.empty
    before ++ (if (span.isThere) numbered(span, _.after) else Iterator.empty)
  }

  private def numbered(span: OverSpan, count: OverEntry => Long): Iterator[InternalRow] = {
    numbers += 1
    val its = numbers
    span.rows.iterator.flatMap { entry =>
      Iterator.range(0L, math.max(count(entry), 0L)).map { _ =>
        number.setInt(0, its)
        toFed(joined(entry.row, number)): InternalRow
      }
    }
  }

  private def changes(span: OverSpan, results: Iterator[InternalRow]): Tally.Map = {
    val net = new Tally.Map()
    if (span.wasThere) tally(span, _.before, -1L, results, net)
    if (span.isThere) tally(span, _.after, 1L, results, net)
    net
  }

  private def numbered(result: InternalRow, copy: Long): InternalRow =
    if (!numbersCopies) result
    else {
      copyNumber.setLong(0, copy)
      withCopy(result, copyNumber)
    }

  private def tally(
      span: OverSpan,
      count: OverEntry => Long,
      sign: Long,
      results: Iterator[InternalRow],
      net: Tally.Map): Unit = {
    var i = 0
    while (i < span.rows.length) {
      var copies = math.max(count(span.rows(i)), 0L)
      var copy = 0L
      while (copies > 0L) {
        val result = results.next()
        if (span.isAffected(i)) Tally.add(net, toResult(numbered(result, copy)), sign)
        copy += 1L
        copies -= 1
      }
      i += 1
    }
  }
}

private object OverResults {

  /** Well below `spark.sql.windowExec.buffer.in.memory.threshold`, for rows with copies. */
  private val mostInMemory = 256
}
