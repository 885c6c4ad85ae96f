package io.firesteel.lookup

/** Flink's spelling of a window function's table, which Spark's grammar refuses. */
class TableArgumentSuite extends ParserSuite {

  private def same(flinks: String, sparks: String): Unit = {
    val _ =
      assert(parser.parsePlan(flinks).canonicalized == stockParser.parsePlan(sparks).canonicalized)
  }

  test("a table and its keys need no parentheses") {
    same(
      "SELECT * FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
      "SELECT * FROM TUMBLE(TABLE(bid), DESCRIPTOR(ts), INTERVAL '1' HOUR)")
    same(
      "SELECT a, sum(b) OVER (PARTITION BY a, c) FROM hop(DATA => TABLE `x y`.bid , TIMECOL => DESCRIPTOR(ts), " +
        "SLIDE => '1 hour', SIZE => '2 hours')",
      "SELECT a, sum(b) OVER (PARTITION BY a, c) FROM hop(DATA => TABLE(`x y`.bid), TIMECOL => DESCRIPTOR(ts), " +
        "SLIDE => '1 hour', SIZE => '2 hours')"
    )
    same(
      "SELECT * FROM SESSION(TABLE bid PARTITION BY k, abs(m), DESCRIPTOR(ts), INTERVAL '1' HOUR)",
      "SELECT * FROM SESSION(TABLE(bid) PARTITION BY (k, abs(m)), DESCRIPTOR(ts), INTERVAL '1' HOUR)"
    )
    same(
      "SELECT 'DESCRIPTOR', count(*) OVER (PARTITION BY a) FROM TUMBLE(TABLE(bid), DESCRIPTOR(ts), '1 hour')",
      "SELECT 'DESCRIPTOR', count(*) OVER (PARTITION BY a) FROM TUMBLE(TABLE(bid), DESCRIPTOR(ts), '1 hour')"
    )
  }
}
