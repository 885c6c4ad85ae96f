package io.firesteel.shuffle

import org.scalatest.funsuite.AnyFunSuite

/** Samples of the keys of a task's rows. */
class KeyCountsSuite extends AnyFunSuite {

  private def sampled(limit: Int, keys: Iterator[Long]): SampledKeys = {
    val sample = new SampledKeys(limit)
    keys.foreach(key => if (sample.wantsNext()) sample.add(key))
    sample
  }

  test("all rows of a few, every n-th of many") {
    assert(sampled(10, Iterator.empty).kept.isEmpty)
    val few = sampled(10, (0L until 10L).iterator)
    assert(few.kept.toSeq == (0L until 10L) && few.stride == 1)
    val many = sampled(10, (0L until 1000L).iterator)
    assert(many.stride == 128 && many.kept.toSeq == (0L until 1000L by 128))
    (1 to 300).foreach { rows =>
      val sample = sampled(10, (0L until rows.toLong).iterator)
      assert(sample.kept.length <= 10 && (rows < 10 || sample.kept.length >= 5))
      assert(math.abs(sample.kept.length * sample.stride - rows) <= sample.stride)
    }
  }

  test("rows of large tasks weigh more, and a task that runs twice counts once") {
    val counts = new KeyCounts
    counts.add(0 -> sampled(1000, (0L until 1000L).iterator))
    assert(counts.facts.map(_.distinct).contains(BigInt(1000)))
    // Another task has 64,000 rows of one value.
    val other = counts.copy()
    other.reset()
    other.add(1 -> sampled(1000, Iterator.fill(64000)(5L)))
    counts.merge(other)
    counts.merge(other)
    val facts = counts.facts.get
    assert(facts.distinct == 1000)
    assert(math.abs(facts.largestShare - 64001.0 / 65000) < 0.01)
  }

  test("too few rows give no facts") {
    val counts = new KeyCounts
    assert(counts.facts.isEmpty)
    counts.add(0 -> sampled(5000, (0L until 999L).iterator))
    assert(counts.facts.isEmpty)
  }
}
