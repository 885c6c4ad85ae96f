"""A cluster: executors are processes of their own, and get the jar from the driver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

PROGRAM = """
import firesteel
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", False)
spark = firesteel.configure(builder.config("spark.sql.shuffle.partitions", 4)).getOrCreate()
firesteel.check(spark)

top = spark.sql('''
  SELECT k, v, r FROM (
    SELECT *, rank() OVER (PARTITION BY k ORDER BY v DESC) AS r
    FROM (SELECT id % 5 AS k, id AS v FROM range(0, 10000, 1, 4)))
  WHERE r <= 2''')
expected = sorted((9995 + k - 5 * (r - 1), k, r) for k in range(5) for r in (1, 2))
assert sorted((row.v, row.k, row.r) for row in top.collect()) == expected
assert firesteel.explain(top).fired
print("executors:", spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos().__len__() - 1)
spark.stop()
"""


def test_executors_run_the_operators(
    run_python: Callable[..., str], writable_spark_home: Path
) -> None:
    printed = run_python(PROGRAM, SPARK_HOME=str(writable_spark_home))
    assert "executors: 2" in printed
