"""The demo's statement set: three targets of one view, as three queries and as one."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import firesteel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

FILES = 2
"""A micro-batch reads one."""

VISITS = 40_000
"""Visits in a file."""

SCHEMA = "page INT, visitor INT, seconds INT"

VIEW = "SELECT page, count(*) AS visits, sum(seconds) AS seconds FROM visits GROUP BY page"

TARGETS = {
    "counts": "SELECT page, visits, row_kind() AS op FROM pages",
    "slow pages": "SELECT page, seconds / visits AS mean, row_kind() AS op FROM pages "
    "WHERE seconds > 55 * visits",
    "in all": "SELECT count(*) AS pages, sum(visits) AS visits, row_kind() AS op FROM pages",
}


@dataclass(frozen=True)
class Measured:
    """One way to fill the targets.

    Attributes:
        cpu: Seconds of CPU of Spark's whole process.
        answers: The rows of each target after the last micro-batch.
    """

    cpu: float
    answers: dict[str, list[str]]


def write_files(folder: Path) -> None:
    """Make the files.

    Args:
        folder: Where they go; it is made.
    """
    chance = random.Random(6)
    (folder / "visits").mkdir(parents=True)
    for file in range(FILES):
        lines = (
            json.dumps({"page": chance.randrange(5000), "visitor": n, "seconds": n * 7 % 99})
            for n in range(VISITS)
        )
        path = folder / "visits" / f"{file}.json"
        path.write_text("\n".join(lines), encoding="utf-8")


def compare(session: SparkSession, folder: Path) -> tuple[Measured, Measured]:
    """Fill the targets by a query each, and by one statement set.

    Args:
        session: A running session; each run gets a session of its own in it.
        folder: The folder with the files.

    Returns:
        The queries and the set. Each ran before, so that code is compiled.
    """
    for run in (_apart, _together):
        run(_session(session, folder), folder / f"first{run.__name__}")
    apart = _measured(session, folder, _apart)
    return apart, _measured(session, folder, _together)


def _measured(
    session: SparkSession,
    folder: Path,
    run: Callable[[SparkSession, Path], dict[str, list[tuple[object, ...]]]],
) -> Measured:
    own = _session(session, folder)
    before = _cpu_seconds(session)
    tables = run(own, folder / f"second{run.__name__}")
    return Measured(
        _cpu_seconds(session) - before, {name: sorted(map(str, tables[name])) for name in tables}
    )


def _session(session: SparkSession, folder: Path) -> SparkSession:
    own = session.newSession()
    own.conf.set("spark.sql.shuffle.partitions", 2)
    manager = "io.firesteel.checkpoint.LocalCheckpointFileManager"
    own.conf.set("spark.sql.streaming.checkpointFileManagerClass", manager)
    reader = own.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    reader.json(str(folder / "visits")).createOrReplaceTempView("visits")
    own.sql(VIEW).createOrReplaceTempView("pages")
    return own


def _apart(session: SparkSession, checkpoint: Path) -> dict[str, list[tuple[object, ...]]]:
    tables: dict[str, list[tuple[object, ...]]] = {name: [] for name in TARGETS}
    for name, query in TARGETS.items():
        writer = session.sql(query).writeStream.foreachBatch(_target(tables[name]))
        writer = writer.option("checkpointLocation", str(checkpoint / name))
        writer.trigger(availableNow=True).start().awaitTermination()
    return tables


def _together(session: SparkSession, checkpoint: Path) -> dict[str, list[tuple[object, ...]]]:
    tables: dict[str, list[tuple[object, ...]]] = {name: [] for name in TARGETS}
    statements = firesteel.statement_set(session, checkpoint)
    for name, query in TARGETS.items():
        statements.insert(name, session.sql(query), _target(tables[name]))
    statements.start(trigger={"availableNow": True}).awaitTermination()
    return tables


def _target(table: list[tuple[object, ...]]) -> Callable[[DataFrame, int], None]:
    """A table in memory that changes are applied to."""
    rows: dict[tuple[object, ...], int] = {}

    def write(changes: DataFrame, _: int) -> None:
        for *values, op in changes.collect():
            key = tuple(values)
            rows[key] = rows.get(key, 0) + (1 if op in ("+I", "+U") else -1)
        table[:] = [row for row, times in rows.items() for _ in range(times)]

    return write


def _cpu_seconds(session: SparkSession) -> float:
    # PySpark has no public way to ask for it.
    jvm: Any = session._jvm  # noqa: SLF001
    process = jvm.java.lang.ProcessHandle.current()
    return float(process.info().totalCpuDuration().get().toMillis()) / 1000
