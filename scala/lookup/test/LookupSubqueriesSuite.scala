package io.firesteel.lookup

import org.apache.spark.sql.Row

/** Operators that Spark's optimizer puts between a lookup join and its dimension for subqueries. */
class LookupSubqueriesSuite extends LookupSuite {

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .range(0, 60, 1, 3)
      .selectExpr("id", "if(id % 7 = 0, null, id % 20) AS v", "CAST(id % 9 AS INT) AS w")
      .createOrReplaceTempView("t")
    store(
      "customers",
      spark.range(0, 18).selectExpr(
        "id",
        "CAST(id AS INT) AS small",
        "if(id % 5 = 0, null, concat('c', id)) AS country"))
    table("n INT, country STRING", Row(1, "c1"), Row(2, "c2"), Row(3, null), Row(null, "c9"))
      .createOrReplaceTempView("lands")
  }

  private val keys =
    Seq("t.v" -> "d.id", "t.v" -> "d.small", "t.w" -> "d.small", "t.w" -> "d.id")

  /** `{k}` is the dimension's key, `{v}` the value that it is looked up by. */
  private val conditions = Seq(
    "d.small IN (SELECT n FROM lands)",
    "d.small IN (SELECT CAST(n AS BIGINT) FROM lands)",
    "{k} IN (SELECT n FROM lands)",
    "{v} IN (SELECT n FROM lands)",
    "{k} NOT IN (SELECT n FROM lands WHERE n IS NOT NULL)",
    "{v} NOT IN (SELECT n FROM lands)",
    "d.country IN (SELECT country FROM lands)",
    "EXISTS (SELECT 1 FROM lands s WHERE s.n = {k})",
    "EXISTS (SELECT 1 FROM lands s WHERE s.n = {v})",
    "NOT EXISTS (SELECT 1 FROM lands s WHERE s.n = {v} AND s.country = d.country)",
    "{v} > (SELECT min(n) FROM lands)",
    "{k} > (SELECT min(n) FROM lands)",
    "{v} > (SELECT sum(n) FROM lands s WHERE s.n = {k})"
  )

  for (condition <- conditions) {
    test(s"WHERE $condition, above an inner and a left join") {
      for ((value, column) <- keys; join <- Seq("JOIN", "LEFT JOIN")) {
        val where = condition.replace("{k}", column).replace("{v}", value)
        assertJoins(
          s"SELECT t.id, d.country FROM t $join {c} d ON $value = $column WHERE $where",
          "customers")
      }
    }
  }

  private val ofKeysAlone = conditions.filter(c => c.contains("{k}") && !c.contains("{v}"))

  for (condition <- ofKeysAlone) {
    test(s"a LEFT JOIN with a dimension of its own condition on the key: $condition") {
      for ((value, column) <- keys) {
        val where = condition.replace("{k}", column).replace("d.", "")
        assertJoins(
          s"SELECT t.id, d.country FROM t LEFT JOIN (SELECT * FROM {c} WHERE $where) d " +
            s"ON $value = $column",
          "customers")
      }
    }
  }
}
