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

  test("a window function may stand in TABLE(...)") {
    same(
      "SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS t",
      "SELECT * FROM TUMBLE(TABLE(bid), DESCRIPTOR(ts), INTERVAL '1' HOUR) AS t"
    )
    same(
      "SELECT * FROM a JOIN table ( session(TABLE bid PARTITION BY k, DESCRIPTOR(ts), '1 hour') ) ON true",
      "SELECT * FROM a JOIN session(TABLE(bid) PARTITION BY (k), DESCRIPTOR(ts), '1 hour') ON true"
    )
    same(
      "SELECT * FROM HOP(TABLE(SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), '1 hour'))), " +
        "DESCRIPTOR(window_time), '1 hour', '2 hours')",
      "SELECT * FROM HOP(TABLE(SELECT * FROM TUMBLE(TABLE(bid), DESCRIPTOR(ts), '1 hour')), " +
        "DESCRIPTOR(window_time), '1 hour', '2 hours')"
    )
    same(
      "SELECT `table`(tumble(x)), 'DESCRIPTOR' FROM TUMBLE(TABLE(bid), DESCRIPTOR(ts), '1 hour')",
      "SELECT `table`(tumble(x)), 'DESCRIPTOR' FROM TUMBLE(TABLE(bid), DESCRIPTOR(ts), '1 hour')"
    )
  }
}
