package io.firesteel.json

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow, JsonTuple}
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

/**
 * One output of a scan.
 *
 * @param original Spark's expression over the document, which is column 0
 * @param item the column of a generator's row; negative if the expression has one value
 */
final private[json] case class JsonOutput(
    name: String,
    dataType: DataType,
    reading: Reading,
    original: Expression,
    item: Int = -1)

/**
 * Reads documents of one column, for all expressions over it.
 *
 * The row that it returns is valid until the next document.
 */
final class JsonEvaluator private[json] (outputs: Array[JsonOutput], counts: JsonCounts)
  extends Serializable {

  @transient private lazy val task = new JsonTask(outputs, new Backoff, counts)

  @transient private lazy val nulls = new GenericInternalRow(outputs.length)

  /** The outputs for a document, which may be null. */
  def read(json: UTF8String): InternalRow = if (json == null) nulls else task.read(json)
}

/** The state of an evaluator in a task. Memory: a row, and the longest text in it. */
final private[json] class JsonTask(
    outputs: Array[JsonOutput],
    backoff: Backoff,
    counts: JsonCounts) {

  private[this] val root =
    new Root(outputs.flatMap(output => Output.names(output.reading)).distinct)
  private[this] val writers = outputs.map(output => Output.of(output.reading, root))
  private[this] val row = new UnsafeRowWriter(outputs.length, outputs.length * 32)
  private[this] val missed = new Array[Boolean](outputs.length)
  private[this] val nulls = new GenericInternalRow(outputs.length)
  private[this] val originals = new Originals(outputs)

  def read(json: UTF8String): InternalRow = {
    counts.came(json.numBytes)
    if (json.numBytes > JsonText.MaxDocument) {
      counts.notPlain()
      originals.all(json)
    } else if (!backoff.looks()) {
      counts.unseen()
      originals.all(json)
    } else {
      val text = root.text
      text.set(json)
      val from = text.skipSpace(text.start)
      if (from == text.end) nulls
      else if (root.find(from) < 0) {
        backoff.learn(exact = false)
        counts.notPlain()
        originals.all(json)
      } else {
        val exact = write()
        backoff.learn(exact)
        if (exact) row.getRow
        else {
          counts.inexact()
          originals.some(json, row.getRow, missed)
        }
      }
    }
  }

  private def write(): Boolean = {
    row.reset()
    row.zeroOutNullBytes()
    var exact = true
    var i = 0
    while (i < writers.length) {
      missed(i) = !writers(i).write(root, row, i)
      if (missed(i)) {
        row.setNullAt(i)
        counts.missed(i)
        exact = false
      }
      i += 1
    }
    exact
  }
}

/** Spark's own expressions, for documents and outputs that are handed over. */
final private class Originals(outputs: Array[JsonOutput]) {

  private[this] val argument = new GenericInternalRow(1)
  private[this] val different: Array[Expression] = outputs.map(_.original).distinct
  private[this] val places: Array[Int] =
    outputs.map(output => different.indexOf(output.original))
  // Each has a row that it writes again, and other evaluators may have the same expression.
  private[this] val copies = different.map(_.clone())
  private[this] val values = new Array[Any](different.length)
  private[this] val isNeeded = new Array[Boolean](different.length)

  def all(json: UTF8String): InternalRow = {
    Arrays.fill(isNeeded, true)
    evaluate(json)
    val row = new GenericInternalRow(outputs.length)
    var i = 0
    while (i < outputs.length) {
      row.update(i, value(i))
      i += 1
    }
    row
  }

  /**
   * Those that were missed; the others are in `known`. If one value of an expression is missed, all
   * of its values are Spark's: half a surrogate in one makes the others null, too.
   */
  def some(json: UTF8String, known: InternalRow, missed: Array[Boolean]): InternalRow = {
    Arrays.fill(isNeeded, false)
    for (i <- outputs.indices if missed(i)) isNeeded(places(i)) = true
    evaluate(json)
    val row = new GenericInternalRow(outputs.length)
    for (i <- outputs.indices) {
      row.update(i, if (isNeeded(places(i))) value(i) else known.get(i, outputs(i).dataType))
    }
    row
  }

  private def evaluate(json: UTF8String): Unit = {
    argument.update(0, json)
    var place = 0
    while (place < copies.length) {
      if (isNeeded(place)) {
        values(place) = copies(place) match {
          case tuple: JsonTuple => tuple.eval(argument).iterator.next()
          case value => value.eval(argument)
        }
      }
      place += 1
    }
  }

  private def value(i: Int): Any = {
    val value = values(places(i))
    if (outputs(i).item < 0) value
    else value.asInstanceOf[InternalRow].get(outputs(i).item, outputs(i).dataType)
  }
}
