package io.firesteel.lookup.files

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.firesteel.Files
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.{Gen, Prop, Test}

/** The index compared with a map, and its memory with Spark's memory manager. */
class FilesIndexSuite extends FilesFixture {

  private val keyOf = UnsafeProjection.create(StructType.fromDDL("n LONG, s STRING"))
  private val rowOf = UnsafeProjection.create(StructType.fromDDL("s STRING"))

  private def key(number: Long): UnsafeRow =
    keyOf(InternalRow(number, UTF8String.fromString("k" * (number % 40).toInt))).copy()

  private def row(text: String): UnsafeRow = rowOf(InternalRow(UTF8String.fromString(text))).copy()

  private def memory(): StorageMemory = new StorageMemory(
    Files.storage(),
    "test",
    () => (),
    FilesErrors.noMemory(3, "folder", _, _, _))

  private def indexOf(rows: Seq[(Long, String)]): BucketIndex = {
    val builder = new BucketIndexBuilder(memory())
    rows.foreach { case (number, text) => builder.add(key(number), row(text)) }
    builder.result()
  }

  private def found(index: BucketIndex, number: Long): Seq[String] = {
    val (asked, shown) = (key(number), new UnsafeRow(1))
    Iterator
      .iterate(index.first(asked))(index.next(_, asked))
      .takeWhile(_ != Record.none)
      .map { address =>
        index.point(address, shown)
        shown.getString(0)
      }
      .toSeq
  }

  override def beforeAll(): Unit = {
    super.beforeAll()
    val _ = spark.version
  }

  test("finds what was added, all rows of a key, and nothing else") {
    val rows = Gen.listOf(Gen.zip(Gen.choose(0L, 50L), Gen.oneOf(Gen.alphaStr, Gen.const(""))))
    val property = Prop.forAll(rows) { rows =>
      val index = indexOf(rows)
      try
        index.rows == rows.length && (0L to 60L).forall { n =>
          found(index, n).sorted == rows.filter(_._1 == n).map(_._2).sorted
        }
      finally index.release()
    }
    val result = Test.check(property)(_.withMinSuccessfulTests(200).withWorkers(1))
    assert(result.passed, result.status)
  }

  test("finds rows in many pages, one of them larger than a page") {
    val large = "x" * (5 << 20)
    val index = indexOf((0L until 50000L).map(n => n -> s"row $n") :+ (-1L -> large))
    assert((0L until 50000L by 997).forall(n => found(index, n) == Seq(s"row $n")))
    assert(found(index, -1L) == Seq(large))
    assert(found(index, 50000L).isEmpty)
    index.release()
  }

  test("holds as much of Spark's storage memory as its arrays have, and gives it all back") {
    val pool = Files.storage()
    val before = pool.freeBytes
    val index = indexOf((0L until 10000L).map(n => n -> s"row $n"))
    assert(before - pool.freeBytes == index.bytes)
    index.release()
    assert(pool.freeBytes == before)
  }

  test("the table has a power of two of slots") {
    assert(Seq(0L, 1L, 2L, 3L, 4L, 5L, 1025L, 1L << 40).map(BucketIndexBuilder.slotsFor) ==
      Seq(1, 1, 2, 4, 4, 8, 2048, 1 << 30))
  }

  test("says what to do when memory is refused, and how much there is") {
    val refused =
      intercept[io.firesteel.core.errors.FiresteelException](memory().take(Long.MaxValue / 2))
    assert(refused.getCondition == "FIRESTEEL_LOOKUP_FILES_NO_MEMORY")
    assert(refused.getMessage.contains("shuffle = true"))
    assert(refused.getMessageParameters.get("free").toLong > 0)
  }
}
