package io.firesteel.lookup

import org.apache.spark.sql.DataFrame

/** Plans show lookups as the room's page draws them, in each of Spark's formats. */
class LookupPlanSuite extends LookupSuite {

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(9).selectExpr("id", "id AS customer_id", "CAST(id AS DOUBLE) AS x")
      .createOrReplaceTempView("orders")
  }

  private def customers: DataFrame = spark.range(9).selectExpr(
    "id",
    "'x' AS type",
    "concat('c', id) AS country",
    "CAST(id AS DOUBLE) AS x",
    "id AS unwanted")

  private def shown(sql: String, mode: String): String = {
    val plan = spark.sql(s"EXPLAIN $mode $sql").head().getString(0).replaceAll("#\\d+L?", "")
    Seq("input[", "List(", "Some(List", "BoundReference", "@", "\"name\"")
      .foreach(raw => assert(!plan.contains(raw), plan))
    plan
  }

  private val modes = Seq("", "EXTENDED", "FORMATTED")

  for (mode <- modes) {
    test(s"a lookup join: dimension, connector, keys, filters, columns and how, $mode") {
      store("customers", customers, partitioner = Some(LastDigit))
      val plan = withConf(LookupConf.SHUFFLE_PARTITIONS.key -> 4)(shown(
        "SELECT /*+ LOOKUP('table'='c', 'async'='true', 'shuffle'='true') */ o.id, c.country " +
          "FROM orders o LEFT JOIN mem.customers c ON o.customer_id = c.id AND c.type = 'x' " +
          "AND c.country > 'c1' AND o.id < length(c.country)",
        mode
      ))
      Seq(
        "table=[customers], connector=[ShardedMemoryTable], joinType=[LEFT OUTER], " +
          "lookup=[id=o.customer_id, type='x'], filters=[",
        "where=[(o.id < CAST(length(",
        "columns=[id, type, country], cache=[NONE], async=[ORDERED, 180000ms, 100], " +
          "shuffle=[custom: LastDigit into 4]",
        "checked(LastDigit(customer_id, x), from 0 to 3) AS lookup_partition"
      ).foreach(part => assert(plan.contains(part), plan))
    }

    test(s"a key of floats without what makes them equal, $mode") {
      store("customers", customers)
      val plan =
        shown("SELECT o.id FROM orders o JOIN mem.customers c ON o.x = c.x", mode)
      assert(plan.contains("lookup=[x=o.x]"), plan)
    }

    test(s"a full cache: dimension, columns and reload, $mode") {
      customers.createOrReplaceTempView("plain")
      val plan = shown(
        "SELECT /*+ LOOKUP('table'='c', 'lookup.full-cache.periodic-reload.interval'='1h') */ " +
          "o.id, c.country FROM orders o JOIN plain c ON o.customer_id = c.id",
        mode
      )
      assert(
        plan.contains(
          "table=[c], columns=[id, country], cache=[FULL], reload=[FIXED_DELAY, 3600000ms]"),
        plan)
    }
  }

  test("what is not planned yet: the relation and the mark upon it") {
    store("customers", customers)
    val plan = shown(
      "SELECT /*+ LOOKUP('table'='c', 'capacity'='7') */ o.id FROM orders o " +
        "JOIN mem.customers c ON o.customer_id = c.id",
      "EXTENDED")
    assert(plan.contains("LookupTable table=[c], capacity=[7]"), plan)
    assert(
      plan.contains("LookupRelation table=[customers], connector=[MemoryTable], columns=[id"),
      plan)
  }

  test("each kind of reload says when") {
    assert(Reload.EveryBatch.toString == "every micro-batch")
    assert(Reload.Periodic(10L, fromStart = true).toString == "FIXED_RATE, 10ms")
    assert(Reload.Timed("10:15", 1).toString == "at 10:15, every day")
    assert(Reload.Timed("10:15", 3).toString == "at 10:15, every 3 days")
  }
}
