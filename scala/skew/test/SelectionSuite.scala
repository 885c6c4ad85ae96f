package io.firesteel.skew

import io.firesteel.testkit.TimedSuite

import scala.util.Random

/** `Selection`, `PackedNumbers` and `GroupedNumbers` against sorted lists. */
class SelectionSuite extends TimedSuite {

  private val random = new Random(3)

  private val shapes: Map[String, Int => Long] = Map(
    "equal" -> (_ => 5L),
    "few" -> (_ => random.nextInt(3).toLong),
    "any" -> (_ => random.nextLong()),
    "ascending" -> (_.toLong),
    "descending" -> (-_.toLong),
    "organ pipe" -> (i => math.min(i, 3000 - i).toLong),
    "ends" -> (_ => if (random.nextBoolean()) Long.MaxValue else Long.MinValue),
    "near zero" -> (_ => random.nextInt(300).toLong - 150),
    "repeated, far apart" -> (_ => random.nextInt(50) * 1000000007L),
    "runs" -> (i => (i / 100).toLong)
  )

  private val sizes = Seq(1, 2, 15, 16, 17, 33, 100, 1000, 5000, 20000)

  shapes.foreach { case (name, number) =>
    test(s"positions are found: $name") {
      sizes.foreach { size =>
        val numbers = Array.tabulate(size)(number)
        val sorted = numbers.sorted
        Seq(1, 2, 5, 40).foreach { count =>
          val places = Array.fill(count)(random.nextInt(size).toLong)
          val found = Selection.at(numbers.clone(), size, places)
          assert(found.toSeq == places.toSeq.map(at => sorted(at.toInt)), s"$name, $size")
        }
      }
    }

    test(s"packed by groups and read: $name") {
      for (size <- sizes; groups <- Seq(1, 7, 300)) {
        val held = new GroupedNumbers
        // It starts again after `clear`.
        (1 to 2).foreach { _ =>
          val added = Array.tabulate(size)(i => (random.nextInt(groups), number(i)))
          added.foreach { case (group, one) => if (held.add(group, one)) held.grow() }
          assert(held.size == size)
          held.arrange(groups)
          (0 until groups).foreach { group =>
            val out = new BlockBytes
            val expected = added.collect { case (`group`, one) => one }.sorted
            assert(held.put(group, 0, out) == expected.length)
            val read = NumberCounts.of(out.toArray)
            assert(read.total == expected.length)
            val places = Array.tabulate(expected.length)(_.toLong)
            assert(read.at(places).toSeq == expected.toSeq, s"$name, $size, $groups")
          }
          held.clear()
        }
      }
    }
  }

  test("repeated numbers take few bytes") {
    def bytes(size: Int)(number: Int => Long): Int = {
      val held = new GroupedNumbers
      (0 until size).foreach(i => if (held.add(0, number(i))) held.grow())
      held.arrange(1)
      val out = new BlockBytes
      val _ = held.put(0, 0, out)
      out.size
    }
    assert(bytes(100000)(_ => 7L) < 20)
    assert(bytes(100000)(i => (i % 100) * 1000000007L) < 2000)
    assert(bytes(100000)(i => (i % 100).toLong) < 1000)
    assert(bytes(100000)(i => 1L << (i % 63)) < 2000)
    assert(bytes(100000)(i => i * 50L) < 100000 * 3 + 20)
  }

  test("a growing group keeps few numbers if they are repeated") {
    val all = new NumberCounts
    (0 until 5000000).foreach(i => all.add((i % 1000) * 1000003L))
    val read = NumberCounts.of(all.toBytes)
    assert(all.toBytes.length < 10000)
    assert(read.total == 5000000L)
    assert(read.at(Array(0L, 2499999L, 4999999L)).toSeq == Seq(0L, 499L * 1000003, 999L * 1000003))
  }
}
