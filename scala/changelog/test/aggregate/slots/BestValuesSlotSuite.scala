package io.firesteel.changelog.aggregate.slots

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{BinaryType, DataType, DoubleType, FloatType, IntegerType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** The best of a set from which values go, against the set itself. */
class BestValuesSlotSuite extends AnyFunSuite {

  /** Lets values come and go, and says how often all of them were looked through. */
  private def check(
      dataType: DataType,
      largest: Boolean,
      steps: Int,
      comes: Double,
      of: Int => Any): Int = {
    val random = new Random(steps)
    val slot = new BestValuesSlot(dataType, largest)
    var state = GroupState(1, 1)
    val there = mutable.TreeSet.empty[Int]
    var searches = 0
    (1 to steps).foreach { step =>
      val n = random.nextInt(steps)
      // What goes is often the best.
      if (random.nextDouble() < comes || there.isEmpty) {
        if (there.add(n)) slot.appear(state, of(n))
      } else {
        val gone =
          if (random.nextBoolean()) { if (largest) there.last else there.head }
          else there.minAfter(n).getOrElse(there.head)
        there -= gone
        if (slot.vanish(state, of(gone))) {
          searches += 1
          slot.search(state, visit => random.shuffle(there.toSeq).foreach(v => visit(of(v))))
        }
      }
      if (step % 7 == 0) state = stored(slot, state)
      val best = if (there.isEmpty) null else of(if (largest) there.last else there.head)
      assert(text(slot.value(state)) == text(best), s"step $step")
      assert(slot.isZero(state) == there.isEmpty)
    }
    searches
  }

  private def text(value: Any): String = value match {
    case bytes: Array[Byte] => bytes.mkString(",")
    case other => String.valueOf(other)
  }

  private def stored(slot: BestValuesSlot, state: GroupState): GroupState = {
    val row = new GenericInternalRow(2)
    slot.write(state, row, 0)
    val read = GroupState(1, 1)
    slot.merge(read, row, 0)
    read
  }

  test("values that come and go, of several types, smallest and largest") {
    for (largest <- Seq(true, false); comes <- Seq(0.3, 0.5, 0.7, 0.95)) {
      check(IntegerType, largest, 2000, comes, n => n)
      check(DoubleType, largest, 500, comes, n => if (n == 0) Double.NegativeInfinity else n / 8.0)
      check(StringType, largest, 500, comes, n => UTF8String.fromString(f"v$n%05d"))
      check(BinaryType, largest, 500, comes, n => f"$n%05d".getBytes)
    }
  }

  test("all values are looked through once for many that go") {
    assert(check(IntegerType, largest = true, 20000, 0.7, n => n) < 20000 / BestValuesSlot.wanted)
    // A set that shrinks by its best: once for each sixteen of them.
    val slot = new BestValuesSlot(IntegerType, largest = false)
    val state = GroupState(1, 1)
    (0 until 1600).foreach(n => slot.appear(state, n))
    val searches = (0 until 1600).count { n =>
      val lost = slot.vanish(state, n)
      if (lost) slot.search(state, visit => (n + 1 until 1600).foreach(visit))
      lost
    }
    assert(searches <= 1600 / BestValuesSlot.wanted + 1)
    assert(slot.isZero(state))
  }

  test("two NaN of other bits are two values, as in the set") {
    def forms(dataType: DataType) = dataType match {
      case DoubleType =>
        (java.lang.Double.longBitsToDouble(0xfff8000000000000L), Double.NaN, 1.0)
      case _ => (java.lang.Float.intBitsToFloat(0xffc00000), Float.NaN, 1.0f)
    }
    Seq(DoubleType, FloatType).foreach { dataType =>
      val slot = new BestValuesSlot(dataType, largest = true)
      val state = GroupState(1, 1)
      val (negative, nan, number) = forms(dataType)
      Seq[Any](nan, negative, number).foreach(slot.appear(state, _))
      assert(!slot.vanish(state, nan))
      assert(String.valueOf(slot.value(stored(slot, state))) == "NaN")
      assert(!slot.vanish(state, negative))
      assert(String.valueOf(slot.value(state)) == "1.0")
    }
  }

  test("both zeros are values") {
    val slot = new BestValuesSlot(DoubleType, largest = true)
    val state = GroupState(1, 1)
    slot.appear(state, 0.0)
    slot.appear(state, -0.0)
    assert(!slot.vanish(state, 0.0))
    assert(slot.value(state) == -0.0)
    slot.appear(state, Double.NaN)
    assert(slot.value(state).asInstanceOf[Double].isNaN)
    assert(!slot.vanish(state, Double.NaN) && !slot.vanish(state, -0.0) && slot.isZero(state))
  }
}
