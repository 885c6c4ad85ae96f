"""The demo's stream without a stream: what is shown, and when it has ended or failed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from demo import trending
from demo.errors import DemoError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Row, SparkSession

NO_SESSION = cast("SparkSession", None)


def watched(work: Path, program: str, batches: int | None) -> list[str]:
    """What is shown while a program makes commits."""
    (work / "checkpoint" / "commits").mkdir(parents=True)
    (work / "stream.log").write_text("what it said last", encoding="utf-8")
    shown: list[str] = []

    def show(title: str, rows: Sequence[Row]) -> None:
        assert list(rows) == []
        shown.append(title)

    with subprocess.Popen([sys.executable, "-c", program, str(work)]) as stream:
        trending.watch(NO_SESSION, work, stream.poll, batches, show)
        stream.kill()
    return shown


COMMITS = """
import pathlib, sys, time
for i in range(2):
    (pathlib.Path(sys.argv[1]) / "checkpoint" / "commits" / str(i)).touch()
    time.sleep(0.5)
"""


def test_every_micro_batch_is_shown_until_the_stream_ends(tmp_path: Path) -> None:
    assert watched(tmp_path, COMMITS, None)[-1] == "micro-batch 2"


def test_watching_ends_after_so_many_micro_batches(tmp_path: Path) -> None:
    assert watched(tmp_path, COMMITS + "time.sleep(60)", 1)[0] == "micro-batch 1"


@pytest.mark.parametrize("batches", [None, 3])
def test_a_stream_that_fails_tells_what_it_said(tmp_path: Path, batches: int | None) -> None:
    with pytest.raises(DemoError, match="what it said last"):
        watched(tmp_path, COMMITS + "sys.exit(1)", batches)


def test_a_stream_that_ends_too_early_has_failed(tmp_path: Path) -> None:
    with pytest.raises(DemoError):
        watched(tmp_path, COMMITS, 3)


def test_events_are_the_same_at_every_run_and_trends_change(tmp_path: Path) -> None:
    files = []
    for run in ("a", "b"):
        folder = tmp_path / run
        folder.mkdir()
        trending.write_events(folder)
        files.append({f.name: f.read_text(encoding="utf-8") for f in folder.iterdir()})
    assert files[0] == files[1]
    assert len(files[0]) == trending.FILES
    assert all(text.count("\n") == trending.EVENTS for text in files[0].values())
    most = [max({*items}, key=items.count) for items in map(items_of, files[0].values())]
    assert len({*most}) > 1


def items_of(text: str) -> list[str]:
    return [line.split(",")[1] for line in text.splitlines()]
