package io.firesteel.changelog.upsert

import io.firesteel.core.changes.RowKind
import io.firesteel.core.errors.FiresteelException

import scala.util.Random

import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

class NetRecordsIteratorSuite extends AnyFunSuite {

  private def change(key: String, row: String, kind: String): KeyChange =
    KeyChange(
      UTF8String.fromString(key),
      UTF8String.fromString(row),
      RowKind.names.indexOf(kind).toByte)

  private def net(changes: KeyChange*): Seq[String] =
    new NetRecordsIterator(changes.iterator).map { r =>
      s"${r.key}=${r.value.fold("null")(_.toString)}"
    }.toSeq

  test("a key has one record, in any order of its changes") {
    assert(net(change("a", "2", "+U"), change("a", "1", "-U")) == Seq("a=2"))
    assert(net(change("a", "1", "-D"), change("a", "2", "+I")) == Seq("a=2"))
    assert(net(change("a", "1", "-D"), change("b", "1", "+I")) == Seq("a=null", "b=1"))
  }

  test("what is undone has no record") {
    assert(net(change("a", "1", "+I"), change("a", "1", "-D")).isEmpty)
    assert(net(change("a", "1", "-U"), change("a", "1", "+U"), change("b", "1", "-D")) ==
      Seq("b=null"))
  }

  test("two rows of a key at one time are an error") {
    val error = intercept[FiresteelException](net(change("a", "1", "+I"), change("a", "2", "+I")))
    assert(error.getCondition == "FIRESTEEL_CHANGELOG_SEVERAL_ROWS")
    intercept[FiresteelException](net(change("a", "1", "-D"), change("a", "1", "-D")))
  }

  test("random chains of changes, shuffled, leave what the last one leaves") {
    val random = new Random(11)
    (1 to 500).foreach { round =>
      val before = Option.when(random.nextBoolean())(random.nextInt(3))
      val (changes, after) = (1 to random.nextInt(8)).foldLeft((Seq.empty[KeyChange], before)) {
        case ((told, None), _) =>
          val row = random.nextInt(3)
          (told :+ change("k", s"$row", "+I"), Some(row))
        case ((told, Some(had)), _) if random.nextInt(3) == 0 =>
          (told :+ change("k", s"$had", "-D"), None)
        case ((told, Some(had)), _) =>
          val row = random.nextInt(3)
          (told ++ Seq(change("k", s"$had", "-U"), change("k", s"$row", "+U")), Some(row))
      }
      val expected =
        if (before == after) Nil else Seq(s"k=${after.fold("null")(_.toString)}")
      assert(net(random.shuffle(changes): _*) == expected, s"round $round")
    }
  }
}
