"""The demo's stream: trending items, kept in a table while the stream is killed and resumed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from firesteel.demo.errors import DemoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import Row, SparkSession

FILES = 8
"""Files of events, as a rule each of them a micro-batch."""

EVENTS = 20_000
"""Events in a file."""

KILLED_AFTER = 3
"""Micro-batches after which the stream is killed."""

CATEGORIES = ("books", "music", "tools")

SCHEMA = "category STRING, item STRING, visitor INT"

KEYS = ("category", "place")

# Stock Spark refuses it three times: an aggregate over an aggregate, and ranks of a stream.
QUERY = """\
SELECT category, place, item, fans FROM (
  SELECT *, row_number() OVER (PARTITION BY category ORDER BY fans DESC, item) AS place FROM (
    SELECT category, item, count(*) AS fans FROM (
      SELECT category, item, visitor, count(*) AS views FROM events
      GROUP BY category, item, visitor)
    WHERE views >= 2 GROUP BY category, item))
WHERE place <= 3"""

PATIENCE = 120.0
"""Seconds after which a stream that shows no progress has failed."""


def write_events(folder: Path) -> None:
    """Make the files: what is visited most changes from one to the next.

    Args:
        folder: Where they go; it exists.
    """
    chance = random.Random(4)
    for file in range(FILES):
        lines = []
        for _ in range(EVENTS):
            item = min(int(chance.expovariate(0.12)), 40)
            name = f"item-{(item + 3 * file) % 41:02d}"
            lines.append(f"{chance.choice(CATEGORIES)},{name},{chance.randrange(3000)}\n")
        (folder / f"{file}.csv").write_text("".join(lines), encoding="utf-8")


def trend(session: SparkSession, work: Path, show: Callable[[str, Sequence[Row]], None]) -> bool:
    """Run the stream in a process of its own, kill it in the middle, and resume it.

    Args:
        session: A session that reads the table meanwhile.
        work: An empty folder.
        show: Called with what has just happened and the table's rows, whenever they may be new.

    Returns:
        Whether the table is at last the batch query's answer.

    Raises:
        DemoError: The stream has failed, or shows no progress.
    """
    source = work / "events"
    source.mkdir()
    write_events(source)
    with running(work) as stream:
        watch(session, work, stream, KILLED_AFTER, show)
        os.killpg(stream.pid, signal.SIGKILL)
    show("killed; a new process goes on from the checkpoint", table(session, work))
    with running(work) as stream:
        watch(session, work, stream, None, show)
    session.read.schema(SCHEMA).csv(str(source)).createOrReplaceTempView("events")
    right = session.sql(QUERY).orderBy(*KEYS).collect()
    return table(session, work) == right


def table(session: SparkSession, work: Path) -> list[Row]:
    """The rows that the stream has written so far, in order."""
    if not (work / "trending" / "_versions").exists():
        return []
    reader = session.read.format("firesteel-table")
    return reader.load(str(work / "trending")).orderBy(*KEYS).collect()


@contextmanager
def running(work: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The stream in a process group of its own, with Spark's JVM in it."""
    command = [sys.executable, "-m", "firesteel.demo.trending_stream", str(work)]
    with (work / "stream.log").open("wb") as log:
        stream = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield stream
    finally:
        if stream.poll() is None:
            os.killpg(stream.pid, signal.SIGKILL)
        stream.wait()


def watch(
    session: SparkSession,
    work: Path,
    stream: subprocess.Popen[bytes],
    batches: int | None,
    show: Callable[[str, Sequence[Row]], None],
) -> None:
    """Show the table after each micro-batch, until so many are done or, with None, the stream is.

    There may be fewer micro-batches than files: what was listed when the stream was killed comes
    together with what is listed next.
    """
    done, seen = committed(work), time.monotonic()
    while batches is None or done < batches:
        ended = stream.poll()
        now = committed(work)
        if now > done:
            done, seen = now, time.monotonic()
            show(f"micro-batch {done}", table(session, work))
        elif ended == 0 and batches is None:
            return
        elif ended is not None or time.monotonic() - seen > PATIENCE:
            raise failed(work)
        time.sleep(0.1)


def committed(work: Path) -> int:
    """Micro-batches that are done, by the checkpoint."""
    commits = work / "checkpoint" / "commits"
    return sum(name.name.isdigit() for name in commits.iterdir()) if commits.exists() else 0


def failed(work: Path) -> DemoError:
    """What the stream has said last."""
    said = (work / "stream.log").read_text(encoding="utf-8", errors="replace").strip()
    return DemoError(f"the stream has failed: {said[-2000:]}")
