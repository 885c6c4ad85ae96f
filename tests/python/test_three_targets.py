"""The example of three targets from one folder: killed between two of them, and started again."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import firesteel

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLE = Path(__file__).parents[2] / "examples" / "changelog" / "three_targets.py"

# It dies when the second micro-batch is in `counts`, and not yet in `long`.
KILLED = """
import os
import firesteel
import three_targets as example

make = firesteel.apply_changes


def dies(target, keys):
    apply = make(target, keys)

    def write(rows, batch):
        apply(rows, batch)
        if batch == 1 and target.name == "counts":
            os._exit(0)

    return write


firesteel.apply_changes = dies
example.main()
"""


def test_three_targets_agree_after_a_kill(
    spark: SparkSession, tmp_path: Path, plain_environment: dict[str, str]
) -> None:
    chance = random.Random(20261128)
    (tmp_path / "visits").mkdir()
    visits = [(f"/{chance.choice('abcde')}", n, chance.randrange(120)) for n in range(40)]
    for file in range(2):
        rows = [
            json.dumps({"page": page, "visitor": visitor, "seconds": seconds})
            for page, visitor, seconds in visits[file * 20 : file * 20 + 20]
        ]
        path = tmp_path / "visits" / f"{file}.json"
        path.write_text("\n".join(rows))
        os.utime(path, (1000 + file, 1000 + file))  # the order in which Spark reads them

    def run(*program: str) -> subprocess.CompletedProcess[str]:
        arguments = [f"--{name}={tmp_path / name}" for name in ("visits", "checkpoint", "targets")]
        path = os.pathsep.join(map(str, (EXAMPLE.parent, Path(firesteel.__file__).parents[1])))
        return subprocess.run(
            [sys.executable, *program, *arguments],
            env=plain_environment | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
            timeout=240,
        )

    def table(name: str) -> list[tuple[object, ...]]:
        rows = spark.read.format("firesteel-table").load(str(tmp_path / "targets" / name))
        return sorted(tuple(row) for row in rows.collect())

    run("-c", KILLED)
    assert len(table("long")) == sum(seconds >= 60 for *_, seconds in visits[:20])
    assert "top" in run(str(EXAMPLE)).stdout
    counts = Counter(page for page, *_ in visits)
    assert [row[:2] for row in table("counts")] == sorted(counts.items())
    best = sorted(counts.items(), key=lambda its: (-its[1], its[0]))[:3]
    assert table("top") == [(place + 1, *its) for place, its in enumerate(best)]
    assert sorted(row[1:] for row in table("long")) == sorted(v for v in visits if v[2] >= 60)
