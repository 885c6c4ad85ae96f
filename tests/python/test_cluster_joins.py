"""Joins of streams on a cluster: executors are processes of their own, with their own state."""

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
spark = firesteel.configure(builder).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
folder = tempfile.mkdtemp()
schema = "id BIGINT, k BIGINT, v BIGINT"
names = ("orders", "customers", "payments")
tables = {name: {} for name in names}


def changes(name, batch):
    """Rows come; of those of the micro-batch before, some go and some are replaced."""
    made, table = [], tables[name]
    salt = names.index(name)
    for id in [i for i in table if i // 40 == batch - 1 and i % 3 != salt]:
        made.append(("-U" if id % 2 else "-D", table.pop(id)))
        if id % 2:
            table[id] = (id, (id + 5) % 11, id % 7)
            made.append(("+U", table[id]))
    for id in range(batch * 40, batch * 40 + 40):
        table[id] = (id, None if id % 13 == 0 else id * (salt + 3) % 11, id % (salt + 8))
        made.append(("+I", table[id]))
    return [dict(zip(("id", "k", "v", "op"), (*row, op))) for op, row in made]


query = """
    SELECT o.id, o.k, c.id AS customer, p.paid
    FROM orders AS o LEFT JOIN customers AS c ON o.k = c.k AND o.v < c.v
    FULL JOIN (SELECT k, sum(v) AS paid FROM payments GROUP BY k) AS p ON c.k = p.k
    WHERE o.id IS NULL OR o.id NOT IN (SELECT id + 1 FROM payments WHERE v > 5)"""
for name in names:
    os.makedirs(f"{folder}/{name}")
    read = spark.readStream.schema(schema + ", op STRING").json(f"{folder}/{name}")
    read.createOrReplaceTempView(f"fed_{name}")
    whole = f"SELECT * FROM from_changelog(TABLE(fed_{name}), 'op')"
    spark.sql(whole).createOrReplaceTempView(name)
stream = (
    spark.sql(f"SELECT *, row_kind() AS op FROM ({query})")
    .writeStream.format("memory").queryName("found").start()
)
for batch in range(3):
    for name in names:
        lines = [json.dumps(change) for change in changes(name, batch)]
        with open(f"{folder}/.{name}", "w") as file:
            file.write("\\n".join(lines))
        os.rename(f"{folder}/.{name}", f"{folder}/{name}/{batch}.json")
    stream.processAllAvailable()
    found = Counter()
    for row in spark.table("found").collect():
        found[tuple(row)[:-1]] += 1 if row.op[0] == "+" else -1
    assert min(found.values()) >= 0
    answer = query
    for name in names:
        rows = spark.createDataFrame(list(tables[name].values()), schema)
        rows.createOrReplaceTempView(f"b_{name}")
        answer = answer.replace(f" {name} ", f" b_{name} ")
    expected = Counter(tuple(row) for row in spark.sql(answer).collect())
    assert +found == expected, (batch, +found - expected, expected - +found)
    assert expected
stream.stop()
print("executors:", spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos().__len__() - 1)
spark.stop()
'''

# Operators of one key, which share a store.
CHAIN = """
    SELECT a.k, count(*) AS n, max(b.paid) AS paid
    FROM (SELECT k, count(*) AS c FROM orders GROUP BY k) AS a
    JOIN (SELECT k, sum(v) AS paid FROM (SELECT *, row_number() OVER
            (PARTITION BY k ORDER BY v DESC, id) AS place FROM payments AS p) WHERE place <= 3
          GROUP BY k) AS b ON a.k = b.k
    GROUP BY a.k"""

# The upper join keeps no rows of the lower one.
AGAIN = """
    SELECT o.id, o.k, c.id AS customer, p.id AS payment FROM orders AS o
    JOIN customers AS c ON o.k = c.k LEFT JOIN payments AS p ON o.k = p.k"""
ROCKS = (
    'builder.config("spark.sql.streaming.stateStore.providerClass", "org.apache.spark.sql.execution'
    '.streaming.state.RocksDBStateStoreProvider")\n'
)


@pytest.mark.long
@pytest.mark.parametrize("query", [CHAIN, AGAIN], ids=["chain", "again"])
def test_operators_of_one_key_are_the_batch_query_after_each_micro_batch(
    query: str, run_python: Callable[..., str], writable_spark_home: Path
) -> None:
    start = PROGRAM.index('query = """')
    end = PROGRAM.index("for name in names:", start)
    program = f'{PROGRAM[:start]}query = """{query}"""\n{PROGRAM[end:]}'
    program = program.replace("spark = firesteel", ROCKS + "spark = firesteel", 1)
    printed = run_python(program, SPARK_HOME=str(writable_spark_home))
    assert "executors: 2" in printed


@pytest.mark.long
def test_a_join_of_three_streams_is_the_batch_query_after_each_micro_batch(
    run_python: Callable[..., str], writable_spark_home: Path
) -> None:
    printed = run_python(PROGRAM, SPARK_HOME=str(writable_spark_home))
    assert "executors: 2" in printed
