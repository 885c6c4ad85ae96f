"""Streaming queries that write changelogs to tables, killed again and again, and their database.

``FIRESTEEL_TEST_KILLS`` sets the number of kills; each takes some seconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

import firesteel
from tests.python.postgres_server import Postgres, running

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STAGING = "SELECT count(*) FROM pg_class WHERE relname LIKE 'firesteel_staged%'"
ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("FIRESTEEL_TEST_KILLS", "6"))

CASCADE = """
    SELECT c, count(*) AS words FROM (SELECT word, count(*) AS c FROM events GROUP BY word)
    GROUP BY c"""

# A place's row changes with each word that overtakes another: the key is not the query's own.
TOP = """
    SELECT letter, place, word, c FROM (
      SELECT *, row_number() OVER (PARTITION BY letter ORDER BY c DESC, word) AS place FROM (
        SELECT substr(word, 1, 1) AS letter, word, count(*) AS c FROM events GROUP BY 1, 2))
    WHERE place <= 3"""

PROGRAM = """
import json, os, signal, sys
import firesteel
from pyspark.sql import SparkSession

given = json.loads(sys.argv[1])
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
builder.config("spark.sql.shuffle.partitions", 2).config("spark.jars", given["driver"])
spark = firesteel.configure(builder).getOrCreate()
spark.sparkContext.setLogLevel("OFF")
jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
events = spark.readStream.schema("word STRING").option("maxFilesPerTrigger", 1)
events.json(given["source"]).createOrReplaceTempView("events")


def start(name, query, target, keys):
    apply = firesteel.apply_changes(target, keys)

    def write(df, batch_id):
        apply(df, batch_id)
        if given["die_after"] == [name, batch_id]:
            os.kill(jvm, signal.SIGKILL)  # in the target, and not yet in the checkpoint

    changes = spark.sql(f"SELECT *, row_kind() AS op FROM ({query})")
    writer = changes.writeStream.foreachBatch(write).trigger(availableNow=True)
    return writer.option("checkpointLocation", f"{given['checkpoint']}/{name}").start()


queries = [start(*query) for query in given["queries"]]
print("running", jvm, flush=True)
for query in queries:
    query.awaitTermination()
print("done", flush=True)
"""


@dataclass
class Child:
    """A process with both queries, and its JVM."""

    process: subprocess.Popen[str]
    jvm: int

    def kill(self) -> None:
        """End both as a machine's failure would."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.jvm, signal.SIGKILL)
        self.process.kill()
        self.process.communicate()


class Pipeline:
    """What is read and written, and the program between."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment
        self.driver = subprocess.run(
            [ROOT / "build" / "driver", "org.postgresql:postgresql:42.7.5"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
        self.source, self.table = folder / "in", folder / "table"
        self.source.mkdir()
        self.files = 0
        self.chance = random.Random(7)

    def add_files(self, count: int) -> None:
        """Give the queries as many more micro-batches."""
        for _ in range(count):
            words = [
                f"{self.chance.choice('abc')}{int(self.chance.expovariate(0.4))}" for _ in range(40)
            ]
            lines = "\n".join(json.dumps({"word": word}) for word in words)
            (self.source / f"{self.files}.json").write_text(lines)
            self.files += 1

    def start(self, server: Postgres, die_after: tuple[str, int] | None = None) -> Child:
        given = {
            "driver": self.driver,
            "source": str(self.source),
            "checkpoint": str(self.folder / "checkpoint"),
            "die_after": die_after,
            "queries": [
                ["cascade", CASCADE, server.options | {"dbtable": "cascade"}, ["c"]],
                ["top", TOP, str(self.table), ["letter", "place"]],
            ],
        }
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, json.dumps(given)],
            cwd=self.folder,
            env=self.environment | {"PYTHONPATH": str(Path(firesteel.__file__).parents[1])},
            stdout=subprocess.PIPE,
            stderr=(self.folder / "errors").open("w"),
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("running"), (self.folder / "errors").read_text()
        return Child(process, int(line.split()[1]))

    def errors(self) -> str:
        return (self.folder / "errors").read_text()


@pytest.fixture
def data() -> Iterator[Path]:
    """A place for a database that outlives its server, where another account can reach it."""
    folder = Path(tempfile.mkdtemp(prefix="firesteel-killed-"))
    folder.chmod(0o711)
    yield folder / "data"
    shutil.rmtree(folder, ignore_errors=True)


def staging_tables(server: Postgres) -> int:
    return int(server.execute(STAGING))


def wait_until_staged(child: Child, server: Postgres) -> None:
    """Wait for a micro-batch between what its tasks write and the transaction that applies it."""
    login = f"{server.user}:{server.password}@127.0.0.1:{server.port}/{server.database}"
    with psycopg.connect(f"postgresql://{login}", autocommit=True) as found:
        while child.process.poll() is None:
            if (found.execute(STAGING).fetchone() or (0,))[0] > 0:
                return


def kill_at(point: str, pipeline: Pipeline, server: Postgres) -> None:
    """Start the queries with two more micro-batches each, and kill them at some point."""
    pipeline.add_files(2)
    if point in ("cascade", "top"):
        child = pipeline.start(server, die_after=(point, pipeline.files - 2))
        child.process.wait(timeout=300)
    else:
        child = pipeline.start(server)
        if point == "staged":
            wait_until_staged(child, server)
        else:
            time.sleep(random.uniform(0.2, 4))
    child.kill()


def kill_server(data: Path) -> None:
    """Kill PostgreSQL's first process; its others see that and end."""
    os.kill(int((data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    time.sleep(1)


@pytest.mark.long
def test_tables_are_the_batch_querys_after_any_number_of_kills(
    session: SparkSession, plain_environment: dict[str, str], tmp_path: Path, data: Path
) -> None:
    pipeline = Pipeline(tmp_path, plain_environment)
    points = ["staged", "cascade", "top", *["chance"] * KILLS][:KILLS]
    with running(keep=data) as server:
        server.execute("CREATE TABLE cascade (c bigint PRIMARY KEY, words bigint NOT NULL)")
        for point in points:
            kill_at(point, pipeline, server)
        pipeline.add_files(2)
        child = pipeline.start(server)
        kill_server(data)
        printed, _ = child.process.communicate(timeout=300)
    assert "done" not in printed
    assert "FIRESTEEL_APPLY_DATABASE_FAILED" in pipeline.errors()

    with running(keep=data) as server:
        printed, _ = pipeline.start(server).process.communicate(timeout=300)
        assert "done" in printed, pipeline.errors()
        cascade = server.execute("SELECT c, words FROM cascade ORDER BY c").splitlines()
        assert staging_tables(server) == 0
        assert server.execute("SELECT batch FROM firesteel_applied_batches") == str(
            pipeline.files - 1
        )

    session.read.schema("word STRING").json(str(pipeline.source)).createOrReplaceTempView("events")
    wanted = sorted(map(tuple, session.sql(CASCADE).collect()))
    assert [tuple(map(int, row.split("|"))) for row in cascade] == wanted
    top = session.read.format("firesteel-table").load(str(pipeline.table))
    assert sorted(map(tuple, top.collect())) == sorted(map(tuple, session.sql(TOP).collect()))
