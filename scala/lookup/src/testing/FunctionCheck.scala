package io.firesteel.lookup.testing

import io.firesteel.lookup.{LookupContext, LookupSource, SupportsLookup, TaskInfo}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.{Attribute, EqualTo, Expression, IsNotNull, Literal, Not, Predicate, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.catalyst.util.TypeUtils.typeWithProperEquals
import org.apache.spark.sql.types.StructType

/** Checks what a connector answers, when every task may ask every key. */
private[testing] final case class FunctionCheck(table: SupportsLookup, store: CheckedStore) {
  private val anyTask = TaskInfo(0, 1, 0, "check")

  def run(): Unit = {
    val alone = store.keys.fields.toSeq
      .flatMap(field =>
        Seq(KeyChoice.optional(table, store.schema, Seq(field.name))).filter(_.nonEmpty))
      .map(fields => StructType(fields))
    (store.keys +: alone).distinct.foreach { keys =>
      val all = store.schema
      for (size <- Seq(Int.MaxValue, 1, 2)) compare(keys, all, None, size)
      val others = all.fieldNames.toSeq.filterNot(keys.fieldNames.contains)
      (Seq.empty[String] +: others.map(Seq(_))).foreach { more =>
        compare(keys, columnsOf(keys, more), None, Int.MaxValue)
      }
      others.foreach(column =>
        conditions(column).foreach(filter => compare(keys, all, Some(filter), Int.MaxValue)))
    }
    checkCopies()
    checkClose()
  }

  private def columnsOf(keys: StructType, more: Seq[String]): StructType =
    StructType(store.schema.fields.filter(field =>
      keys.fieldNames.contains(field.name) || more.contains(field.name)))

  private lazy val attributes: Seq[Attribute] = toAttributes(store.schema)

  /** Conditions on a column that some rows meet. */
  private def conditions(column: String): Seq[Expression] = {
    val place = store.schema.fieldIndex(column)
    val attribute = attributes(place)
    val value = store.rows
      .find(!_.isNullAt(place))
      .map(row => Literal(row.copy().get(place, attribute.dataType), attribute.dataType))
    val equal = value
      .filter(_ => typeWithProperEquals(attribute.dataType))
      .map(EqualTo(attribute, _))
    IsNotNull(attribute) +: (equal.toSeq ++ equal.map(Not(_)))
  }

  private def compare(
      keys: StructType,
      columns: StructType,
      filter: Option[Expression],
      size: Int): Unit = {
    val pushed = LookupSource(table.name, table).pushed(filter)
    val context = new LookupContext(keys, columns, pushed, false, 0)
    val asked = store.keysToAsk(keys)
    val rows = store.rowsOf(keys, asked.toSet)
    val met = filter.fold(rows) { condition =>
      val predicate = Predicate.create(condition, attributes)
      rows.filter(predicate.eval)
    }
    val wanted = store.project(columns)
    val function = OpenFunction(table, context, anyTask)
    try function.ways.foreach { way =>
        val conditions = if (filter.isEmpty) "" else s" with the filter ${pushed.mkString(", ")}"
        val calls = if (size == Int.MaxValue) "" else s", in calls of $size keys,"
        val what = s"$way by ${keys.fieldNames.mkString(", ")}$calls$conditions"
        new Comparison(table.name, what, columns)
          .apply(function.ask(what, way, asked, size), met.map(wanted), rows.map(wanted))
      }
    finally function.close()
  }

  /** A function that is closed must leave others of the same query as they are. */
  private def checkCopies(): Unit = {
    val context = new LookupContext(store.keys, store.schema, Array.empty, false, 0)
    val asked = store.keysToAsk(store.keys)
    val first = OpenFunction(table, context, anyTask)
    val second = OpenFunction(table, context, anyTask)
    val rows = store.rowsOf(store.keys, asked.toSet)
    try first.ways.foreach(way => first.ask(s"$way of one of two functions", way, asked, 1))
    finally first.close()
    try second.ways.foreach { way =>
        val what = s"$way of a function that stays open while another one is closed,"
        new Comparison(table.name, what, store.schema)
          .apply(second.ask(what, way, asked, Int.MaxValue), rows, rows)
      }
    finally second.close()
  }

  /** `close` is called also if `open` failed, and must end the threads that `open` started. */
  private def checkClose(): Unit = {
    val context = new LookupContext(store.keys, store.schema, Array.empty, false, 0)
    CheckFailure.in(table.name, "close() without open(), as after a failed open(),")(
      OpenFunction.shipped(table, context).close())
    val before = threads()
    val function = OpenFunction(table, context, anyTask)
    try function.ways.foreach(way => function.ask(way, way, store.keysToAsk(store.keys), 1))
    finally function.close()
    val deadline = System.nanoTime() + 3000000000L
    while (leftBehind(before).nonEmpty && System.nanoTime() < deadline) Thread.sleep(20)
    leftBehind(before).foreach(thread =>
      CheckFailure(
        table.name,
        s"close() leaves the thread ${thread.getName} running, which keeps the process alive."))
  }

  private def threads(): Set[Thread] = Thread.getAllStackTraces.keySet.asScala.toSet

  private def leftBehind(before: Set[Thread]): Option[Thread] =
    threads().diff(before).find { thread =>
      thread.isAlive && !thread.isDaemon && !thread.getName.startsWith(ofNetty)
    }

  /** Netty's thread of the whole process. Spark uses it too, and it ends by itself when idle. */
  private val ofNetty = "globalEventExecutor"
}

/** Compares rows as sets in which a row may be several times. */
private[testing] final class Comparison(table: String, what: String, columns: StructType) {
  private val text = new RowText(columns)

  /** @param least the rows that must be there; `most` those that may be */
  def apply(got: Seq[UnsafeRow], least: Seq[UnsafeRow], most: Seq[UnsafeRow]): Unit = {
    least.diff(got).headOption.foreach { row =>
      CheckFailure(table, s"$what did not answer the row ${text.text(row)}.")
    }
    got.diff(most).headOption.foreach { row =>
      val again = if (most.contains(row)) " more often than the store holds it" else ""
      val why = if (again.isEmpty) ", which is not among the rows given" else again
      CheckFailure(table, s"$what answered the row ${text.text(row)}$why.")
    }
  }
}
