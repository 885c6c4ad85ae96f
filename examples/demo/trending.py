"""The demo's stream: trending items, in a table that stays right when the stream is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pyspark.errors import AnalysisException

import firesteel
from demo.comparison import SWITCH
from demo.errors import DemoError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    Show: TypeAlias = Callable[[str, Sequence[Row]], None]
    Poll: TypeAlias = Callable[[], int | None]

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


def start(session: SparkSession, work: Path) -> StreamingQuery:
    """Start the stream, or resume it from its checkpoint; it ends when it has read all files.

    Args:
        session: A running session; the stream gets a session of its own in it.
        work: The folder with the events, the checkpoint and the table.
    """
    own = session.newSession()
    # Each partition of each operator has a store to commit, in every micro-batch.
    own.conf.set("spark.sql.shuffle.partitions", 2)
    # The checkpoint is on a local disk, where Hadoop would start a process for each of its files.
    manager = "io.firesteel.checkpoint.LocalCheckpointFileManager"
    own.conf.set("spark.sql.streaming.checkpointFileManagerClass", manager)
    _visits(own, work).createOrReplaceTempView("events")
    changes = own.sql(f"SELECT *, row_kind() AS op FROM ({QUERY})")
    apply = firesteel.apply_changes(work / "trending", keys=KEYS)
    stream = changes.writeStream.foreachBatch(apply).trigger(availableNow=True)
    return stream.option("checkpointLocation", str(work / "checkpoint")).start()


def refusal(session: SparkSession, work: Path) -> str:
    """Start the query on Spark alone; return the first sentence of Spark's error.

    Args:
        session: A running session.
        work: The folder with the events.

    Raises:
        DemoError: Spark starts the query.
    """
    own = session.newSession()
    own.conf.set(SWITCH, False)
    _visits(own, work).createOrReplaceTempView("events")
    writer = own.sql(QUERY).writeStream.format("noop").outputMode("update")
    try:
        writer.option("checkpointLocation", str(work / "refused")).start().stop()
    except AnalysisException as error:
        return str(error).strip().partition("\n")[0].partition(". ")[0]
    raise DemoError("Spark alone has started the query, which it is known to refuse")


def _visits(session: SparkSession, work: Path) -> DataFrame:
    reader = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.csv(str(work / "events"))


def trend(session: SparkSession, work: Path, show: Show) -> bool:
    """Run the stream in a process of its own, kill that, and resume the stream in this process.

    Args:
        session: A session that reads the table meanwhile, and in the end runs the stream.
        work: The folder with the events.
        show: Called with the news and the table's rows, whenever they may be new.

    Returns:
        Whether the final table equals the batch query's answer.

    Raises:
        DemoError: The stream has failed, or shows no progress.
    """
    show("a stream starts in another process", [])
    with running(work) as stream:
        watch(session, work, stream.poll, KILLED_AFTER, show)
        os.killpg(stream.pid, signal.SIGKILL)
    show("killed; this process resumes the stream from its checkpoint", table(session, work))
    query = start(session, work)
    try:
        watch(session, work, lambda: _poll(query), None, show)
    finally:
        query.stop()
    events = session.read.schema(SCHEMA).csv(str(work / "events"))
    events.createOrReplaceTempView("events")
    return table(session, work) == session.sql(QUERY).orderBy(*KEYS).collect()


def table(session: SparkSession, work: Path) -> list[Row]:
    """The rows that the stream has written until now, in order."""
    if not (work / "trending" / "_versions").exists():
        return []
    reader = session.read.format("firesteel-table")
    return reader.load(str(work / "trending")).orderBy(*KEYS).collect()


@contextmanager
def running(work: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The stream in a process group of its own, with Spark's JVM in it."""
    command = [sys.executable, "-m", "demo.trending_stream", str(work)]
    folders = (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH"))
    path = os.pathsep.join(folder for folder in folders if folder)
    with (work / "stream.log").open("wb") as log:
        stream = subprocess.Popen(
            command,
            env=os.environ | {"PYTHONPATH": path},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield stream
    finally:
        if stream.poll() is None:
            os.killpg(stream.pid, signal.SIGKILL)
        stream.wait()


def watch(session: SparkSession, work: Path, poll: Poll, batches: int | None, show: Show) -> None:
    """Show the table after each micro-batch, until ``batches`` are done or the stream ends.

    There may be fewer micro-batches than files: files that were listed when the stream was killed
    and files that are listed next go into one.

    Args:
        session: A session that reads the table.
        work: The folder with the checkpoint and the table.
        poll: Returns None while the stream runs, 0 when it has ended, another number when it has
            failed.
        batches: Micro-batches to wait for; None to wait for the end.
        show: Called with the news and the table's rows.
    """
    done, seen = committed(work), time.monotonic()
    while batches is None or done < batches:
        ended = poll()
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
    """The last lines of the stream's process."""
    said = (work / "stream.log").read_text(encoding="utf-8", errors="replace").strip()
    return DemoError(f"the stream has failed: {said[-2000:]}")


def _poll(query: StreamingQuery) -> int | None:
    if query.isActive:
        return None
    failure = query.exception()
    if failure is not None:
        raise DemoError(f"the stream has failed: {str(failure)[:2000]}")
    return 0
