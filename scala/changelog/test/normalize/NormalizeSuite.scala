package io.firesteel.changelog.normalize

import io.firesteel.changelog.fold.{ArrivalOrder, FoldLimits, KeyChanges}
import io.firesteel.changelog.state.{MapEntries, StateEntries}
import io.firesteel.core.changes.RowKind
import io.firesteel.core.rows.MemoryBudget
import io.firesteel.testkit.TimedSuite

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, BoundReference, Literal, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{ByteType, DataType, IntegerType, LongType}

/** Changes with a sequence of one key, folded below and above the exchange: rows and a map alone. */
class NormalizeSuite extends TimedSuite {

  /** A change of the only key: its row, its sequence and its kind. */
  private case class Change(value: Int, sequence: Long, kind: Byte)

  private object Limitless extends MemoryBudget {
    override def hold(total: Long): Boolean = true
    override def releaseTo(total: Long): Unit = ()
    override def peak: Long = 0L
  }

  // A row below: key, value, sequence, kind; above: the partition after them.
  private val types = Seq[DataType](IntegerType, IntegerType, LongType, ByteType, IntegerType)
  private val in = types.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) }
  private val toRow = UnsafeProjection.create(types.init.toArray)

  private def order(at: Int) =
    new ArrivalOrder(Seq(SortOrder(BoundReference(at, LongType, nullable = true), Ascending)))

  private def below(changes: Seq[Change], partition: Int, entries: Int): Iterator[InternalRow] = {
    val rows = changes.iterator.map(c => toRow(InternalRow(7, c.value, c.sequence, c.kind)))
    new NewestRows(
      rows,
      FoldLimits(entries, Limitless),
      UnsafeProjection.create(Seq(in.head)),
      order(2),
      UnsafeProjection.create(in.init :+ Literal(partition))).map(_.copy())
  }

  private def above(rows: Iterator[InternalRow], state: StateEntries): Seq[UnsafeRow] =
    new FinalNormalize(
      rows,
      FoldLimits(Int.MaxValue, Limitless),
      keys = 1,
      columns = 2,
      UnsafeProjection.create(Seq(in.head)),
      UnsafeProjection.create(Seq(in(1), in(2), Literal(false))),
      UnsafeProjection.create(in.take(3) :+ Literal(0.toByte)),
      order(1),
      updateBefore = true,
      state,
      new SQLMetric("sum")
    ).map(_.asInstanceOf[UnsafeRow].copy()).toSeq

  /** What a consumer has after the micro-batches, each of them the changes of two partitions. */
  private def stream(batches: Seq[(Seq[Change], Seq[Change])], expires: Boolean): Option[Int] = {
    val state = new MapEntries(expires)
    var table = Option.empty[Int]
    batches.zipWithIndex.foreach { case ((first, second), i) =>
      val limit = if (i % 2 == 0) Int.MaxValue else 1
      // Partitions arrive in any order.
      above(below(second, 1, limit) ++ below(first, 0, limit), state).foreach { row =>
        val gone = RowKind.isRetraction(row.getByte(3))
        assert(table == (if (gone) Some(row.getInt(1)) else None), batches)
        table = if (gone) None else Some(row.getInt(1))
      }
    }
    table
  }

  private def batch(changes: Seq[Change]): Option[Int] = {
    val its = new KeyChanges(order(1))
    val toValue = UnsafeProjection.create(Array[DataType](IntegerType, LongType))
    changes.zipWithIndex.foreach { case (c, at) =>
      its.offer(toValue(InternalRow(c.value, c.sequence)), c.kind, at.toLong)
    }
    if (its.isDeletion) None else Some(its.newest.getInt(0))
  }

  test("streams are as the batch of all their changes, however these are cut and spread") {
    val random = new Random(20261125L)
    def pick[T](of: T*): T = of(random.nextInt(of.size))
    (1 to 1500).foreach { _ =>
      val batches = Seq.fill(1 + random.nextInt(3)) {
        def some = Seq.fill(random.nextInt(3))(Change(
          pick(1, 2),
          pick(5L, 5L, 6L),
          pick(RowKind.Insert, RowKind.UpdateBefore, RowKind.UpdateBefore, RowKind.Delete)))
        (some, some)
      }
      val all = batches.flatMap { case (first, second) => first ++ second }
      if (all.nonEmpty) assert(stream(batches, random.nextBoolean()) == batch(all), batches)
    }
  }
}
