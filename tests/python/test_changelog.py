"""A streaming query with retractions, from Python: SQL, DataFrames, and a restart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Window
from pyspark.sql import functions as F

import firesteel

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def _write(folder: Path, name: str, words: list[str]) -> None:
    folder.mkdir(exist_ok=True)
    lines = "\n".join(json.dumps({"word": word}) for word in words)
    (folder / f"{name}.json").write_text(lines)


def _words(session: SparkSession, folder: Path) -> DataFrame:
    return session.readStream.schema("word STRING").json(str(folder))


def _cascade(words: DataFrame) -> DataFrame:
    counts = words.groupBy("word").agg(F.count("*").alias("c"))
    return counts.groupBy("c").agg(F.count("*").alias("words"))


def _run(changes: DataFrame, checkpoint: Path) -> list[tuple[object, ...]]:
    """Run until all input is read; return the rows in the order in which they were emitted."""
    rows: list[tuple[object, ...]] = []

    def collect(batch: DataFrame, _: int) -> None:
        rows.extend(tuple(row) for row in batch.collect())

    query = (
        changes.writeStream.foreachBatch(collect)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return rows


def _applied(changes: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    table: list[tuple[object, ...]] = []
    for *row, kind in changes:
        if kind in ("+I", "+U"):
            table.append(tuple(row))
        else:
            table.remove(tuple(row))
    return sorted(table, key=str)


def test_changes_of_an_aggregate_over_an_aggregate(session: SparkSession, tmp_path: Path) -> None:
    source, checkpoint = tmp_path / "in", tmp_path / "checkpoint"
    _write(source, "1", ["a", "b", "a"])
    changes = _cascade(_words(session, source)).select("*", firesteel.row_kind().alias("op"))
    rows = _run(changes, checkpoint)
    assert sorted(rows) == [(1, 1, "+I"), (2, 1, "+I")]

    _write(source, "2", ["b"])
    rows += _run(changes, checkpoint)
    assert _applied(rows) == [(2, 2)]


def test_row_kind_of_a_batch_query_is_an_insertion(session: SparkSession) -> None:
    df = session.range(2).select(firesteel.row_kind())
    assert [row[0] for row in df.collect()] == ["+I", "+I"]


def test_a_result_with_deletions_is_refused_in_update_mode(
    session: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    writer = _cascade(_words(session, tmp_path / "in")).writeStream.outputMode("update")
    with pytest.raises(AnalysisException, match="FIRESTEEL_CHANGELOG_NOT_AN_UPSERT"):
        writer.option("checkpointLocation", str(tmp_path / "checkpoint")).format("console").start()


def test_windows_of_the_dataframe_api(session: SparkSession, tmp_path: Path) -> None:
    """The sum over a row and the one before it follows rows that come between others."""
    words = tmp_path / "words"
    _write(words, "1", ["a", "c"])
    before = Window.orderBy("word").rowsBetween(-1, 0)
    lengths = _words(session, words).select("word", F.ascii("word").alias("n"))
    sums = lengths.select("word", F.sum("n").over(before).alias("s"))
    changes = sums.select("*", firesteel.row_kind().alias("op"))
    checkpoint = tmp_path / "checkpoint"
    rows = _run(changes, checkpoint)
    _write(words, "2", ["b"])
    rows += _run(changes, checkpoint)
    assert _applied(rows) == [("a", 97), ("b", 97 + 98), ("c", 98 + 99)]


def test_a_pandas_function_over_a_window_is_refused(session: SparkSession, tmp_path: Path) -> None:
    """The error names the function and what to use instead."""

    def longest(words: pd.Series) -> int:
        return int(words.str.len().max())

    functions: Any = F  # whose stubs leave some out
    of_window = functions.pandas_udf(longest, "bigint")("word").over(Window.partitionBy("word"))
    _write(tmp_path / "words", "1", ["a"])
    words = _words(session, tmp_path / "words")
    changes = words.select("word", of_window, firesteel.row_kind())
    with pytest.raises(AnalysisException, match=r"OVER of longest[\s\S]*runs in the JVM"):
        changes.writeStream.format("noop").start()


def test_python_functions_between_operators_of_one_key(
    session: SparkSession, tmp_path: Path
) -> None:
    source, checkpoint = tmp_path / "in", tmp_path / "checkpoint"
    _write(source, "1", ["a", "b", "a"])
    twice = F.udf(lambda n: 2 * n, "long")
    counts = _words(session, source).groupBy("word").agg(F.count("*").alias("c"))
    counts = counts.where(twice("c") > 2).select("word", twice("c").alias("d"))
    changes = counts.groupBy("word").agg(F.max("d").alias("m"))
    changes = changes.select("*", firesteel.row_kind().alias("op"))
    rows = _run(changes, checkpoint)
    assert rows == [("a", 4, "+I")]

    _write(source, "2", ["b", "a"])
    rows += _run(changes, checkpoint)
    assert _applied(rows) == [("a", 6), ("b", 4)]


def test_python_functions_in_the_condition_of_a_join(session: SparkSession, tmp_path: Path) -> None:
    is_short = F.udf(lambda word: len(word) < 3, "boolean")
    come_before = F.udf(lambda one, other: one < other, "boolean")
    first = F.col("l.first") == F.col("r.first")

    def joined(words: DataFrame, how: str, *, both: bool) -> DataFrame:
        side = words.withColumn("first", F.substring("word", 1, 1))
        called = come_before("l.word", "r.word") if both else is_short("l.word")
        its = side.alias("l").join(side.alias("r"), first & called, how)
        return its.select(F.col("l.word"), F.col("r.word").alias("other"))

    def changes(how: str, *, both: bool) -> DataFrame:
        rows = joined(_words(session, source), how, both=both)
        return rows.select("*", firesteel.row_kind().alias("op"))

    for how, both in (("inner", False), ("inner", True), ("left", False), ("full", False)):
        source = tmp_path / f"{how}{both}"
        checkpoint = tmp_path / f"{how}{both}_checkpoint"
        _write(source, "1", ["a", "ab", "abc"])
        rows = _run(changes(how, both=both), checkpoint)
        _write(source, "2", ["ac", "b", "a"])
        rows += _run(changes(how, both=both), checkpoint)
        batch = joined(session.read.schema("word STRING").json(str(source)), how, both=both)
        assert _applied(rows) == sorted((tuple(row) for row in batch.collect()), key=str)

    with pytest.raises(AnalysisException, match="Python"):
        _run(changes("left", both=True), tmp_path / "refused")
