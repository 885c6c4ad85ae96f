package io.firesteel.json

import java.nio.charset.StandardCharsets.ISO_8859_1

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Eight bytes at a time, compared with one at a time. */
class SwarSuite extends AnyFunSuite {

  test("digits of random bytes, and of every byte at every place") {
    val random = new Random(1)
    val bytes = new Array[Byte](8)
    val some = Seq.fill(20000) {
      random.nextBytes(bytes)
      bytes.map(byte => if (random.nextInt(3) == 0) byte else ('0' + random.nextInt(10)).toByte)
    }
    val each = for (at <- 0 until 8; byte <- 0 until 256)
      yield "12345678".getBytes(ISO_8859_1).updated(at, byte.toByte)
    (some ++ each).foreach { word =>
      val others = word.map(byte => !JsonText.isDigit(byte.toInt))
      val mask = Swar.notDigit(Swar.load(word, 0))
      others.indices.foreach(i =>
        assert(((mask >>> (8 * i + 7)) & 1L) == (if (others(i)) 1L else 0L)))
      if (others.contains(true)) assert(Swar.first(mask) == others.indexOf(true))
    }
  }

  test("numbers of eight digits") {
    val random = new Random(1)
    (Seq(0, 1, 9, 10, 99999999, 90000000, 12345678) ++ Seq.fill(10000)(random.nextInt(100000000)))
      .foreach { number =>
        assert(Swar.number(Swar.load(f"$number%08d".getBytes(ISO_8859_1), 0)) == number)
      }
  }

  test("LONGs around the limits of their digits and of their range") {
    val numbers = new NumberText
    val random = new Random(1)
    val limits = Seq(Long.MaxValue, Long.MinValue, 0L, -1L) ++
      (0 to 18).flatMap(i => Seq(-1L, 0L, 1L).map(BigInt(10).pow(i).toLong + _))
    val texts =
      (limits ++ limits.map(-_) ++ Seq.fill(5000)(random.nextLong() >> random.nextInt(64)))
        .map(_.toString) ++ Seq(
        "9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999")
    texts.foreach { text =>
      val bytes = s"x$text,".getBytes(ISO_8859_1)
      val read = numbers.readLong(bytes, 1, bytes.length - 1)
      assert(read == text.toLongOption.nonEmpty, text)
      if (read) assert(numbers.long == text.toLong)
    }
    Seq("1.5", "12345678.5", "123456789e1", "1234567/", "12345678:").foreach { text =>
      assert(!numbers.readLong(text.getBytes(ISO_8859_1), 0, text.length), text)
    }
  }
}
