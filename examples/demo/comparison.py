"""Runs a query with firesteel off and on, and compares answers, work and time."""

from __future__ import annotations

import json
import statistics
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from firesteel import _jvm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    from demo.queries import Query

SWITCH = "spark.firesteel.enabled"


@dataclass(frozen=True)
class Work:
    """One whole run of a query, as its plan counted it.

    Attributes:
        rows: Rows of the answer.
        digest: Equal for equal answers, in whatever order their rows came.
        rows_shuffled: Rows that exchanges wrote.
        rows_sorted: Rows that went into sorts; ``None`` when Spark does not count them.
    """

    rows: int
    digest: str
    rows_shuffled: int
    rows_sorted: int | None


@dataclass(frozen=True)
class Comparison:
    """A query on both sides.

    Attributes:
        query: The query.
        off: Its work without firesteel.
        on: Its work with firesteel.
        seconds_off: Time of each timed run without firesteel.
        seconds_on: Time of each timed run with firesteel, each beside one without.
    """

    query: Query
    off: Work
    on: Work
    seconds_off: Sequence[float]
    seconds_on: Sequence[float]

    @property
    def equal(self) -> bool:
        """Whether both sides gave the same answer."""
        return self.off.digest == self.on.digest

    @property
    def speed_up(self) -> float:
        """Median of the ratios of neighbouring runs: a slow moment of the machine hits both."""
        pairs = zip(self.seconds_off, self.seconds_on, strict=True)
        return statistics.median(off / on for off, on in pairs)


def steps(repetitions: int) -> int:
    """How many runs one comparison makes, for a progress bar."""
    return 2 + 2 * repetitions


def compare(
    spark: SparkSession, query: Query, repetitions: int, done: Callable[[], None]
) -> Comparison:
    """Run a query on both sides.

    The runs that check the answers come first, and warm both sides up.

    Args:
        spark: A session with the extension.
        query: The query.
        repetitions: Timed runs on each side.
        done: Called after each run.

    Returns:
        Answers, work and times. Whether the answers are equal is the caller's to look at.
    """
    work: dict[bool, Work] = {}
    for enabled in (False, True):
        with firesteel(spark, enabled=enabled):
            work[enabled] = run(spark.sql(query.sql), query.compared)
        done()
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for enabled in alternating(repetitions):
        with firesteel(spark, enabled=enabled):
            seconds[enabled].append(_timed(spark, query.sql))
        done()
    return Comparison(query, work[False], work[True], seconds[False], seconds[True])


def alternating(repetitions: int) -> list[bool]:
    """Which side runs when: off on, on off, off on, so that neither always comes second."""
    return [
        enabled
        for repetition in range(repetitions)
        for enabled in ((False, True) if repetition % 2 == 0 else (True, False))
    ]


@contextmanager
def firesteel(spark: SparkSession, *, enabled: bool) -> Iterator[None]:
    """Switch firesteel on or off for the queries that run inside."""
    before = spark.conf.get(SWITCH)
    spark.conf.set(SWITCH, str(enabled).lower())
    try:
        yield
    finally:
        spark.conf.set(SWITCH, before or "true")


def run(query: DataFrame, columns: Sequence[str]) -> Work:
    """Run a DataFrame to its end, and read off its plan what that cost.

    Args:
        query: A DataFrame of the embedded Spark that has not run yet, since counts add up.
        columns: The columns that make up the answer.

    Returns:
        A digest of the answer, and the counts.
    """
    measured = json.loads(_jvm.measured_run(cast("ClassicDataFrame", query), columns))
    return Work(
        measured["rows"], measured["digest"], measured["rowsShuffled"], measured["rowsSorted"]
    )


def _timed(spark: SparkSession, sql: str) -> float:
    """Time from the SQL text to the last row, in a sink that drops the rows."""
    start = time.perf_counter()
    spark.sql(sql).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start
