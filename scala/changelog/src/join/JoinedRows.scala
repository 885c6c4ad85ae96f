package io.firesteel.changelog.join

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.plan.JoinOutput
import io.firesteel.core.changes.RowKind
import io.firesteel.core.expressions.Apart

import java.util.{HashMap, LinkedHashMap}

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, ExprId, Expression, JoinedRow, Literal, Predicate, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, FullOuter, Inner, LeftAnti, LeftSemi}

/**
 * The rows of the result, made of a key, a left and a right row. One instance per task.
 *
 * @param stored the places of the columns that rows have; none for all and the kind
 */
final private[join] class JoinedRows(spec: JoinSpec, stored: Option[Seq[Int]] = None) {

  // A column may be the key of several places.
  private[this] val key = spec.left.keys.map(_.withNullability(true).newInstance())
  private[this] val (left, right) = (nullable(spec.left.stored), nullable(spec.right.stored))
  private[this] val kind = Literal(RowKind.Insert)
  private[this] val columns = JoinOutput(spec.joinType, spec.left.columns, spec.right.columns)

  /** Where a key is read. Those of a row alone have no others; those of a pair are equal. */
  private[this] val placeOf =
    (spec.left.keys ++ spec.right.keys).map(_.exprId).zip(key ++ key).toMap

  private def exists: Option[Attribute] = spec.joinType match {
    case join: ExistenceJoin => Some(join.exists)
    case _ => None
  }

  private def nullable(columns: Seq[Attribute]) = columns.map(_.withNullability(true))

  private def over(expression: Expression): Expression = expression.transform {
    case column: Attribute => placeOf.getOrElse(column.exprId, column)
  }

  private def projection(
      missing: Seq[Attribute],
      in: Seq[Attribute],
      known: Map[ExprId, Expression] = Map.empty): UnsafeProjection = {
    val none = AttributeSet(missing ++ spec.unread)
    val row = columns.map { c =>
      if (none.contains(c)) Literal(null, c.dataType) else known.getOrElse(c.exprId, over(c))
    }
    ColumnProjection(stored.fold(row :+ kind)(_.map(row)), in)
  }

  private[this] lazy val toPair = projection(Nil, key ++ left ++ right)
  private[this] lazy val toLeft = projection(spec.right.columns, key ++ left)
  // The same with `exists`, false and true.
  private[this] val toExists = exists.toSeq.flatMap { column =>
    Seq(false, true).map(is => projection(Nil, key ++ left, Map(column.exprId -> Literal(is))))
  }
  private[this] lazy val toRight = projection(spec.left.columns, key ++ right)
  private[this] val isMatch =
    spec.condition.map(c => Predicate.create(Apart.alone(over(c)), key ++ left ++ right))
  private[this] val keyed = new SizedRow(key.size + left.size)
  private[this] val both = new JoinedRow

  /** Whether pairs of rows are in the result. */
  val showsPairs: Boolean = spec.joinType match {
    case LeftSemi | LeftAnti | _: ExistenceJoin => false
    case _ => true
  }

  /** Whether left rows are in the result by themselves, with or without a match. */
  val showsLeft: Boolean = spec.joinType != Inner
  val showsRight: Boolean = spec.joinType == FullOuter
  private[this] val leftIfMatched = spec.joinType == LeftSemi

  val hasOneLeft: Boolean = spec.left.single
  val hasOneRight: Boolean = spec.right.single

  def areMatch(key: UnsafeRow, left: UnsafeRow, right: UnsafeRow): Boolean =
    isMatch.forall(_.eval(both(keyed(key, left), right)))

  def pair(key: UnsafeRow, left: UnsafeRow, right: UnsafeRow): UnsafeRow =
    toPair(both(keyed(key, left), right))

  /** Whether a left row is in the result by itself. */
  def isShown(matched: Boolean): Boolean = toExists.nonEmpty || matched == leftIfMatched

  def leftAlone(key: UnsafeRow, left: UnsafeRow, matched: Boolean): UnsafeRow =
    (if (toExists.isEmpty) toLeft else toExists(if (matched) 1 else 0)) (keyed(key, left))

  def rightAlone(key: UnsafeRow, right: UnsafeRow): UnsafeRow = toRight(both(key, right))

  /** An empty list of changes that belong together. */
  def newChanges(): EmittedChanges =
    new EmittedChanges(
      spec.pairedBy.map(ColumnProjection(_, columns :+ kindColumn)),
      spec.updateBefore)

  private def kindColumn: Attribute = AttributeReference("kind", kind.dataType)()
}

/** Two rows with so many columns together, which Spark's own asks both for at each access. */
final private class SizedRow(override val numFields: Int) extends JoinedRow

/**
 * Changes of the result that belong together. A row that goes and an equal one that comes are no
 * change. Two with the same upsert key become an update. Rows that go are emitted first.
 */
final private[join] class EmittedChanges(
    toKey: Option[UnsafeProjection],
    updateBefore: Boolean) {
  import EmittedChanges._

  private[this] val gone = ArrayBuffer.empty[Copies]
  private[this] val come = ArrayBuffer.empty[Copies]

  /** Rows whose number of copies changes; a row may be in it twice. */
  def size: Int = gone.size + come.size

  /** Adds a row whose number of copies changes; the row is copied. */
  def add(row: UnsafeRow, change: Long): Unit =
    if (change < 0L) gone += new Copies(row.copy(), -change)
    else if (change > 0L) come += new Copies(row.copy(), change)

  /** The changes; none are left. */
  def take(): Iterator[InternalRow] = if (size == 0) Iterator.empty
  else {
    if (toKey.isEmpty && gone.nonEmpty && come.nonEmpty) cancel()
    val out =
      if (gone.isEmpty || come.isEmpty || toKey.isEmpty) plain() else paired(toKey.get).iterator
    gone.clear()
    come.clear()
    out
  }

  /** Takes out what goes and comes as well. */
  private def cancel(): Unit = {
    val left = new HashMap[UnsafeRow, Copies]
    gone.foreach { its =>
      val same = left.putIfAbsent(its.row, its)
      if (same != null) {
        same.number += its.number
        its.number = 0L
      }
    }
    come.foreach { its =>
      val same = left.get(its.row)
      if (same != null) {
        val both = math.min(same.number, its.number)
        same.number -= both
        its.number -= both
      }
    }
    val _ = (gone.filterInPlace(_.number > 0L), come.filterInPlace(_.number > 0L))
  }

  private def plain(): Iterator[InternalRow] = {
    gone.foreach(its => of(its.row, RowKind.Delete))
    come.foreach(its => of(its.row, RowKind.Insert))
    new RowByRow((gone ++ come).toArray)
  }

  private def paired(key: UnsafeProjection): ArrayBuffer[InternalRow] = {
    val out = new ArrayBuffer[InternalRow](gone.size + come.size)
    val old = new LinkedHashMap[UnsafeRow, UnsafeRow]
    // Two rows of a key can only be the fault of an input; then each is deleted by itself.
    gone.foreach { its =>
      val other = old.put(key(its.row).copy(), its.row)
      if (other != null) out += of(other, RowKind.Delete)
      repeat(its, RowKind.Delete, out)
    }
    val (updates, inserts) = (new ArrayBuffer[InternalRow], new ArrayBuffer[InternalRow])
    come.foreach { its =>
      val before = old.remove(key(its.row))
      if (before == null) inserts += of(its.row, RowKind.Insert)
      else if (before != its.row) {
        if (updateBefore) updates += of(before, RowKind.UpdateBefore)
        updates += of(its.row, RowKind.UpdateAfter)
      }
      repeat(its, RowKind.Insert, inserts)
    }
    old.values.forEach(row => out += of(row, RowKind.Delete))
    out ++= updates ++= inserts
  }

  /** The copies of a row but the first. */
  private def repeat(its: Copies, kind: Byte, to: ArrayBuffer[InternalRow]): Unit = {
    var left = its.number - 1L
    while (left > 0L) {
      to += of(its.row.copy(), kind)
      left -= 1L
    }
  }

  private def of(row: UnsafeRow, kind: Byte): UnsafeRow = {
    row.setByte(row.numFields - 1, kind)
    row
  }
}

private object EmittedChanges {

  /** A row, and how many copies of it go or come. */
  final private class Copies(val row: UnsafeRow, var number: Long)

  /** Copies are made one by one: there may be millions of a row. */
  final private class RowByRow(rows: Array[Copies]) extends Iterator[InternalRow] {
    private[this] var at = 0
    private[this] var made = 0L // of the row at `at`

    override def hasNext: Boolean = at < rows.length

    override def next(): InternalRow = {
      val its = rows(at)
      made += 1L
      if (made == its.number) {
        at += 1
        made = 0L
      }
      its.row
    }
  }
}
