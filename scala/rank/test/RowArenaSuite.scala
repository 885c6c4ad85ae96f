package io.firesteel.rank

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Records do not overlap, and freed records are reused. */
class RowArenaSuite extends AnyFunSuite {

  test("records keep their content while others are allocated and freed") {
    val random = new Random(5)
    val arena = new RowArena
    val live = scala.collection.mutable.Map.empty[Long, (Int, Long)]
    (1 to 50000).foreach { step =>
      if (live.nonEmpty && random.nextInt(3) == 0) {
        val (address, (bytes, stamp)) = live.iterator.drop(random.nextInt(live.size.min(50))).next()
        assert(arena.getLong(address) == stamp && arena.getLong(address + bytes - 8) == stamp)
        arena.release(address, bytes)
        live -= address
      } else {
        val bytes = 8 * (1 + random.nextInt(if (step % 100 == 0) 100000 else 40))
        val address = arena.allocate(bytes)
        assert(address != 0L && !live.contains(address))
        arena.putLong(address, step.toLong)
        arena.putLong(address + bytes - 8, step.toLong)
        live(address) = (bytes, step.toLong)
      }
    }
    live.foreach { case (address, (bytes, stamp)) =>
      assert(arena.getLong(address) == stamp && arena.getLong(address + bytes - 8) == stamp)
    }
  }

  test("every capacity holds its bytes, and records of a class share it") {
    (1 to 5000).foreach { bytes =>
      assert(RowArena.capacity(bytes) >= bytes && RowArena.capacity(bytes) % 8 == 0)
      val grown = RowArena.capacity(bytes)
      assert(RowArena.classOf(grown) == RowArena.classOf(bytes), bytes)
    }
  }

  test("a freed record is reused") {
    val arena = new RowArena
    val address = arena.allocate(40)
    arena.release(address, 40)
    assert(arena.allocate(36) == address)
  }
}
