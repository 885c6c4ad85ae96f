package io.firesteel.lookup

/** A text with several statements, which parsers split since Spark 4.3. */
class LookupParserSplitSuite extends ParserSuite {

  private val flink =
    "SELECT /*+ LOOKUP('table'='c', 'async'='true') */ o.id FROM o JOIN c FOR SYSTEM_TIME AS OF " +
      "o.ts AS c ON o.id = c.id"

  test("semicolons inside a script do not split it, and statements keep their text") {
    val script = s"BEGIN\n  $flink;\n  SELECT 'LOOKUP', 2;\nEND"
    val sql = s"SELECT 1;\n$script ;$flink; SELECT /*+ LOOKUP('table'=='c'"
    val split = parser.splitStatements(sql)
    assert(split.completeStatements.map(_.statement) == Seq("SELECT 1", script, flink))
    assert(split.partialStatement == "SELECT /*+ LOOKUP('table'=='c'")
    val plain = "SELECT 1; BEGIN SELECT 1; SELECT 2; END; SELECT"
    assert(parser.splitStatements(plain) == stockParser.splitStatements(plain))
  }
}
