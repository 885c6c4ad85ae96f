"""Statement sets: several statements as one streaming query, with targets of all kinds."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException

import firesteel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

# Of each of two tests; `make test-long` kills fifty in all.
KILLS = int(
    os.environ.get("FIRESTEEL_TEST_KILLS", "25" if "FIRESTEEL_TEST_LONG" in os.environ else "3")
)
ONCE = {"availableNow": True}
SUMS = "SELECT k, count(*) AS n, sum(v) AS s FROM visits GROUP BY k"

Rows = list[tuple[Any, ...]]


class Visits:
    """A folder of JSON files as the stream ``visits``, and the view ``sums`` over it."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.source, self.files = folder / "in", 0
        self.source.mkdir()
        self.add([("a", 1), ("b", 2), ("a", 3)])
        stream = session.readStream.schema("k STRING, v INT").option("maxFilesPerTrigger", 1)
        stream.json(str(self.source)).createOrReplaceTempView("visits")
        session.sql(SUMS).createOrReplaceTempView("sums")

    def add(self, rows: list[tuple[str, int]]) -> None:
        """One more micro-batch."""
        lines = "\n".join(json.dumps({"k": k, "v": v}) for k, v in rows)
        (self.source / f"{self.files}.json").write_text(lines)
        self.files += 1

    def changes(self, query: str) -> DataFrame:
        return self.session.sql(f"SELECT *, row_kind() AS op FROM ({query})")

    def statements(self, *, parallel: bool = False) -> firesteel.StatementSet:
        checkpoint = self.folder / "checkpoint"
        return firesteel.statement_set(self.session, checkpoint, parallel=parallel)

    def answer(self, query: str) -> Rows:
        rows = self.session.read.schema("k STRING, v INT").json(str(self.source))
        rows.createOrReplaceTempView("visits_so_far")
        return found(self.session.sql(query.replace("visits", "visits_so_far")))

    def table(self, name: str) -> Rows:
        target = self.session.read.format("firesteel-table").load(str(self.folder / name))
        return found(target)

    def target(self, name: str) -> firesteel.ApplyChanges:
        return firesteel.apply_changes(str(self.folder / name), keys="k")


@pytest.fixture
def visits(session: SparkSession, tmp_path: Path) -> Visits:
    session.conf.set("spark.sql.shuffle.partitions", 2)
    return Visits(session, tmp_path)


def found(df: DataFrame) -> Rows:
    return sorted((tuple(row) for row in df.collect()), key=repr)


def run(statements: firesteel.StatementSet) -> StreamingQuery:
    query = statements.start(trigger=ONCE)
    query.awaitTermination()
    return query


@pytest.mark.parametrize("parallel", [False, True])
def test_targets_of_all_kinds_follow_their_statements(visits: Visits, parallel: bool) -> None:
    whole: Rows = []

    def keep(df: DataFrame, _: int) -> None:
        whole[:] = found(df)

    folder = visits.folder
    for _ in range(3):
        s = visits.statements(parallel=parallel)
        s.insert("sums", visits.changes("SELECT * FROM sums"), visits.target("sums"))
        s.insert(
            "it's {high}",
            visits.changes("SELECT k, s FROM sums WHERE s > 3"),
            visits.target("high"),
        )
        rows = visits.session.sql("SELECT * FROM visits WHERE v > 1")
        s.insert("rows", rows, {"format": "parquet", "path": str(folder / "rows")})
        s.insert("table", rows, f"visits_kept_{parallel}")
        s.insert("whole", visits.session.table("sums"), keep, mode="complete")
        assert "SharedPlans rows 0, Aggregate 1, rows 2, statement whole 3" in s.explain().plan
        query = run(s)
        assert visits.table("sums") == visits.answer(SUMS) == whole
        assert visits.table("high") == visits.answer(f"SELECT k, s FROM ({SUMS}) WHERE s > 3")
        wanted = visits.answer("SELECT * FROM visits WHERE v > 1")
        assert found(visits.session.read.parquet(str(folder / "rows"))) == wanted
        visits.session.catalog.refreshTable(f"visits_kept_{parallel}")
        assert found(visits.session.table(f"visits_kept_{parallel}")) == wanted
        # The changes and the whole result have a state each; the source is read once.
        progress = next(p for p in reversed(query.recentProgress) if p["numInputRows"])
        assert len(progress["stateOperators"]) == 3
        assert len(progress["sources"]) == 1
        visits.add([("a", 4), ("c", 1), (random.choice("bc"), 2)])


def test_a_target_that_fails_lets_others_keep_what_they_have(visits: Visits) -> None:
    written: list[tuple[str, int]] = []

    def write(name: str, fails: bool) -> Callable[[DataFrame, int], None]:
        def to(df: DataFrame, batch_id: int) -> None:
            if fails:
                raise OSError("no space left")
            written.append((name, batch_id))

        return to

    def statements(fails: bool) -> firesteel.StatementSet:
        s = visits.statements()
        s.insert("first", visits.changes("SELECT * FROM sums"), write("first", False))
        s.insert("second", visits.changes("SELECT k FROM sums"), write("second", fails))
        return s

    with pytest.raises(StreamingQueryException, match="no space left"):
        run(statements(fails=True))
    run(statements(fails=False))
    assert written == [("first", 0), ("second", 0)]


def test_a_view_that_is_replaced_is_another_view(visits: Visits) -> None:
    folder = visits.folder
    s = visits.statements()
    for name, minimum in (("low", 0), ("high", 2)):
        visits.session.table("visits").where(f"v > {minimum}").createOrReplaceTempView("some")
        s.insert(name, visits.session.table("some"), {"format": "json", "path": str(folder / name)})
    run(s)
    for name, minimum in (("low", 0), ("high", 2)):
        rows = visits.session.read.schema("k STRING, v INT").json(str(folder / name))
        assert found(rows) == visits.answer(f"SELECT * FROM visits WHERE v > {minimum}")


def test_a_console_takes_sparks_options(visits: Visits, capsys: pytest.CaptureFixture[str]) -> None:
    s = visits.statements()
    options = {"format": "console", "truncate": "false", "numrows": "1"}
    s.insert("seen", visits.session.table("visits"), options)
    run(s)
    assert "only showing top 1 row" in capsys.readouterr().out


def test_two_statements_that_write_to_one_table_are_an_error(visits: Visits) -> None:
    apply = visits.target("both")
    s = visits.statements()
    s.insert("first", visits.changes("SELECT * FROM sums"), lambda df, batch: apply(df, batch))
    s.insert("second", visits.changes("SELECT * FROM sums"), lambda df, batch: apply(df, batch))
    with pytest.raises(StreamingQueryException, match="OTHER_QUERY"):
        run(s)


def test_a_target_knows_the_keys_of_its_statement(visits: Visits) -> None:
    for _ in range(3):
        s = visits.statements()
        # Both read one view, whose rows are kept for them.
        for name in ("sums", "same"):
            changes = visits.changes("SELECT * FROM sums")
            s.insert(name, changes, visits.target(name), mode="update")
        s.insert("plain", visits.session.table("visits"), "visits_plain")
        run(s)
        assert visits.table("sums") == visits.table("same") == visits.answer(SUMS)
        visits.add([("a", 4), ("c", 1), ("b", 2)])


def test_what_is_wrong_is_said(visits: Visits) -> None:
    s = visits.statements()
    sums = visits.changes("SELECT * FROM sums")
    with pytest.raises(ValueError, match="no statements"):
        s.start()
    s.insert("sums", sums, visits.target("sums"))
    with pytest.raises(ValueError, match="'sums'"):
        s.insert("sums", sums, print)
    with pytest.raises(ValueError, match=r"'sums' and 'more' write to one target"):
        s.insert("more", sums, visits.target("sums/"))
    jdbc = {"format": "jdbc", "url": "jdbc:postgresql://h/db?password=hunter2", "dbtable": "t"}
    s.insert("jdbc", sums, jdbc)
    with pytest.raises(ValueError, match="write to one target") as told:
        s.insert("more", sums, jdbc)
    assert "hunter2" not in str(told.value)
    with pytest.raises(ValueError, match="write to one target"):
        s.insert("more", sums, {"format": "jdbc", "url": jdbc["url"], "dbTable": "t"})
    s.insert("table", sums, "Default.Sums_Of_All")
    with pytest.raises(ValueError, match="write to one target"):
        s.insert("more", sums, "`sums_of_all`")
    # The rows have the topic.
    for name in ("one", "two"):
        s.insert(name, sums, {"format": "kafka", "kafka.bootstrap.servers": "h:9092"})
    s = visits.statements()
    s.insert("sums", sums, visits.target("sums"))
    with pytest.raises(ValueError, match="'append', 'update' and 'complete'"):
        s.insert("more", sums, print, mode="retract")
    with pytest.raises(ValueError, match="must have its format"):
        s.insert("more", sums, {"path": "x"})
    with pytest.raises(TypeError, match="not int"):
        s.insert("more", sums, 7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not streaming"):
        s.insert("more", visits.session.range(1), print)
    run(s)
    more = visits.statements()
    more.insert("sums", sums, visits.target("sums"))
    more.insert("more", sums, visits.target("more"))
    with pytest.raises(AnalysisException, match="OTHER_STATEMENTS"):
        more.start()
    changing = visits.statements()
    changing.insert("sums", visits.session.table("sums"), visits.target("sums"))
    with pytest.raises(AnalysisException, match="NOT_INSERT_ONLY"):
        changing.start()


def test_no_secret_of_a_target_is_kept(visits: Visits) -> None:
    secret = "hunter2-of-the-test"

    def fail(df: DataFrame, batch_id: int) -> None:
        raise OSError("closed")

    s = visits.statements()
    options = {"format": "parquet", "path": str(visits.folder / "rows"), "password": secret}
    s.insert("rows", visits.session.table("visits"), options)
    s.insert("fails", visits.session.table("visits"), fail)
    query = s.start(trigger=ONCE)
    with pytest.raises(StreamingQueryException) as failed:
        query.awaitTermination()
    texts = [str(failed.value), json.dumps(query.recentProgress, default=str), repr(vars(s))]
    files = [p for p in (visits.folder / "checkpoint").rglob("*") if p.is_file()]
    assert files
    assert not any(secret in text for text in texts)
    assert not any(secret.encode() in file.read_bytes() for file in files)


PROGRAM = """
import json, os, signal, sys
import firesteel
from pyspark.sql import SparkSession

given = json.loads(sys.argv[1])
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
builder.config("spark.sql.shuffle.partitions", 2)
spark = firesteel.configure(builder).getOrCreate()
spark.sparkContext.setLogLevel("OFF")
jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
events = spark.readStream.schema("k STRING, v INT").option("maxFilesPerTrigger", 1)
events.json(given["source"]).createOrReplaceTempView("visits")
spark.sql("SELECT *, uuid() AS id FROM visits").createOrReplaceTempView("told")
spark.sql("SELECT k, count(*) AS n FROM visits GROUP BY k").createOrReplaceTempView("counts")
spark.sql(given["top"]).createOrReplaceTempView("top")
s = firesteel.statement_set(spark, given["checkpoint"])


def insert(name, query, keys):
    apply = firesteel.apply_changes(f"{given['folder']}/{name}", keys)

    def write(df, batch_id):
        if given["die"] == [name, "before", batch_id]:
            os.kill(jvm, signal.SIGKILL)
        apply(df, batch_id)
        if given["die"] == [name, "after", batch_id]:
            os.kill(jvm, signal.SIGKILL)

    rows = spark.sql(f"SELECT *, row_kind() AS op FROM ({query})")
    s.insert(name, rows, write, from_="start")


for name, query in given["before"].items():
    insert(name, query, "k")
insert("some", "SELECT id, k FROM told WHERE v > 2", "id")
insert("counts", "SELECT * FROM counts", "k")
insert("all", "SELECT id, k, v FROM told", "id")
print("running", jvm, flush=True)
s.start(trigger={"availableNow": True}).awaitTermination()
"""


TOP = (
    "SELECT k, v FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS p "
    "FROM visits) WHERE p <= 2"
)


class Program:
    """The statement set in a process that may be killed."""

    def __init__(self, visits: Visits, environment: dict[str, str]) -> None:
        self.visits, self.folder = visits, visits.folder
        self.environment = environment | {"PYTHONPATH": str(Path(firesteel.__file__).parents[1])}

    def start(
        self, die: list[object] | None, before: dict[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Start it with further statements, by name, before the others."""
        given = {
            "source": str(self.visits.source),
            "checkpoint": str(self.folder / "checkpoint"),
            "folder": str(self.folder),
            "die": die,
            "before": before or {},
            "top": TOP,
        }
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, json.dumps(given)],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, before: dict[str, str] | None = None) -> None:
        """Run it to its end."""
        assert self.start(None, before).wait(timeout=120) == 0


def killed_after(child: subprocess.Popen[str], seconds: float | None) -> None:
    """Kill a process that runs, or wait until it kills itself."""
    assert child.stdout is not None
    jvm = int(child.stdout.readline().split()[1])
    if seconds is not None:
        time.sleep(seconds)
        if child.poll() is None:
            os.kill(jvm, signal.SIGKILL)
    child.wait(timeout=120)
    child.kill()


@pytest.mark.long
def test_statements_come_and_leave_between_kills(
    visits: Visits, plain_environment: dict[str, str]
) -> None:
    program, chance = Program(visits, plain_environment), random.Random(5)
    # Aggregates over a Top-N: one is there from the beginning, and others come and leave.
    kept = {"kept": f"SELECT 1 AS k, count(*) AS n, sum(v) AS s FROM ({TOP})"}
    program.run(kept)
    for kill in range(KILLS):
        visits.add([(chance.choice("abc"), chance.randrange(6)) for _ in range(8)])
        name = f"new{kill}"
        now = {name: "SELECT k, max(v) AS m, count(*) AS n FROM top GROUP BY k"} | kept
        die: list[object] | None = [name, "after", kill + 1] if kill % 2 else None
        killed_after(program.start(die, now), None if die else chance.uniform(1, 7))
        program.run(now)
        assert visits.table(name) == visits.answer(
            f"SELECT k, max(v), count(*) FROM ({TOP}) GROUP BY k"
        )
        assert visits.table("kept") == visits.answer(kept["kept"])
        assert visits.table("counts") == visits.answer("SELECT k, count(*) FROM visits GROUP BY k")
        assert len(visits.table("all")) == len(visits.answer("SELECT k, v FROM visits"))


@pytest.mark.long
def test_targets_agree_after_any_number_of_kills(
    visits: Visits, plain_environment: dict[str, str]
) -> None:
    program, chance = Program(visits, plain_environment), random.Random(3)
    points = [["some", "after"], ["counts", "after"], ["all", "before"], None]
    for kill in range(KILLS):
        for _ in range(2):
            visits.add([(chance.choice("abc"), chance.randrange(6)) for _ in range(8)])
        point = points[kill % len(points)]
        child = program.start(None if point is None else [*point, visits.files - 2])
        killed_after(child, chance.uniform(0.2, 6) if point is None else None)
    program.run()
    everything = {(k, v): 0 for _, k, v in visits.table("all")}
    assert len({row[0] for row in visits.table("all")}) == len(visits.table("all"))
    assert everything
    values = visits.answer("SELECT k, v FROM visits")
    assert sorted((k, v) for _, k, v in visits.table("all")) == sorted(values)
    assert sorted(visits.table("some")) == sorted(
        (i, k) for i, k, v in visits.table("all") if v > 2
    )
    assert visits.table("counts") == visits.answer("SELECT k, count(*) FROM visits GROUP BY k")
