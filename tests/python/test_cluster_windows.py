"""Windows, sessions, temporal and snapshot joins of streams on a cluster of executors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = '''
import json
import os
import tempfile
from collections import Counter

import firesteel
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", False)
builder.config("spark.sql.shuffle.partitions", 3)
builder.config("spark.sql.streaming.stateStore.providerClass",
    "org.apache.spark.sql.execution.streaming.state.PROVIDER")
spark = firesteel.configure(builder).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
folder = tempfile.mkdtemp()
os.makedirs(f"{folder}/in")
spark.readStream.schema("ts TIMESTAMP, k BIGINT, v BIGINT").json(f"{folder}/in").withWatermark(
    "ts", "0 seconds").createOrReplaceTempView("t")
spark.sql("""SELECT k, v, ts AS since FROM (SELECT *, row_number() OVER (PARTITION BY k
    ORDER BY ts DESC) AS p FROM t) WHERE p = 1""").createOrReplaceTempView("newest")
tumble = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
queries = {
    "aggregate": f"SELECT window_end AS e, k, sum(v) AS s FROM {tumble} "
    "GROUP BY window_start, window_end, k",
    "join": f"SELECT l.window_end AS e, l.k, r.v FROM {tumble} AS l JOIN {tumble} AS r "
    "ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.k = r.k",
    "hop": "SELECT window_end AS e, k, count(DISTINCT v) AS d, max(v) AS m FROM HOP(TABLE t, "
    "DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '1' MINUTE) "
    "GROUP BY window_start, window_end, k",
    "panes": "SELECT window.end AS e, k, sum(v) AS s, avg(v) AS a FROM (TABLE t) "
    "GROUP BY window(ts, '1 minute', '5 seconds'), k",
    "sessions": "SELECT window_end AS e, k, count(*) AS n FROM SESSION(TABLE t PARTITION BY k, "
    "DESCRIPTOR(ts), INTERVAL '25' SECOND) GROUP BY window_start, window_end, k",
}
temporal = ("SELECT o.ts, o.k, o.v, n.v AS own FROM t AS o "
    "JOIN newest FOR SYSTEM_TIME AS OF o.ts AS n ON o.k = n.k")
snapshot = ("SELECT o.k, s.n FROM t AS o "
    "JOIN SNAPSHOT(TABLE(SELECT k, count(*) AS n FROM t GROUP BY k)) AS s ON o.k = s.k")
streams = [
    spark.sql(query).writeStream.format("memory").queryName(name).start()
    for name, query in {**queries, "temporal": temporal, "snapshot": snapshot}.items()
]
for batch in range(3):
    rows = [
        {"ts": f"2026-01-01 10:{batch:02d}:{i % 60:02d}", "k": i * 7 % 11, "v": i}
        for i in range(60)
    ]
    if batch == 2:
        rows = [{"ts": "2026-01-02 10:00:00", "k": 99, "v": 0}]
    with open(f"{folder}/.in", "w") as file:
        file.write("\\n".join(json.dumps(row) for row in rows))
    os.rename(f"{folder}/.in", f"{folder}/in/{batch}.json")
    for stream in streams:
        stream.processAllAvailable()


def counted(df):
    return Counter(tuple(row) for row in df.collect())


whole = spark.read.schema("ts TIMESTAMP, k BIGINT, v BIGINT").json(f"{folder}/in")
whole.createOrReplaceTempView("b")
for name, query in queries.items():
    answer = spark.sql(query.replace("TABLE t", "TABLE b")).where("k < 99")
    assert counted(spark.table(name)) == counted(answer), name
# Each time has one row of a key: the row is its own version.
assert counted(spark.table("temporal").where("k < 99")) == counted(
    whole.where("k < 99").selectExpr("ts", "k", "v", "v AS own"))
assert spark.table("snapshot").count() == 121
for stream in streams:
    stream.stop()
spark.stop()
print("equal")
'''


@pytest.mark.long
@pytest.mark.parametrize("provider", ["HDFSBackedStateStoreProvider", "RocksDBStateStoreProvider"])
def test_windows_and_joins_by_time_answer_as_batch_on_a_cluster(
    run_python: Callable[..., str], writable_spark_home: Path, provider: str
) -> None:
    program = PROGRAM.replace("PROVIDER", provider)
    assert "equal" in run_python(program, SPARK_HOME=str(writable_spark_home))
