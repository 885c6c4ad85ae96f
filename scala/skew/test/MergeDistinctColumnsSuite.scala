package io.firesteel.skew

/** If the room does not compute the `DISTINCT`s in one pass, merging could multiply rows. */
class MergeDistinctColumnsSuite extends MergeSuite {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, 1000, 1, 3).selectExpr("id", "id % 7 AS a", "id % 11 AS b")
      .createOrReplaceTempView("t")
  }

  test("distinct counts of two columns are merged, since the room counts them in one pass") {
    val sql = sideBySide(
      "SELECT count(DISTINCT a) FROM t WHERE id > 3",
      "SELECT count(DISTINCT b) FROM t WHERE id > 5")
    assert(fired(sql) == Seq("MergeGlobalAggregates"))
    assertSameAnswer(sql)
  }

  test("distinct functions that the room declines are not merged, for two columns") {
    val sql = sideBySide(
      "SELECT bit_xor(DISTINCT a) FROM t WHERE id > 3",
      "SELECT bit_xor(DISTINCT b) FROM t WHERE id > 5")
    assert(declines(sql) == Set("SKEW.MERGE_DISTINCT_COLUMNS"))
    assertSameAnswer(sql)
  }

  test("for one column they are merged") {
    val sql = sideBySide(
      "SELECT bit_xor(DISTINCT a) FROM t WHERE id > 3",
      "SELECT bit_xor(DISTINCT a), sum(b) FROM t WHERE id > 500")
    assert(fired(sql) == Seq("MergeGlobalAggregates"))
    assertSameAnswer(sql)
  }

  test("a branch that copies rows anyway may be merged") {
    val sql = sideBySide(
      "SELECT bit_xor(DISTINCT a), count(DISTINCT b) FROM t WHERE id > 3",
      "SELECT count(DISTINCT b) FROM t WHERE id > 500")
    assert(fired(sql) == Seq("MergeGlobalAggregates"))
    assertSameAnswer(sql)
  }
}
