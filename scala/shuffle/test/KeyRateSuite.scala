package io.firesteel.shuffle

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** The number of keys: of a task's rows as they are observed, and of a source by a sample. */
class KeyRateSuite extends AnyFunSuite {

  private def hash(key: Long): Long = new Random(key).nextLong()

  private def rate(keys: Iterator[Long]): KeyRate = {
    val rate = new KeyRate
    keys.foreach(key => rate.add(hash(key)))
    rate
  }

  test("no rows, one row, all rows different, all rows equal") {
    assert(rate(Iterator.empty).distinct == 1.0 && rate(Iterator.empty).largestShare == 0.0)
    assert(rate(Iterator(3L)).distinct == 1.0 && rate(Iterator(3L)).largestShare == 0.0)
    assert(rate((0L until 300000L).iterator).distinct == 1.0)
    assert(rate((0L until 300000L).iterator).largestShare == 0.0)
    assert(rate(Iterator.fill(1000)(7L)).distinct == 0.001)
    assert(rate(Iterator.fill(1000)(7L)).largestShare == 1.0)
    // The hash 0 is in every part.
    val zeros = new KeyRate
    (0 until 1000).foreach(_ => zeros.add(0L))
    assert(zeros.distinct == 0.001)
  }

  test("a few thousand keys represent any number") {
    val random = new Random(5)
    Seq(1000, 10000, 100000, 1000000).foreach { keys =>
      val rows = Array.fill(300000)(random.nextInt(keys).toLong)
      val (found, truth) = (rate(rows.iterator).distinct, rows.distinct.length / 300000.0)
      assert(math.abs(found - truth) / truth < 0.08, s"$found of $keys keys, $truth in truth")
    }
  }

  test("one key with many rows is seen") {
    Seq(0, 1, 7).foreach { at =>
      val rows = (0L until 200000L).iterator.map(i => if (i % 16 == at) -1L else i)
      val found = rate(rows).largestShare
      assert(math.abs(found - 1.0 / 16) < 0.03, s"$found, every 16th from $at")
    }
  }

  test("a sample shows how many keys a whole task has") {
    val random = new Random(9)
    Seq((20000, 1000000, 500000.0), (20000, 1000000, 5000000.0), (5000, 20000, 100000.0)).foreach {
      case (sample, keys, rows) =>
        val found = SampledRate.of(Array.fill(sample)(random.nextInt(keys).toLong), rows).distinct
        val truth = keys * (1 - math.exp(-rows / keys)) / rows
        assert(math.abs(found - truth) < 0.1 * truth + 0.02, s"$found, $truth in truth")
    }
    assert(SampledRate.of((0L until 20000L).toArray, 1e6).distinct > 0.99)
    val one = SampledRate.of(Array.fill(2000)(1L), 1e6)
    assert(one.distinct < 1e-3 && one.largestShare == 1.0)
    assert(
      SampledRate.of((0L until 2000L).toArray, 10.0).distinct > 0.99,
      "a task of fewer rows than it has")
  }
}
