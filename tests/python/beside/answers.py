"""Answers, and stock Spark's beside them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import firesteel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = tuple[Any, ...]

TOP = """
    SELECT city, id, n, place FROM (
      SELECT *, row_number() OVER (PARTITION BY city ORDER BY n DESC, id) AS place FROM people)
    WHERE place <= 3"""


@contextlib.contextmanager
def stock(spark: SparkSession) -> Iterator[None]:
    """Switches firesteel off, and on again."""
    spark.conf.set("spark.firesteel.enabled", False)
    try:
        yield
    finally:
        spark.conf.unset("spark.firesteel.enabled")


def same(spark: SparkSession, sql: str, *rules: str) -> list[Row]:
    """The rows of a query: those of stock Spark, with these rules fired."""
    df = spark.sql(sql)
    explained = firesteel.explain(df)
    assert set(rules) <= {one.rule for one in explained.fired}, explained
    found = sorted((tuple(row) for row in df.collect()), key=repr)
    with stock(spark):
        assert found == sorted((tuple(row) for row in spark.sql(sql).collect()), key=repr)
    return found


def run(df: DataFrame, checkpoint: Path, apply: Callable[[DataFrame, int], Any]) -> int:
    """Run a stream until its input is read; returns the number of its micro-batches so far."""
    writer = df.writeStream.foreachBatch(apply).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return int(query.lastProgress["batchId"]) + 1 if query.lastProgress else 0
