package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.ChangelogSuite

class UnsupportedSuite extends ChangelogSuite {

  private def message(column: String): String =
    refusal("k INT, v INT", s"SELECT k, $column OVER (PARTITION BY k ORDER BY v) AS x FROM {t}")

  test("window functions that a bound would not help are named, with another advice") {
    Seq("sum(v)" -> "sum", "lag(v)" -> "lag", "ntile(2)" -> "ntile").foreach { case (call, name) =>
      val text = message(call)
      assert(text.contains(s"OVER of $name is not supported"), text)
      assert(text.contains("aggregate with GROUP BY") && !text.contains("row_number"), text)
    }
  }
}
