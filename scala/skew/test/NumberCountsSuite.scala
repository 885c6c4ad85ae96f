package io.firesteel.skew

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** `NumberCounts` against a sorted list. */
class NumberCountsSuite extends AnyFunSuite {

  private val random = new Random(11)

  private val shapes: Map[String, () => Long] = Map(
    "few" -> (() => random.nextInt(7).toLong - 3),
    "some twice" -> (() => random.nextInt(20000).toLong),
    "all different" -> (() => random.nextLong()),
    "ends of the range" -> (() => if (random.nextBoolean()) Long.MaxValue else Long.MinValue)
  )

  private def check(found: NumberCounts, numbers: Seq[Long], clue: String): Unit = {
    val sorted = numbers.sorted.toIndexedSeq
    assert(found.total == sorted.size, clue)
    val places = random.shuffle(sorted.indices.toList).take(200).map(_.toLong).toArray
    val _ = assert(found.at(places).toSeq == places.toSeq.map(at => sorted(at.toInt)), clue)
  }

  private def of(numbers: Seq[Long]): NumberCounts = {
    val all = new NumberCounts
    numbers.foreach(all.add(_))
    all
  }

  shapes.foreach { case (name, next) =>
    test(s"sorted, merged, as bytes and back: $name") {
      Seq(0, 1, 8, 9, 1023, 1024, 1025, 5000).foreach { size =>
        val (one, two) = (Seq.fill(size)(next()), Seq.fill(random.nextInt(3000))(next()))
        check(of(one), one, s"$name, $size")
        val merged = of(one)
        merged.add(NumberCounts.of(of(two).toBytes))
        check(merged, one ++ two, s"$name, $size and ${two.size}")
        val more = Seq.fill(100)(next())
        more.foreach(merged.add(_))
        check(NumberCounts.of(merged.toBytes), one ++ two ++ more, s"$name, $size, as bytes")
      }
    }
  }
}
