package io.firesteel.testkit

/** Calls of aggregate functions with arguments that a careless implementation handles wrongly. */
object DegenerateCalls {

  /** Percentiles of a column that have an answer. */
  def percentiles(c: String): Seq[String] =
    Seq("array()", "array(0.5, 0.5)", "array(1.0, 0.0)", "array(0, 1)", "0.0", "1.0", "1", "'0.25'")
      .flatMap(p => Seq(s"percentile($c, $p)", s"approx_percentile($c, $p)")) ++
      Seq(
        "percentile(NULL, 0.5)",
        "percentile(CAST(NULL AS INT), array())",
        "percentile(3, array(0.5))",
        s"percentile($c, 0.5, 1)",
        s"percentile($c, 0.5, 1L)",
        s"percentile($c, 0.5, 0)",
        s"percentile($c, array(), 2)",
        s"percentile($c, 0.5, CAST(NULL AS INT))",
        s"percentile(DISTINCT $c, array())",
        s"percentile($c, array()) FILTER (WHERE $c > 0)",
        s"percentile($c, 0.5) FILTER (WHERE CAST(NULL AS BOOLEAN))",
        s"percentile($c, 0.5) FILTER (WHERE false)",
        "median(CAST(NULL AS INT))",
        "median(1)",
        s"percentile_cont(0.0) WITHIN GROUP (ORDER BY $c)",
        s"percentile_cont(1) WITHIN GROUP (ORDER BY $c DESC)",
        s"percentile_disc(1) WITHIN GROUP (ORDER BY $c DESC)",
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(NULL AS INT))"
      )

  /** Percentiles of a column that are refused, or fail. */
  def refusedPercentiles(c: String): Seq[String] = Seq(
    s"percentile($c, NULL)",
    s"percentile($c, array(0.5, NULL))",
    s"percentile($c, CAST(NULL AS ARRAY<DOUBLE>))",
    s"percentile($c, array(2.0))",
    s"percentile($c, -0.1)",
    s"percentile($c, double('NaN'))",
    s"percentile($c, array(double('NaN')))",
    s"percentile($c, $c)",
    s"percentile($c, 0.5, -1)",
    s"approx_percentile($c, 0.5, 0)",
    s"percentile_cont(NULL) WITHIN GROUP (ORDER BY $c)",
    s"percentile_cont(array()) WITHIN GROUP (ORDER BY $c)"
  )

  /** Distinct values of a column. */
  def distinct(c: String): Seq[String] = Seq(
    "count(DISTINCT NULL)",
    "count(DISTINCT 1)",
    "count(DISTINCT '')",
    s"count(DISTINCT $c, $c)",
    s"count(DISTINCT $c, NULL)",
    s"count(DISTINCT $c, 1)",
    "count(DISTINCT array())",
    s"count(DISTINCT struct($c, $c))",
    s"count(DISTINCT $c) FILTER (WHERE CAST(NULL AS BOOLEAN))",
    s"count(DISTINCT $c) FILTER (WHERE $c IS NULL)",
    s"count(DISTINCT $c, $c) FILTER (WHERE $c > 0)",
    "sum(DISTINCT NULL)",
    "sum(DISTINCT 1)",
    s"sum(DISTINCT $c) FILTER (WHERE false)",
    s"sum(DISTINCT $c + CAST(NULL AS INT))",
    "avg(DISTINCT CAST(NULL AS DECIMAL(38, 2)))",
    s"avg(DISTINCT $c) FILTER (WHERE $c > 0)",
    "stddev(DISTINCT 1)",
    "var_pop(DISTINCT CAST(NULL AS DOUBLE))",
    s"sort_array(collect_list(DISTINCT $c))",
    "collect_list(DISTINCT CAST(NULL AS INT))",
    "collect_set(CAST(NULL AS INT))",
    "collect_set(1)",
    s"collect_set($c) FILTER (WHERE false)",
    s"sort_array(collect_set($c))"
  )

  /** Other functions whose answer does not depend on the order of rows. */
  def plain(c: String): Seq[String] =
    Seq(
      "count",
      "sum",
      "avg",
      "min",
      "max",
      "first",
      "any_value",
      "bit_and",
      "bit_xor",
      "skewness",
      "kurtosis",
      "stddev",
      "var_pop",
      "approx_count_distinct",
      "collect_list",
      "try_sum",
      "try_avg",
      "mode"
    ).flatMap(f => Seq(s"$f(CAST(NULL AS INT))", s"$f(1)")) ++
      Seq(
        "count(*) FILTER (WHERE CAST(NULL AS BOOLEAN))",
        "count(NULL, 1)",
        s"count($c, $c, NULL)",
        "sum(NULL)",
        "sum(CAST(NULL AS DECIMAL(38, 2)))",
        "avg(CAST(NULL AS DECIMAL(38, 2)))",
        "sum(CAST(NULL AS INTERVAL DAY TO SECOND))",
        "avg(CAST(NULL AS INTERVAL YEAR TO MONTH))",
        s"sum($c) FILTER (WHERE CAST(NULL AS BOOLEAN))",
        s"avg($c) FILTER (WHERE false)",
        s"min($c) FILTER (WHERE $c IS NULL)",
        "max(array())",
        "bool_and(NULL)",
        "some(true) FILTER (WHERE CAST(NULL AS BOOLEAN))",
        "count_if(NULL)",
        s"max_by($c, CAST(NULL AS INT))",
        s"min_by(CAST(NULL AS INT), $c)",
        s"corr($c, $c)",
        s"corr($c, CAST(NULL AS INT))",
        s"covar_pop($c, 1)",
        s"regr_slope($c, CAST(NULL AS DOUBLE))",
        s"regr_count($c, $c)",
        s"collect_list($c) FILTER (WHERE false)",
        "histogram_numeric(CAST(NULL AS INT), 2)",
        s"mode($c, true)",
        "listagg(CAST(NULL AS STRING))",
        "listagg('', '')",
        s"first($c, true) FILTER (WHERE false)",
        "max(CAST(NULL AS STRING COLLATE UTF8_LCASE))"
      )

  /** A list for a `SELECT`. */
  def columns(calls: Seq[String]): String =
    calls.zipWithIndex.map { case (call, i) => s"$call AS c$i" }.mkString(", ")
}
