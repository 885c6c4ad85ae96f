"""A cluster: executors are processes of their own, and get the jar from the driver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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

# Keys of one row each first, and the same few from then on.
spark.conf.set("spark.firesteel.shuffle.adaptiveLocalAggregate.sampleMinSize", 0)
spark.conf.set("spark.firesteel.shuffle.sampleRows", 4000)
groups = spark.sql("""SELECT k, sum(v), max(concat('s', v)) FROM (
    SELECT IF(id % 20000 < 6000, id, id % 50) AS k, id AS v FROM range(0, 80000, 1, 4))
    GROUP BY k""")
assert "AdaptLocalAggregates" in [fired.rule for fired in firesteel.explain(groups).fired]
found = sorted(groups.collect())
spark.conf.set("spark.firesteel.shuffle.enabled", False)
assert found == sorted(groups.select("*").collect())

# Shuffled once and sorted once, by a sample of the source.
spark.conf.set("spark.sql.adaptive.enabled", True)
spark.conf.set("spark.firesteel.shuffle.enabled", True)
spark.conf.set("spark.firesteel.shuffle.sampleMinSize", 0)
spark.conf.set("spark.sql.autoBroadcastJoinThreshold", -1)
neighbours = spark.sql("""WITH ranked AS (
    SELECT a, b, s, rank() OVER (PARTITION BY a ORDER BY s, b) AS r FROM (
    SELECT id % 900 AS a, id % 7 AS b, sum(id) AS s FROM range(0, 40000, 1, 4) GROUP BY 1, 2))
    SELECT l.a, l.b, l.s, r.s FROM ranked AS l JOIN ranked AS r ON l.a = r.a AND l.r = r.r + 1""")
rules = {fired.rule for fired in firesteel.explain(neighbours).fired}
assert {"RemoveRedundantShuffle", "RemoveRedundantSort"} <= rules, rules
found = sorted(neighbours.collect())
# By keys that tasks have counted in rows of which nothing was known.
rows = spark.range(0, 40000, 1, 4).selectExpr("id % 900 AS a", "id % 7 AS b", "id % 11 AS c").rdd
spark.createDataFrame(rows, "a INT, b INT, c INT").createOrReplaceTempView("unknown")
chain = spark.sql("""SELECT a, max(m) FROM (SELECT a, b, max(n) AS m FROM (
    SELECT a, b, c, count(*) AS n FROM unknown GROUP BY ALL) GROUP BY a, b) GROUP BY a""")
counted = sorted(chain.collect())
plan = chain._jdf.queryExecution().executedPlan().toString().split("Initial Plan")[0]
assert "CountedKeys" in plan, plan
assert plan.count("Exchange hashpartitioning") == 2, plan
spark.conf.set("spark.firesteel.shuffle.enabled", False)
assert found == sorted(neighbours.select("*").collect())
assert counted == sorted(chain.select("*").collect())

print("executors:", spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos().__len__() - 1)
spark.stop()
'''


def test_executors_run_the_operators(
    run_python: Callable[..., str], writable_spark_home: Path
) -> None:
    printed = run_python(PROGRAM, SPARK_HOME=str(writable_spark_home))
    assert "executors: 2" in printed


LOSS = '''
import os
import subprocess
import tempfile

import firesteel
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", False)
builder = builder.config("spark.shuffle.io.retryWait", "100ms")  # else 15 s until it gives up
spark = firesteel.configure(builder.config("spark.sql.shuffle.partitions", 4)).getOrCreate()
folder = tempfile.mkdtemp()


class Named:
    schema = "id BIGINT, name STRING"
    keys = ("id",)

    def lookup(self, keys):
        import pyarrow

        ids = [i for i in keys["id"].to_pylist() if i < 500]
        return pyarrow.table({"id": ids, "name": ["n%d" % i for i in ids]})


def strike(row: int, marker: str) -> int:
    """Kills the executor that this row is in, once per marker."""
    if row % 100 == 37:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return row
        parent = os.getpid()
        for _ in range(2):  # the daemon of Spark's Python workers, then the executor
            parent = int(subprocess.check_output(["ps", "-o", "ppid=", "-p", str(parent)]))
        os.kill(parent, 9)
    return row


spark.udf.register("strike", strike, "bigint")
people = spark.range(500).selectExpr("id", "concat('n', id) AS name")
people.write.bucketBy(8, "id").option("path", folder + "/people").saveAsTable("people")
spark.read.format("firesteel-files").option("table", "people").load().createOrReplaceTempView("p")
firesteel.register_lookup(spark, "named", Named(), cache="PARTIAL", max_rows=100)
spark.range(0, 2000, 1, 4).selectExpr("id AS no", "id % 600 AS id").createTempView("orders")

lookup = """SELECT /*+ LOOKUP('table'='c'%s) */ no, name
            FROM orders o LEFT JOIN %s c ON o.id = c.id"""
queries = {
    "files by shard": lookup % (", 'shuffle'='true'", "p"),
    "python": lookup % (", 'shuffle'='true'", "named"),
    "rank": """SELECT no, id FROM (
        SELECT *, row_number() OVER (PARTITION BY id ORDER BY no) AS n FROM orders) WHERE n <= 2""",
    "distinct": """SELECT id AS no, count(DISTINCT no % 3) AS a, count(DISTINCT no % 7) AS b
        FROM orders GROUP BY id""",
    "panes": """SELECT unix_seconds(window.start) AS no, count(*) AS n
        FROM (SELECT *, timestamp_seconds(no) AS ts FROM orders)
        GROUP BY window(ts, '60 seconds', '1 second')""",
}
rows = [(no, no % 600) for no in range(2000)]
joined = [(no, "n%d" % i if i < 500 else None) for no, i in rows]
values = {i: [no for no, other in rows if other == i] for i in range(600)}
expected = {
    "files by shard": joined,
    "python": joined,
    "rank": [(no, i) for no, i in rows if no < 1200],
    "distinct": [
        (i, len({no % 3 for no in of}), len({no % 7 for no in of})) for i, of in values.items()
    ],
    "panes": [(at, sum(at <= no < at + 60 for no, _ in rows)) for at in range(-59, 2000)],
}
for number, (name, query) in enumerate(queries.items()):
    marker = f"{folder}/struck-{number}"
    struck = spark.sql(query).selectExpr("*", f"strike(no, '{marker}') AS struck")
    found = [row[:-1] for row in struck.collect()]
    assert os.path.exists(marker), name
    assert firesteel.explain(struck).fired, name
    assert sorted(found, key=repr) == sorted(expected[name], key=repr), (name, len(found))
print("struck:", len(queries))
spark.stop()
'''


@pytest.mark.long
def test_an_executor_lost_in_the_middle_loses_no_row(
    run_python: Callable[..., str], writable_spark_home: Path
) -> None:
    printed = run_python(LOSS, SPARK_HOME=str(writable_spark_home))
    assert "struck: 5" in printed


STREAMS = '''
import os
import subprocess
import tempfile
import time
from collections import Counter

import firesteel
from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", False)
builder.config("spark.shuffle.io.retryWait", "100ms").config("spark.sql.shuffle.partitions", 3)
builder.config("spark.speculation", True).config("spark.speculation.interval", "50ms")
builder.config("spark.speculation.minTaskRuntime", "500ms")
builder.config("spark.speculation.quantile", 0.3)
builder.config("spark.sql.streaming.stateStore.providerClass", provider)
builder.config("spark.sql.streaming.checkpointFileManagerClass", os.environ["FILE_MANAGER"])
builder.config("spark.firesteel.changelog.distinctBuckets", os.environ["BUCKETS"])
spark = firesteel.configure(builder).getOrCreate()
spark.sparkContext.setLogLevel("OFF")
folder = tempfile.mkdtemp()


def misfortune(row: int, marker: str) -> int:
    """What befalls the task with this row, once per marker, by the marker's name."""
    if row % 3 == 0:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return row
        if "late" in marker:
            time.sleep(3)
        if "fails" in marker:
            raise ValueError("once")
        if "lost" in marker:
            parent = os.getpid()
            for _ in range(2):  # the daemon of Spark's Python workers, then the executor
                parent = int(subprocess.check_output(["ps", "-o", "ppid=", "-p", str(parent)]))
            os.kill(parent, 9)
    return row


befall = spark.udf.register("befall", misfortune, "bigint")
words = spark.range(0, 3000, 1, 2).selectExpr(
    "id AS no", "concat('word ', pmod(xxhash64(id), 300)) AS word", "int(id / 500) AS part")
for part in range(6):
    words.where(f"part = {part}").drop("part").coalesce(1).write.json(f"{folder}/in/part={part}")
reader = spark.readStream.schema("no BIGINT, word STRING").option("maxFilesPerTrigger", 1)
reader.json(f"{folder}/in/*").createOrReplaceTempView("events")
spark.read.schema("no BIGINT, word STRING").json(f"{folder}/in/*").createOrReplaceTempView("all")

query = """
  SELECT place, c, n, letters FROM (
    SELECT *, row_number() OVER (ORDER BY n DESC, c) AS place FROM (
      SELECT c, count(*) AS n, count(DISTINCT substr(word, -1)) AS letters FROM (
        SELECT word, count(no) AS c FROM (SELECT befall(no, '%s') AS no, word FROM %s)
        GROUP BY word)
      GROUP BY c))
  WHERE place <= 5"""
table = Counter()
# Once below the shuffle, and in these micro-batches in the tasks that write state.
what = {3: "late", 4: "fails", 5: "lost"}


def apply(df, batch):
    marker = f"{folder}/{what.get(batch, 'well')}-{batch}"
    for *row, kind, _ in df.select("*", befall(df.n * 3, lit(marker))).collect():
        table[tuple(row)] += 1 if kind[0] == "+" else -1


def run(marker):
    sql = query % (f"{folder}/{marker}", "events")
    changes = spark.sql(f"SELECT *, row_kind() AS op FROM ({sql})")
    writer = changes.writeStream.foreachBatch(apply).option("checkpointLocation", folder + "/c")
    return writer.trigger(availableNow=True).start()


run("lost").awaitTermination()
assert {row: n for row, n in table.items() if n} == {
    tuple(row): 1 for row in spark.sql(query % (folder + "/none", "all")).collect()}, table
print("befallen:", sum(name.startswith(("late", "fails", "lost")) for name in os.listdir(folder)))
spark.stop()
'''


SPARKS_FILES = "org.apache.spark.sql.execution.streaming.checkpointing."


@pytest.mark.long
@pytest.mark.parametrize(
    ("file_manager", "buckets"),
    [
        (SPARKS_FILES + "FileContextBasedCheckpointFileManager", "0"),
        ("io.firesteel.checkpoint.LocalCheckpointFileManager", "3"),
    ],
)
def test_changelogs_outlive_slow_failing_and_lost_tasks(
    run_python: Callable[..., str], writable_spark_home: Path, file_manager: str, buckets: str
) -> None:
    printed = run_python(
        STREAMS, SPARK_HOME=str(writable_spark_home), FILE_MANAGER=file_manager, BUCKETS=buckets
    )
    assert "befallen: 4" in printed
