package io.firesteel.changelog.state

import io.firesteel.changelog.state.RowsOperator.row
import org.apache.spark.sql.types.{StringType, StructType}
import org.scalatest.funsuite.AnyFunSuite

/** The kit itself, by the smallest operator of several inputs: how a new operator is tested. */
class RowsOperatorSuite extends AnyFunSuite {

  private val replicated = Seq(false, false, true)
  private val layout =
    StateLayout.ofTables(
      "matches",
      Seq(StringType),
      replicated.indices.map(i => MatchCounterExec.table(i, replicated(i))))

  private def counter(): RowsOperator = new RowsOperator(
    layout,
    new MatchCounterTask(replicated, layout),
    inputs = replicated.map(_ => StructType.fromDDL("s STRING")),
    output = StructType.fromDDL("s STRING, n BIGINT, kind TINYINT")
  )

  private def rows(texts: String*) = texts.map(text => row(text) -> "+I")

  test("matches over three inputs, micro-batch by micro-batch") {
    val op = counter()
    assert(op.runAll(Seq(rows("x", "x", "y"), rows("x"), rows())).isEmpty)
    assert(op.runAll(Seq(rows(), rows(), rows("p", "q"))) == Seq(row("x", 4L) -> "+U"))
    assert(op.runAll(Seq(rows("x", null), rows(null), rows())) ==
      Seq(row("x", 6L) -> "+U", row(null, 2L) -> "+U"))
  }

  test("the store wipes out what it gave, and takes no writes while it is read") {
    val op = counter()
    op.runAll(Seq(rows("x"), rows("y"), rows()))
    val pairs = op.store.iterator(family)
    val first = pairs.next()
    val (key, bytes) = (first.key.copy(), first.key)
    assert(intercept[IllegalArgumentException](op.store.remove(key, family))
      .getMessage.contains("while entries are being read"))
    pairs.next()
    assert(bytes != key)
    pairs.close()
    op.store.remove(key, family)
    assert(op.store.size == 1 && op.store.get(key, family) == null)
    op.store.abort()
    assert(op.store.size == 2 && op.store.get(key, family) != null)
  }

  private def family = "default"

  test("a changelog that breaks its promise is found out") {
    def told(changes: (String, String)*): Unit = {
      val _ = new FoldedChanges().add(changes.map { case (its, kind) => row(its) -> kind })
    }
    told("a" -> "+I", "a" -> "-U", "b" -> "+U", "b" -> "-D")
    Seq(
      Seq("a" -> "-D"),
      Seq("a" -> "+I", "a" -> "-U"),
      Seq("a" -> "+I", "a" -> "-U", "b" -> "+I"),
      Seq("a" -> "+I", "b" -> "-U", "c" -> "+U"),
      Seq("a" -> "+U")
    ).foreach(changes => intercept[org.scalatest.exceptions.TestFailedException](told(changes: _*)))
  }
}
