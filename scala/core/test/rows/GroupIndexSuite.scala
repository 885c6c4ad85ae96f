package io.firesteel.core.rows

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Groups of keys, compared with a map. */
class GroupIndexSuite extends AnyFunSuite {

  /** Offers keys to an index and a map, and compares the groups of both. */
  private def check[K](keys: Seq[K], index: GroupIndex)(of: K => Int): mutable.Map[K, Int] = {
    val groups = mutable.HashMap.empty[K, Int]
    keys.foreach(key => assert(of(key) == groups.getOrElseUpdate(key, groups.size), key))
    assert(index.size == groups.size)
    groups.foreach { case (key, group) => assert(of(key) == group, key) }
    assert(index.size == groups.size, "a key that is known makes no group")
    groups
  }

  private val make = RowMaker("a STRING, n BIGINT, d DOUBLE")

  private def awkward(random: Random): Seq[Any] = Seq(
    Seq(null, "", "x", "long " * 200, "\u0000", "é")(random.nextInt(6)),
    Seq[Any](null, 0L, -1L, Long.MinValue, Long.MaxValue)(random.nextInt(5)),
    Seq[Any](null, Double.NaN, 0.0, 1.5)(random.nextInt(4))
  )

  test("rows of awkward values, repeated") {
    val (random, index) = (new Random(1), new GroupIndex)
    // By their text: in Scala NaN does not equal itself.
    val keys = Seq.fill(2000)(awkward(random)).groupBy(_.toString).map { case (k, of) =>
      k -> of.head
    }
    def row(key: String) = make(keys(key): _*)
    val offered = random.shuffle(Seq.fill(3)(keys.keys.toSeq).flatten)
    check(offered, index)(key => index.of(row(key))).foreach { case (key, group) =>
      assert(index.row(group) == row(key) && index.hash(group) == row(key).hashCode)
    }
  }

  test("a key is copied: its row may be overwritten") {
    val index = new GroupIndex
    val a = make("a", 1L, 1.0).copy()
    index.of(make("a", 1L, 1.0))
    val b = make("b", 2L, 2.0)
    assert(index.row(0) == a && index.of(b) == 1 && index.of(a) == 0)
  }

  test("the table grows past the processor's cache, by rows") {
    val index = new GroupIndex
    check(0 until 40000, index)(n => index.of(make(null, n.toLong, null)))
  }

  test("the table grows past the processor's cache, by numbers") {
    val (random, index) = (new Random(2), new GroupIndex)
    val keys = Seq.fill(60000) {
      if (random.nextBoolean()) random.nextInt(20000).toLong - 6000 else random.nextLong()
    }
    check(keys, index)(index.of).foreach { case (key, group) => assert(index.number(group) == key) }
  }

  test("numbers that all have the same hash are different groups") {
    val index = new GroupIndex
    val colliding = (0 until 3000).map(n => withHash((n.toLong << 32) | 7L))
    val groups = check(colliding, index)(index.of)
    assert(groups.values.map(index.hash).toSet == Set(7))
  }

  test("rows of the same hash are different groups") {
    val number = RowMaker("n BIGINT")
    val random = new Random(8)
    val byHash =
      Seq.fill(300000)(random.nextLong()).groupBy(number(_).hashCode).values.filter(_.size > 1)
    assert(byHash.nonEmpty)
    val index = new GroupIndex
    check(byHash.flatten.toSeq, index)(n => index.of(number(n)))
  }

  test("null is a group among numbers, and so is 0") {
    val index = new GroupIndex
    assert(Seq(index.of(0L), index.ofNull(), index.of(1L), index.ofNull()) == Seq(0, 1, 2, 1))
    (2L until 1000L).foreach(n => assert(index.of(n) == n + 1))
    assert(index.ofNull() == 1 && index.of(0L) == 0 && index.isNull(1) && !index.isNull(0))
  }

  test("numbers around the bound of those that are found without a hash") {
    val index = new GroupIndex
    val keys = Seq(4095L, 4096L, 4097L, 0L, -1L, 255L, 256L, 4095L + (1L << 32), Long.MinValue)
    check(keys ++ keys.reverse, index)(index.of)
  }

  test("one key, however often it is repeated, is one group of few bytes") {
    val index = new GroupIndex
    (0 until 100000).foreach(_ => assert(index.of(make("x" * 1000, 1L, null)) == 0))
    assert(index.size == 1 && index.bytes < 10000)
  }

  test("bytes grow with the keys, and clear resets them") {
    val (index, fresh) = (new GroupIndex, new GroupIndex)
    (0 until 20000).foreach(n => index.of(make("x" * 100, n.toLong, null)))
    assert(index.bytes > 20000 * 100)
    index.clear()
    assert(index.size == 0 && index.bytes == fresh.bytes)
    check((0L until 500L).reverse, index)(index.of)
    index.clear()
    assert(index.ofNull() == 0 && index.of(7L) == 1)
  }

  /** The number with this 64-bit hash: the inverse of MurmurHash3's finalizer. */
  private def withHash(hash: Long): Long = {
    def inverse(odd: Long): Long = Iterator.iterate(odd)(x => x * (2 - odd * x)).drop(6).next()
    def unshift(h: Long): Long = h ^ (h >>> 33)
    unshift(unshift(unshift(hash) * inverse(0xc4ceb9fe1a85ec53L)) * inverse(0xff51afd7ed558ccdL))
  }
}
