"""A statement set on a cluster: an executor dies between two targets, and statements change."""

from __future__ import annotations

from collections.abc import Callable

import pytest

PROGRAM = """
import json
import os
import signal
import tempfile

import firesteel
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", False)
spark = firesteel.configure(builder.config("spark.sql.shuffle.partitions", 2)).getOrCreate()
folder = tempfile.mkdtemp()
os.mkdir(folder + "/in")
visits = spark.readStream.schema("k STRING, v INT").option("maxFilesPerTrigger", 1)
visits.json(folder + "/in").createOrReplaceTempView("visits")
spark.sql("SELECT *, uuid() AS id FROM visits").createOrReplaceTempView("told")
spark.sql("SELECT k, count(*) AS n FROM visits GROUP BY k").createOrReplaceTempView("counts")
added = 0


def add(*keys):
    global added
    with open(f"{folder}/in/{added}.json", "w") as file:
        file.writelines(json.dumps({"k": k, "v": added}) + chr(10) for k in keys)
    added += 1


def executors():
    def parent(pid):
        with open(f"/proc/{pid}/stat") as stat:
            return int(stat.read().rpartition(")")[2].split()[1])

    # A worker of Python's is a child of the executor's daemon.
    found = spark.sparkContext.parallelize(range(8), 8).map(lambda _: parent(os.getppid()))
    return sorted(set(found.collect()))


kills = []


def dies(df, batch):
    # All rows are kept, and the first target has its own.
    for executor in kills:
        os.kill(executor, signal.SIGKILL)
    kills.clear()
    firesteel.apply_changes(folder + "/all", "id")(df, batch)


def run(*names, new=None):
    queries = {
        "some": ("SELECT id, k FROM told WHERE k < 'c'", "id"),
        "all": ("SELECT id, k, v FROM told", "id"),
        "counts": ("SELECT * FROM counts", "k"),
        "many": ("SELECT n, count(*) AS c FROM counts GROUP BY n", "n"),
    }
    s = firesteel.statement_set(spark, folder + "/checkpoint")
    for name in names:
        query, key = queries[name]
        target = dies if name == "all" else firesteel.apply_changes(f"{folder}/{name}", key)
        changes = spark.sql(f"SELECT *, row_kind() AS op FROM ({query})")
        s.insert(name, changes, target, from_="start" if name == new else None)
    s.start(trigger={"availableNow": True}).awaitTermination()


def table(name):
    rows = spark.read.format("firesteel-table").load(f"{folder}/{name}")
    return sorted(map(tuple, rows.collect()))


add("a", "b", "c", "a")
run("some", "all", "counts")
add("c", "a", "d")
kills.extend(executors())
try:
    run("some", "all", "counts")
except StreamingQueryException as failed:
    print("failed:", str(failed)[:200])
assert not kills
run("some", "all", "counts")
assert len(table("all")) == 7
assert table("some") == sorted((i, k) for i, k, _ in table("all") if k < "c")
assert table("counts") == [("a", 3), ("b", 1), ("c", 2), ("d", 1)]

# The first statement leaves, and an aggregate over an aggregate begins at the start.
run("many", "counts", "all", new="many")
assert table("many") == [(1, 2), (2, 1), (3, 1)]
add("d", "e")
run("many", "counts", "all")
assert table("many") == [(1, 2), (2, 2), (3, 1)]
assert table("counts") == [("a", 3), ("b", 1), ("c", 2), ("d", 2), ("e", 1)]
assert len(table("all")) == 9
print("done")
"""


@pytest.mark.long
def test_a_statement_set_on_a_cluster(run_python: Callable[..., str]) -> None:
    assert "done" in run_python(PROGRAM)
