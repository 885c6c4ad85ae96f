package io.firesteel.lookup

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

/** Values of options at their limits. */
class LookupOptionsSuite extends AnyFunSuite {

  private def options(written: (String, String)*): LookupOptions =
    LookupOptions.of(written.toMap, new SQLConf, fullByDefault = false)

  private def refused(written: (String, String)*): String = {
    val thrown = intercept[AnalysisException](options(written: _*))
    assert(thrown.getCondition == "FIRESTEEL_LOOKUP_BAD_OPTION")
    thrown.getMessage
  }

  private val partial = "lookup.cache" -> "PARTIAL"

  test("a time of less than a millisecond is no time for a question, a cache or a reload") {
    for (time <- Seq("0s", "100us", "999 ns", "0", "40000d", "99999999999999d")) {
      assert(refused("timeout" -> time).contains("a time from 1ms to 36500d"), time)
      for (bound <- Seq("expire-after-write", "expire-after-access")) {
        val _ = refused(partial, s"lookup.partial-cache.$bound" -> time)
      }
      val interval = "lookup.full-cache.periodic-reload.interval"
      val _ = refused("lookup.cache" -> "FULL", interval -> time)
    }
    assert(options("timeout" -> "1ms").timeoutMillis == 1)
    assert(options("timeout" -> "36500d").timeoutMillis == 3153600000000L)
  }

  test("a retry may come at once") {
    val retry = Seq(
      "retry-predicate" -> "lookup_miss",
      "retry-strategy" -> "fixed_delay",
      "max-attempts" -> "3")
    assert(options(retry :+ ("fixed-delay" -> "0s"): _*).retry.contains(RetryOnMiss(0, 3)))
  }

  test("a cache may have more keys than an INT counts") {
    val kept = options(partial, "lookup.partial-cache.max-rows" -> "3000000000").cache
    assert(kept == CachePolicy.Partial(Some(3000000000L), None, None, cacheMissingKey = true))
  }

  test("a number that is too large is refused with the largest") {
    assert(refused("capacity" -> "3000000000").contains("up to 2147483647"))
    assert(refused(partial, "lookup.partial-cache.max-rows" -> "0").contains("positive"))
    assert(
      refused(partial, "lookup.partial-cache.max-rows" -> "9223372036854775808").contains(
        "up to 9223372036854775807"))
  }
}
