"""A cluster: executors are processes of their own, and get the jar from the driver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

PROGRAM = '''
import tempfile

import firesteel
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", False)
spark = firesteel.configure(builder.config("spark.sql.shuffle.partitions", 4)).getOrCreate()
firesteel.check(spark)

top = spark.sql("""
  SELECT k, v, r FROM (
    SELECT *, rank() OVER (PARTITION BY k ORDER BY v DESC) AS r
    FROM (SELECT id % 5 AS k, id AS v FROM range(0, 10000, 1, 4)))
  WHERE r <= 2""")
expected = sorted((9995 + k - 5 * (r - 1), k, r) for k in range(5) for r in (1, 2))
assert sorted((row.v, row.k, row.r) for row in top.collect()) == expected
assert firesteel.explain(top).fired

counted = """
  SELECT id % 3 AS k, count(DISTINCT id % 700) AS a,
    count(DISTINCT CAST(id % 50 AS STRING)) AS b, sum(DISTINCT id % 9) AS c
  FROM range(0, 20000, 1, 4) GROUP BY 1"""
expected = [(k, 700, 50, 9 + 3 * k) for k in range(3)]
for memory in ("1g", "1b"):
    spark.conf.set("spark.firesteel.skew.maxTaskMemory", memory)
    assert sorted(map(tuple, spark.sql(counted).collect())) == expected, memory
assert firesteel.explain(spark.sql(counted)).fired

folder = tempfile.mkdtemp()
people = spark.range(500).selectExpr("id", "concat('n', id) AS name")
people.write.bucketBy(16, "id").option("path", folder + "/people").saveAsTable("people")
spark.read.format("firesteel-files").option("table", "people").load().createOrReplaceTempView("p")
people.createOrReplaceTempView("plain")
spark.range(0, 1000, 1, 4).selectExpr("id AS no", "id % 600 AS id").createTempView("orders")
expected = spark.sql("SELECT no, name FROM orders LEFT JOIN plain USING (id)").collect()
for adaptive in ("true", "false"):
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    for options in ("", ", 'shuffle'='true'", ", 'lookup.cache'='FULL'"):
        table = "plain" if "FULL" in options else "p"
        joined = spark.sql(f"""SELECT /*+ LOOKUP('table'='c'{options}) */ no, name
            FROM orders o LEFT JOIN {table} c ON o.id = c.id""")
        assert sorted(joined.collect()) == sorted(expected), options
        (fired,) = firesteel.explain(joined).fired
        assert ("custom" in fired.values.get("shuffle", "")) == ("shuffle" in options), fired

batches = spark.readStream.schema("no LONG, id LONG").json(folder + "/in/*")
cached = {"cache": "PARTIAL", "max_rows": 100}
enriched = firesteel.lookup_join(batches, "p", on="id", how="left", shuffle=True, **cached)
stream = enriched.select("no", "name").writeStream.format("memory").queryName("enriched").start()
for batch in range(3):
    part = spark.sql(f"SELECT * FROM orders WHERE no % 3 = {batch}")
    part.write.json(f"{folder}/in/{batch}")
    stream.processAllAvailable()
stream.stop()
assert sorted(spark.table("enriched").collect()) == sorted(expected)

sliding = spark.sql("""SELECT k, window.start, collect_set(v % 7) IS NULL AS no, sum(v), avg(v)
    FROM (SELECT id % 5 AS k, id AS v, timestamp_seconds(id) AS ts FROM range(0, 5000, 1, 4))
    GROUP BY k, window(ts, '100 seconds', '30 seconds')""")
assert [fired.rule for fired in firesteel.explain(sliding).fired] == ["PlanPanes"]
found = sorted(sliding.collect())
spark.conf.set("spark.firesteel.panes.enabled", False)
assert found == sorted(sliding.select("*").collect())

print("executors:", spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos().__len__() - 1)
spark.stop()
'''


def test_executors_run_the_operators(
    run_python: Callable[..., str], writable_spark_home: Path
) -> None:
    printed = run_python(PROGRAM, SPARK_HOME=str(writable_spark_home))
    assert "executors: 2" in printed
