"""Answers, and stock Spark's beside them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

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


def written_once(spark: SparkSession, target: dict[str, str], folder: Path) -> list[Row]:
    """What a statement set writes to a target when a micro-batch is repeated, and one follows.

    The checkpoint's note that the target has the rows is lost, as by a kill before it was written.
    """
    rows, checkpoint = folder / "rows", folder / "checkpoint"
    fails = [True, False, False]
    for i, must_fail in enumerate(fails):
        if i != 1:
            spark.range(3 * i, 3 * i + 3).write.mode("append").parquet(str(rows))
        stream = spark.readStream.schema("id LONG").parquet(str(rows))

        def last(_: DataFrame, __: int, must_fail: bool = must_fail) -> None:
            if must_fail:
                raise RuntimeError("the last target fails")

        s = firesteel.statement_set(spark, checkpoint)
        s.insert("rows", stream, target)
        s.insert("last", stream, last)
        assert "  rows: append mode, format " in s.explain().text
        assert "exactly once" in s.explain().text
        query = s.start(trigger={"availableNow": True})
        if must_fail:
            with pytest.raises(StreamingQueryException):
                query.awaitTermination()
            note = checkpoint / "statements" / "written"
            assert "rows" in note.read_text()
            note.unlink()
            note.with_name(".written.crc").unlink(missing_ok=True)
        else:
            query.awaitTermination()
    return sorted(spark.read.format(target["format"]).load(target["path"]).collect())


def run(df: DataFrame, checkpoint: Path, apply: Callable[[DataFrame, int], Any]) -> int:
    """Run a stream until its input is read; returns the number of its micro-batches so far."""
    writer = df.writeStream.foreachBatch(apply).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return int(query.lastProgress["batchId"]) + 1 if query.lastProgress else 0


def looks_up_the_newest_rows(spark: SparkSession, table: str, folder: Path) -> None:
    """A running stream joins each change of an empty table (id INT, name STRING); it is dropped."""
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    (folder / "in").mkdir()
    source = spark.readStream.schema("id INT").json(str(folder / "in"))
    source.withColumn("at", F.current_timestamp()).createOrReplaceTempView("asked")
    joined = spark.sql(f"""
        SELECT asked.id, c.name FROM asked
        LEFT JOIN {table} FOR SYSTEM_TIME AS OF asked.at AS c ON asked.id = c.id""")
    seen: list[Row] = []
    writer = joined.writeStream.foreachBatch(lambda df, _: seen.extend(map(tuple, df.collect())))
    query = writer.option("checkpointLocation", str(folder / "c")).start()
    try:
        steps: list[tuple[str, list[str | None]]] = [
            ("SELECT 1", ["a", "b", None]),
            (f"UPDATE {table} SET name = 'c' WHERE id = 2", ["a", "c", None]),
            (f"MERGE INTO {table} n USING (SELECT 3 AS id, 'd' AS name) s ON n.id = s.id "
             "WHEN NOT MATCHED THEN INSERT *", ["a", "c", "d"]),
            (f"DELETE FROM {table} WHERE id = 1", [None, "c", "d"]),
        ]  # fmt: skip
        for number, (change, answer) in enumerate(steps):
            spark.sql(change)
            seen.clear()
            (folder / f"{number}.json").write_text('{"id": 1}\n{"id": 2}\n{"id": 3}')
            (folder / f"{number}.json").rename(folder / "in" / f"{number}.json")
            query.processAllAvailable()
            assert sorted(seen) == list(zip((1, 2, 3), answer, strict=True))
        assert "PlanLookupJoin" in [fired.rule for fired in firesteel.explain(query).fired]
    finally:
        query.stop()
    spark.sql(f"DROP TABLE {table}")
