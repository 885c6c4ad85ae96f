package io.firesteel.changelog.filter

import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{BooleanType, ByteType, DataType, IntegerType}
import org.scalatest.funsuite.AnyFunSuite

/** A filter on rows with kinds, without a session. */
class FilteredChangesSuite extends AnyFunSuite {

  /** Rows that come in one buffer, as generated code gives them, and only after `hasNext`. */
  private def reused(rows: Seq[(Int, Option[Boolean], String)]): Iterator[UnsafeRow] = {
    val toUnsafe = UnsafeProjection.create(Array[DataType](IntegerType, BooleanType, ByteType))
    val all = rows.iterator
    new Iterator[UnsafeRow] {
      private var asked = false
      override def hasNext: Boolean = {
        asked = true
        all.hasNext
      }
      override def next(): UnsafeRow = {
        require(asked, "next() before hasNext")
        asked = false
        val (value, passes, kind) = all.next()
        toUnsafe(InternalRow(value, passes.orNull, RowKind.names.indexOf(kind).toByte))
      }
    }
  }

  private def filtered(rows: (Int, Option[Boolean], String)*): Seq[String] =
    new FilteredChanges(reused(rows), passesAt = 1, kindAt = 2)
      .map(row => RowKind.names(row.getByte(2).toInt) + row.getInt(0))
      .toSeq

  private val (yes, no) = (Some(true), Some(false))

  test("an update that passes on both sides or on none stays what it is") {
    assert(filtered((1, yes, "-U"), (2, yes, "+U")) == Seq("-U1", "+U2"))
    assert(filtered((1, no, "-U"), (2, None, "+U")).isEmpty)
  }

  test("an update that passes on one side is a deletion or an insertion") {
    assert(filtered((1, yes, "-U"), (2, no, "+U"), (3, None, "-U"), (4, yes, "+U")) ==
      Seq("-D1", "+I4"))
  }

  test("insertions and deletions pass as they are") {
    assert(filtered((1, yes, "+I"), (2, no, "+I"), (3, yes, "-D"), (4, None, "-D")) ==
      Seq("+I1", "-D3"))
  }
}
