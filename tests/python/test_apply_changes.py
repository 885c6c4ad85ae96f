"""Changelogs applied to tables: a folder of Parquet files and a real PostgreSQL."""

from __future__ import annotations

import itertools
import json
import os
import random
import runpy
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql.connect.session import SparkSession as ConnectSession

import firesteel
from tests.python.postgres_server import Postgres, running

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).parents[2]
CHANGE = "k STRING, n INT, v STRING, op STRING"

Change = tuple[str | None, int | None, str | None, str | None]
Table = dict[tuple[str | None, int | None], str | None]

STAGED = "SELECT count(*) FROM pg_class WHERE relname LIKE 'firesteel_staged%'"

names = itertools.count()


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """A server without tables."""
    with running() as server:
        yield server


@pytest.fixture(scope="module")
def driver(spark: SparkSession) -> None:
    """PostgreSQL's JDBC driver on the class path of this process's Spark."""
    found = subprocess.run(
        [ROOT / "build" / "driver", "org.postgresql:postgresql:42.7.5"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    spark.sql(f"ADD JAR '{found}'")


class Folder:
    """A new folder, and how to read what is there."""

    def __init__(self, session: SparkSession, path: Path) -> None:
        self.session = session
        self.target: Any = str(path / f"table {next(names)} [*]")  # not a pattern

    def rows(self) -> list[tuple[Any, ...]]:
        try:
            df = self.session.read.format("firesteel-table").load(self.target)
        except PySparkException as error:
            if error.getCondition() != "FIRESTEEL_APPLY_NO_VERSION":
                raise
            return []  # nothing was applied yet
        return sorted((tuple(row) for row in df.collect()), key=repr)


class PostgresTable:
    """A new table of PostgreSQL, with the keys ``k`` and ``n``, nulls among them."""

    def __init__(self, session: SparkSession, server: Postgres) -> None:
        self.session, self.server, self.name = session, server, f"t{next(names)}"
        self.server.execute(
            f"CREATE TABLE {self.name} (k text, n int, v text, UNIQUE NULLS NOT DISTINCT (k, n))"
        )
        self.target: Any = server.options | {"dbtable": self.name}

    def rows(self) -> list[tuple[Any, ...]]:
        text = self.server.execute(f"SELECT json_build_array(k, n, v) FROM {self.name}")
        return sorted((tuple(json.loads(line)) for line in text.splitlines()), key=repr)


@pytest.fixture(params=["folder", "postgres"])
def new_table(
    request: pytest.FixtureRequest, session: SparkSession, tmp_path: Path
) -> Callable[[], Folder | PostgresTable]:
    """Makes tables of either kind."""
    if request.param == "folder":
        return lambda: Folder(session, tmp_path)
    request.getfixturevalue("driver")
    server = request.getfixturevalue("postgres")
    return lambda: PostgresTable(session, server)


def changelog(session: SparkSession, rows: Sequence[Change], parts: int = 2) -> DataFrame:
    """A changelog whose rows come from several tasks."""
    return session.createDataFrame(list(rows), CHANGE).repartition(parts)


def apply_to(
    table: Folder | PostgresTable,
    batches: Sequence[Sequence[Change]],
    buckets: int | None = None,
    retention: str | None = None,
) -> None:
    apply = firesteel.apply_changes(
        table.target, ["k", "n"], query_id="q", buckets=buckets, retention=retention
    )
    for batch_id, rows in enumerate(batches):
        apply(changelog(table.session, rows), batch_id)


KEYS = [(k, n) for k in ("a", "b", None, "") for n in (1, None)]
VALUES = ["x", "y", None, 'tab\t"quote\\', "line\nend {a,b} \\N", "Grüße 東京 😀"]


@st.composite
def changelogs(draw: st.DrawFn) -> tuple[list[list[Change]], list[Table]]:
    """Micro-batches of a table's changes, each in any order, and the table after each."""
    table: Table = {}
    batches, tables = [], []
    for _ in range(draw(st.integers(1, 4))):
        changes: list[Change] = []
        for _ in range(draw(st.integers(0, 12))):
            key = draw(st.sampled_from(KEYS))
            value = draw(st.sampled_from(VALUES))
            if key not in table:
                changes.append((*key, value, "+I"))
                table[key] = value
            elif draw(st.booleans()):
                changes.append((*key, table.pop(key), "-D"))
            else:
                changes += [(*key, table[key], "-U"), (*key, value, "+U")]
                table[key] = value
            other = draw(st.sampled_from(KEYS))
            if key in table and other not in table:  # a row that moves to another key
                moved = table.pop(key)
                changes += [(*key, moved, "-U"), (*other, moved, "+U")]
                table[other] = moved
        batches.append(draw(st.permutations(changes)))
        tables.append(dict(table))
    return batches, tables


@settings(
    max_examples=int(os.environ.get("FIRESTEEL_TEST_CHANGELOGS", "3")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(made=changelogs(), repeats=st.lists(st.booleans(), min_size=4, max_size=4))
def test_follows_any_changelog_also_where_batches_come_again(
    new_table: Callable[[], Folder | PostgresTable],
    made: tuple[list[list[Change]], list[Table]],
    repeats: list[bool],
) -> None:
    table = new_table()
    apply = firesteel.apply_changes(table.target, ["k", "n"], query_id="q", buckets=None)
    for batch_id, (rows, wanted, again) in enumerate(zip(*made, repeats, strict=False)):
        apply(changelog(table.session, rows), batch_id)
        if again:
            apply(changelog(table.session, rows), batch_id)
        assert table.rows() == sorted(((*k, v) for k, v in wanted.items()), key=repr)


def test_a_repeated_batch_is_read_to_its_end_and_not_applied(
    new_table: Callable[[], Folder | PostgresTable],
) -> None:
    table = new_table()
    apply_to(table, [[("a", 1, "x", "+I")]])
    spark = table.session
    seen = spark.sparkContext.accumulator(0)
    rows = spark.createDataFrame([("a", 1, "z", "+I")] * 7, CHANGE)

    def count(part: Iterable[Any]) -> Iterator[Any]:
        for row in part:
            seen.add(1)
            yield row

    counted = rows.rdd.mapPartitions(count)
    again = spark.createDataFrame(counted, CHANGE)
    firesteel.apply_changes(table.target, ["k", "n"], query_id="q")(again, 0)
    assert seen.value == 7
    assert table.rows() == [("a", 1, "x")]


REFUSED: list[tuple[str, list[Change]]] = [
    ("NOT_A_KEY", [("a", 1, "x", "+I"), ("a", 1, "y", "+I")]),
    ("NOT_A_KEY", [("a", 1, "x", "+I"), ("a", 1, "x", "+I")]),
    ("NOT_A_KEY", [("a", 1, "x", "-D"), ("a", 1, "y", "-D")]),
    ("UNKNOWN_KIND", [("a", 1, "x", "+i")]),
    ("UNKNOWN_KIND", [("a", 1, "x", None)]),
    ("NO_UPDATE_BEFORE", [("a", 1, "x", "+U"), ("b", 1, "x", "+I")]),
]


def test_refuses_what_would_be_wrong_and_applies_nothing_of_it(
    new_table: Callable[[], Folder | PostgresTable],
) -> None:
    table = new_table()
    apply_to(table, [[("b", 2, "kept", "+I")]])
    apply = firesteel.apply_changes(table.target, ["k", "n"], query_id="q")
    for reason, rows in REFUSED:
        wrong = changelog(table.session, [*rows, ("c", 3, "new", "+I")])
        with pytest.raises(PySparkException, match=f"FIRESTEEL_APPLY_{reason}"):
            apply(wrong, 1)
    assert table.rows() == [("b", 2, "kept")]
    apply(changelog(table.session, [("c", 3, "new", "+I")]), 1)
    assert len(table.rows()) == 2


BESIDE: list[list[Change]] = [
    [("a", 1, "y", "+I")],
    [("a", 1, "y", "+U"), ("b", 2, "x", "-U")],  # one that moves there
    [(None, None, "y", "+I")],
]


def test_a_row_beside_one_of_its_key_that_an_earlier_batch_has_brought_is_refused(
    new_table: Callable[[], Folder | PostgresTable],
) -> None:
    table = new_table()
    before: list[Change] = [
        ("a", 1, "x", "+I"),
        ("b", 2, "x", "+I"),
        (None, None, "x", "+I"),
    ]
    apply_to(table, [before])
    apply = firesteel.apply_changes(table.target, ["k", "n"], query_id="q")
    for rows in BESIDE * 2:  # also when the batch comes again
        with pytest.raises(PySparkException, match=r"(?s)FIRESTEEL_APPLY_NOT_A_KEY.*k, n"):
            apply(changelog(table.session, [*rows, ("c", 3, "new", "+I")]), 1)
    assert table.rows() == sorted((row[:3] for row in before), key=repr)
    assert isinstance(table, Folder) or not int(table.server.execute(STAGED))
    apply(changelog(table.session, [("a", 1, "x", "-D"), ("a", 1, "y", "+I")]), 1)
    assert ("a", 1, "y") in table.rows()


@st.composite
def coarse_changelogs(draw: st.DrawFn) -> tuple[list[list[Change]], list[set[tuple[Any, ...]]]]:
    """Micro-batches of rows told apart by all of their columns, and the rows after each."""
    rows: set[tuple[Any, ...]] = set()
    batches, after = [], []
    for _ in range(draw(st.integers(2, 5))):
        changes: list[Change] = []
        for _ in range(draw(st.integers(1, 2))):
            row = (*draw(st.sampled_from(KEYS[:3])), draw(st.sampled_from(VALUES[:3])))
            changes.append((*row, "-D" if row in rows else "+I"))
            rows ^= {row}
            going = sorted(rows, key=repr)
            if draw(st.booleans()) and going:  # one becomes another, in the key or beside it
                old = draw(st.sampled_from(going))
                new = (
                    *draw(st.sampled_from(KEYS[:3])),
                    draw(st.sampled_from(VALUES[:3])),
                )
                if new not in rows:
                    changes += [(*old, "-U"), (*new, "+U")]
                    rows = rows - {old} | {new}
        batches.append(draw(st.permutations(changes)))
        after.append(set(rows))
    return batches, after


@settings(
    max_examples=int(os.environ.get("FIRESTEEL_TEST_CHANGELOGS", "5")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(made=coarse_changelogs(), again=st.booleans())
def test_keys_coarser_than_the_querys_follow_it_or_are_refused(
    new_table: Callable[[], Folder | PostgresTable],
    made: tuple[list[list[Change]], list[set[tuple[Any, ...]]]],
    again: bool,
) -> None:
    table = new_table()
    apply = firesteel.apply_changes(table.target, ["k", "n"], query_id="q")
    applied: set[tuple[Any, ...]] = set()
    for batch_id, (changes, wanted) in enumerate(zip(*made, strict=True)):
        rows = changelog(table.session, changes)
        if len({row[:2] for row in wanted}) < len(wanted):
            with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_NOT_A_KEY"):
                apply(rows, batch_id)
            assert table.rows() == sorted(applied, key=repr)
            return
        for _ in range(1 + again):
            apply(rows, batch_id)
        applied = wanted
        assert table.rows() == sorted(wanted, key=repr)


def test_a_streams_keys_are_told_from_coarser_ones(session: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    sums = (
        session.readStream.schema("k INT, s STRING, v INT")
        .json(str(source))
        .groupBy("k", "s")
        .agg(F.sum("v").alias("v"))
        .where("v > 0")
    )

    def run(target: str, keys: list[str], part: str = "true") -> list[tuple[object, ...]]:
        folder = str(tmp_path / target)

        def apply(batch: DataFrame, batch_id: int) -> None:
            firesteel.apply_changes(folder, keys)(batch.where(part), batch_id)

        writer = sums.select("*", firesteel.row_kind().alias("op")).writeStream
        query = (
            writer.foreachBatch(apply)
            .option("checkpointLocation", str(tmp_path / f"{target}-checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        try:
            query.awaitTermination()
        finally:
            rows = session.read.format("firesteel-table").load(folder).collect()
        return sorted(map(tuple, rows))

    def feed(name: str, *rows: tuple[int, str, int]) -> None:
        lines = (json.dumps(dict(zip("ksv", row, strict=True))) for row in rows)
        (source / f"{name}.json").write_text("\n".join(lines))

    feed("1", (1, "a", 10))
    for target in ("coarse", "moved"):
        assert run(target, ["s"]) == [(1, "a", 10)]
    feed("2", (1, "a", -10), (2, "a", 20))
    assert run("moved", ["s"]) == [(2, "a", 20)]
    feed("3", (1, "a", 20))
    for _ in range(2):  # also when the query has started again
        with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_NOT_A_KEY"):
            run("moved", ["s"])
        assert [
            tuple(r)
            for r in session.read.format("firesteel-table").load(str(tmp_path / "moved")).collect()
        ] == [(2, "a", 20)]
    assert run("own", ["s", "k"]) == [(1, "a", 20), (2, "a", 20)]

    # What has been forgotten begins anew, in place of what was told of it.
    session.conf.set("spark.firesteel.changelog.stateTtl", "1ms")
    assert run("lives", ["k", "s"], "k = 2") == [(2, "a", 20)]
    feed("4", (2, "a", 5))
    assert run("lives", ["k", "s"], "k = 2") == [(2, "a", 5)]


def test_upserts_take_the_last_change_of_each_key(
    new_table: Callable[[], Folder | PostgresTable],
) -> None:
    table = new_table()
    apply = firesteel.apply_changes(table.target, ["k", "n"], query_id="q", upserts=True)
    rows = [
        ("a", 1, "x", "+I"),
        ("b", 1, "x", "+I"),
        ("a", 1, "y", "+U"),
        ("b", 1, "x", "-D"),
    ]
    apply(table.session.createDataFrame(rows, CHANGE).coalesce(1), 0)
    assert table.rows() == [("a", 1, "y")]
    twice = table.session.createDataFrame(rows[:1], CHANGE)
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_NO_ORDER"):
        apply(twice.union(twice), 1)


def test_an_earlier_batch_is_of_another_checkpoint(
    new_table: Callable[[], Folder | PostgresTable],
) -> None:
    table = new_table()
    apply_to(table, [[("a", 1, "x", "+I")], [("b", 1, "x", "+I")]])
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_BATCH_BEHIND"):
        apply_to(table, [[("c", 1, "x", "+I")]])


def test_several_queries_write_to_one_target_by_their_names(
    new_table: Callable[[], Folder | PostgresTable],
) -> None:
    table = new_table()
    for query in ("one", "two"):
        apply = firesteel.apply_changes(table.target, ["k", "n"], query_id=query)
        apply(changelog(table.session, [(query, 1, "x", "+I")]), 0)
    assert table.rows() == [("one", 1, "x"), ("two", 1, "x")]


def test_columns_that_are_not_there_are_named(
    new_table: Callable[[], Folder | PostgresTable],
) -> None:
    table = new_table()
    rows = changelog(table.session, [("a", 1, "x", "+I")])
    with pytest.raises(PySparkException, match=r"NO_COLUMN.*nowhere"):
        firesteel.apply_changes(table.target, ["nowhere"], query_id="q")(rows, 0)
    with pytest.raises(PySparkException, match="NO_KIND_COLUMN"):
        firesteel.apply_changes(table.target, ["k"], query_id="q")(rows.drop("op"), 0)
    with pytest.raises(PySparkException, match="NO_KIND_COLUMN"):
        firesteel.apply_changes(table.target, ["k"], op="kind", query_id="q")(rows, 0)
    apply = firesteel.apply_changes(table.target, ["K", "N"], op="change", query_id="q")
    apply(rows.withColumnRenamed("op", "change"), 0)
    assert table.rows() == [("a", 1, "x")]


def test_a_variant_is_refused_by_its_name(session: SparkSession, tmp_path: Path) -> None:
    rows = session.sql("SELECT 1 AS k, parse_json('2') AS v, '+I' AS op")
    with pytest.raises(PySparkException, match=r"firesteel-table datasource.*`v`.*VARIANT"):
        firesteel.apply_changes(str(tmp_path), "k", query_id="q")(rows, 0)


def test_misuse_is_told_at_once(session: SparkSession) -> None:
    df = session.range(1)
    wrong: Any = df
    with pytest.raises(
        TypeError, match=r"foreachBatch\(firesteel\.apply_changes\(target, keys\)\)"
    ):
        firesteel.apply_changes(wrong, "/somewhere")
    apply = firesteel.apply_changes("/somewhere", "k")
    with pytest.raises(TypeError, match="second argument"):
        apply(df, "0")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="micro-batch by micro-batch"):
        apply(session.readStream.format("rate").load(), 0)
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_NO_QUERY"):
        apply(df.selectExpr("id AS k", "'+I' AS op"), 0)


def test_a_reader_sees_the_version_that_it_began_with(
    session: SparkSession, tmp_path: Path
) -> None:
    table = Folder(session, tmp_path)
    apply_to(table, [[("a", 1, "x", "+I")]])
    begun = session.read.format("firesteel-table").load(table.target)
    apply = firesteel.apply_changes(table.target, ["k", "n"], query_id="q")
    apply(changelog(session, [("a", 1, "x", "-U"), ("a", 1, "y", "+U")]), 1)
    assert [row.v for row in begun.collect()] == ["x"]
    assert table.rows() == [("a", 1, "y")]


def test_files_that_no_version_needs_go_and_those_of_dead_tries_with_them(
    session: SparkSession, tmp_path: Path
) -> None:
    table = Folder(session, tmp_path)
    dead = Path(table.target) / "_data" / "dead"
    dead.mkdir(parents=True)
    values = [str(n) for n in range(6)]
    batches: list[list[Change]] = [[("a", 1, "0", "+I")]]
    batches += [
        [("a", 1, old, "-U"), ("a", 1, new, "+U")]
        for old, new in itertools.pairwise(values)
    ]  # fmt: skip
    apply_to(table, batches, retention="0s")
    assert table.rows() == [("a", 1, "5")]
    assert not dead.exists()
    # The version before waits for the next batch to be removed.
    assert len(list(Path(table.target).glob("_data/*/rows/*/*.parquet"))) <= 2
    assert len(list(Path(table.target).glob("_versions/*.json"))) <= 2


def test_files_go_one_by_one_beside_one_that_stays(session: SparkSession, tmp_path: Path) -> None:
    # Each is due between the beginning of a batch and its end.
    table = Folder(session, tmp_path)
    keys = [str(n) for n in range(8)]
    batches: list[list[Change]] = [[(k, 0, "x", "+I") for k in keys]]
    batches += [[(k, 0, "x", "-U"), (k, 0, "y", "+U")] for k in keys[1:]]
    apply_to(table, batches, retention="200ms", buckets=64)
    assert sorted(v for _, _, v in table.rows()) == ["x"] + ["y"] * 7
    files = list(Path(table.target).glob("_data/*/rows/*/*.parquet"))
    # Of the last two batches those that were replaced may not have been due.
    assert len(files) <= len({file.parent.name for file in files}) + 2


def test_only_touched_buckets_are_written(session: SparkSession, tmp_path: Path) -> None:
    table = Folder(session, tmp_path)
    rows: list[Change] = [(str(n), n, "x", "+I") for n in range(100)]
    apply_to(table, [rows], buckets=16)
    before = set(Path(table.target).glob("_data/*/rows/*/*.parquet"))
    assert len(before) == 16
    apply = firesteel.apply_changes(table.target, ["k", "n"], query_id="q")
    apply(changelog(session, [("7", 7, "x", "-U"), ("7", 7, "y", "+U")]), 1)
    assert len(set(Path(table.target).glob("_data/*/rows/*/*.parquet")) - before) == 1
    assert sorted(table.rows()) == sorted((*r[:2], "y" if r[0] == "7" else "x") for r in rows)


def test_keys_whose_times_are_cut_stay_in_their_buckets(
    session: SparkSession, tmp_path: Path
) -> None:
    target = str(tmp_path / "times")
    apply = firesteel.apply_changes(target, ["t"], query_id="q", buckets=8)
    time = "timestamp_micros(id * 1000000 + 123)"
    rows = "SELECT " + time + " AS t, id AS v, '{}' AS op FROM range({}, {})"
    name = "spark.sql.parquet.outputTimestampType"
    apply(session.sql(rows.format("+I", 0, 50)), 0)  # whole times, whose buckets are others
    session.conf.set(name, "TIMESTAMP_MILLIS")
    try:
        apply(session.sql(rows.format("+I", 50, 100)), 1)
        apply(session.sql(rows.format("+I", 100, 101)), 2)
        apply(session.sql(rows.format("-D", 50, 70)), 3)
    finally:
        session.conf.unset(name)
    left = session.read.format("firesteel-table").load(target).select("v").collect()
    assert sorted(row.v for row in left) == [*range(50), *range(70, 101)]


def test_keys_may_be_named_in_another_order(session: SparkSession, tmp_path: Path) -> None:
    table = Folder(session, tmp_path)
    rows: list[Change] = [(str(n), n, "x", "+I") for n in range(40)]
    apply_to(table, [rows], buckets=8)
    apply = firesteel.apply_changes(table.target, ["n", "k"], query_id="q")
    changed = [(str(n), n, v, op) for n in range(9) for v, op in (("x", "-U"), ("y", "+U"))]
    apply(changelog(session, changed), 1)
    wanted = [(str(n), n, "y" if n < 9 else "x") for n in range(40)]
    assert table.rows() == sorted(wanted, key=repr)


def test_a_file_that_is_gone_is_an_error(session: SparkSession, tmp_path: Path) -> None:
    table = Folder(session, tmp_path)
    apply_to(table, [[(str(n), n, "x", "+I") for n in range(40)]], buckets=4)
    file = next(iter(Path(table.target).glob("_data/*/rows/*/*.parquet")))
    file.unlink()
    with pytest.raises(Exception, match="is not there"):
        session.read.format("firesteel-table").load(table.target)
    apply = firesteel.apply_changes(table.target, ["k", "n"], query_id="q")
    with pytest.raises(Exception, match="is not there"):
        apply(changelog(session, [(str(n), n, "x", "-D") for n in range(40)]), 1)


@pytest.mark.usefixtures("driver")
def test_options_of_the_driver_keep_their_case(session: SparkSession, postgres: Postgres) -> None:
    postgres.execute("CREATE SCHEMA prod; CREATE TABLE prod.cased (k text PRIMARY KEY, v text)")
    postgres.execute("CREATE TABLE cased (k text PRIMARY KEY, v text)")
    target = postgres.options | {"dbtable": "cased", "currentSchema": "prod"}
    rows = session.sql("SELECT 'a' AS k, 'x' AS v, '+I' AS op")
    firesteel.apply_changes(target, "k", query_id="q")(rows, 0)
    counts = "SELECT (SELECT count(*) FROM prod.cased), (SELECT count(*) FROM public.cased)"
    assert postgres.execute(counts).split() == ["1|0"]


def test_a_folder_of_another_table_is_refused(session: SparkSession, tmp_path: Path) -> None:
    table = Folder(session, tmp_path)
    apply_to(table, [[("a", 1, "x", "+I")]])
    rows = changelog(session, [("b", 1, "x", "+I")])
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_OTHER_TABLE"):
        firesteel.apply_changes(table.target, ["k"], query_id="q")(rows, 1)
    more = rows.withColumn("w", F.lit(1))
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_OTHER_TABLE"):
        firesteel.apply_changes(table.target, ["k", "n"], query_id="q")(more, 1)
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_NO_VERSION"):
        session.read.format("firesteel-table").load(str(tmp_path))
    with pytest.raises(PySparkException):  # what is below is not for Spark's own reader
        session.read.parquet(table.target.replace("[*]", "?[*]?"))


@pytest.mark.usefixtures("driver")
def test_a_table_without_what_it_needs_is_refused(
    session: SparkSession, postgres: Postgres
) -> None:
    postgres.execute("CREATE TABLE bare (k text, n int, v text)")
    rows = changelog(session, [(None, 1, "x", "+I")])

    def apply(table: str) -> None:
        target = postgres.options | {"dbtable": table}
        firesteel.apply_changes(target, "k", query_id="q")(rows, 0)

    with pytest.raises(PySparkException, match=r"NO_TABLE.*missing"):
        apply("missing")
    with pytest.raises(PySparkException, match=r'(?s)NO_UNIQUE_KEY.*ADD PRIMARY KEY \("k"\)'):
        apply("bare")
    postgres.execute("CREATE UNIQUE INDEX ON bare (k)")
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_NULL_KEY"):
        apply("bare")
    assert postgres.execute("SELECT count(*) FROM pg_class WHERE relname LIKE '%staged%'") == "0"


@pytest.mark.usefixtures("driver")
def test_every_type_arrives_as_spark_has_it(session: SparkSession, postgres: Postgres) -> None:
    postgres.execute("""
        CREATE TYPE mood AS ENUM ('happy', 'sad');
        CREATE TABLE typed (
          "Key" int PRIMARY KEY, b boolean, s smallint, l bigint, f real, d float8,
          dec numeric(20, 4), t text, u uuid, m mood, j jsonb, raw bytea, day date,
          ts timestamp, tz timestamptz, ntz timestamp, texts text[], numbers int[])""")
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    row = """
        SELECT 1 AS key, true AS b, 7S AS s, -9223372036854775808L AS l, float('NaN') AS f,
          double('-Infinity') AS d, 1234567890123456.7891BD AS dec, 'Grüße\\t\\\\N\\n' AS t,
          '00112233-4455-6677-8899-aabbccddeeff' AS u, 'sad' AS m, '{"a": [1, "\\\\""]}' AS j,
          X'00FF5C0A' AS raw, DATE'0001-01-01' AS day,
          TIMESTAMP'2024-03-10 12:30:00.123456' AS ts, TIMESTAMP'1850-01-01 00:00:00' AS tz,
          TIMESTAMP_NTZ'2024-03-31 02:30:00.5' AS ntz,
          array('a,b', NULL, 'NULL', '"\\\\', '') AS texts, array(1, NULL) AS numbers"""
    nulls = session.sql(row).schema.names
    all_null = ", ".join(f"NULL AS {n}" for n in nulls[1:])
    target = postgres.options | {"dbtable": "typed"}
    changes = session.sql(f"{row} UNION ALL SELECT 2, {all_null}").withColumn("op", F.lit("+I"))
    firesteel.apply_changes(target, "key", query_id="q")(changes, 0)
    read = session.read.format("jdbc").options(**target, driver="org.postgresql.Driver").load()
    shown = "SELECT (to_jsonb(r) - 'Key')::text FROM typed AS r WHERE \"Key\" = 2"
    assert set(json.loads(postgres.execute(shown)).values()) == {None}
    wanted = session.sql(row).collect()[0].asDict()
    # Spark's own source reads a timestamp without a zone by the JVM's, not the session's.
    same = [n for n in nulls if n not in ("ts", "j", "key", "f", "ntz")]
    found = read.where("Key = 1").collect()[0].asDict()
    assert {n: found[n] for n in same} == {n: wanted[n] for n in same}
    text = "SELECT ts || ' ' || ntz || ' ' || f || ' ' || j FROM typed WHERE \"Key\" = 1"
    assert postgres.execute(text) == (
        '2024-03-10 12:30:00.123456 2024-03-31 02:30:00.5 NaN {"a": [1, "\\""]}'
    )


@pytest.mark.usefixtures("driver")
def test_keys_that_are_one_in_the_column_do_not_replace_each_other(
    session: SparkSession, postgres: Postgres
) -> None:
    postgres.execute("CREATE TABLE hours (h timestamp PRIMARY KEY, n int)")
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    target = postgres.options | {"dbtable": "hours"}

    def apply(second: int, batch: int) -> None:
        hour = session.sql(f"SELECT timestamp_seconds({second}) AS h, 1 AS n, '+I' AS op")
        firesteel.apply_changes(target, "h", query_id="q")(hour, batch)

    apply(1730610000, 0)  # 01:00, in summer
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_NOT_A_KEY"):
        apply(1730613600, 1)
    apply(1730617200, 1)
    assert postgres.execute("SELECT count(*) FROM hours") == "2"


@pytest.mark.usefixtures("driver")
def test_times_without_a_zone_are_read_in_the_sessions(
    session: SparkSession, postgres: Postgres
) -> None:
    postgres.execute("CREATE TABLE zoned (k int PRIMARY KEY, tz timestamptz)")
    target = postgres.options | {"dbtable": "zoned"}
    for batch, (zone, hour) in enumerate([("Asia/Kolkata", "06:30"), ("+02:00", "10:00")]):
        session.conf.set("spark.sql.session.timeZone", zone)
        row = session.sql(f"SELECT {batch} AS k, TIMESTAMP_NTZ'2024-01-01 12:00' AS tz, '+I' AS op")
        firesteel.apply_changes(target, "k", query_id="q")(row, batch)
        stored = f"SELECT to_char(tz AT TIME ZONE 'UTC', 'HH24:MI') FROM zoned WHERE k = {batch}"
        assert postgres.execute(stored) == hour
    # Dates, in arrays, and where the column's type is named.
    postgres.execute("CREATE DOMAIN instant AS timestamptz")
    postgres.execute("CREATE DOMAIN moment AS instant")
    postgres.execute("CREATE TABLE named (k int PRIMARY KEY, at moment, all_of timestamptz[])")
    session.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    row = session.sql(
        "SELECT 1 AS k, DATE'2024-01-02' AS at, array(DATE'2024-01-02') AS all_of, '+I' AS op"
    )
    firesteel.apply_changes(postgres.options | {"dbtable": "named"}, "k", query_id="q")(row, 0)
    utc = "to_char(%s AT TIME ZONE 'UTC', 'DD HH24:MI')"
    stored = f"SELECT {utc % 'at'} || ' ' || {utc % 'all_of[1]'} FROM named"
    assert postgres.execute(stored) == "01 18:30 01 18:30"


@pytest.mark.usefixtures("driver")
def test_a_null_key_that_comes_and_goes_is_no_error(
    session: SparkSession, postgres: Postgres
) -> None:
    postgres.execute("CREATE TABLE paid (k text PRIMARY KEY, n int, v text)")
    session.conf.set("spark.sql.legacy.timeParserPolicy", "LEGACY")
    target = postgres.options | {"dbtable": "paid"}
    rows = [(None, 1, "x", "+I"), (None, 1, "x", "-D"), ("a", 1, "x", "+I")]
    firesteel.apply_changes(target, "k", query_id="q")(changelog(session, rows), 0)
    assert postgres.execute("SELECT k FROM paid") == "a"


@pytest.mark.usefixtures("driver")
def test_a_task_that_fails_in_its_copy_gives_up(session: SparkSession, postgres: Postgres) -> None:
    postgres.execute("CREATE TABLE failing (k bigint PRIMARY KEY, n double precision)")
    rows = session.sql("SELECT id AS k, 1 / (id - 900) AS n, '+I' AS op FROM range(0, 1000, 1, 1)")
    target = postgres.options | {"dbtable": "failing"}
    with pytest.raises(PySparkException, match="DIVIDE_BY_ZERO"):
        firesteel.apply_changes(target, "k", query_id="q")(rows, 0)
    assert postgres.execute("SELECT count(*) FROM pg_stat_activity WHERE state = 'active'") == "1"


@pytest.mark.usefixtures("driver")
def test_no_error_and_no_text_shows_the_password(session: SparkSession, postgres: Postgres) -> None:
    rows = changelog(session, [("a", 1, "x", "+I")])
    wrong = postgres.options | {"dbtable": "secret", "password": "Open-Sesame"}
    apply = firesteel.apply_changes(wrong, "k", query_id="q")
    assert "Sesame" not in repr(apply)
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_DATABASE_FAILED") as refused:
        apply(rows, 0)
    assert "Sesame" not in str(refused.value)

    postgres.execute("CREATE TABLE secret (k text PRIMARY KEY, n int, v text)")
    right = postgres.options | {"dbtable": "secret"}
    firesteel.apply_changes(right, "k", query_id="q")(rows, 0)
    jvm: Any = session._jsparkSession
    runs = jvm.sharedState().statusStore().executionsList()
    plans = "".join(runs.apply(i).physicalPlanDescription() for i in range(runs.size()))
    assert "SaveIntoDataSourceCommand" in plans
    assert "Sesame" not in plans
    assert postgres.password not in plans


def test_works_from_a_connect_client(address: str, tmp_path: Path) -> None:
    session = cast("SparkSession", ConnectSession.builder.remote(address).create())
    target = str(tmp_path / "target")
    rows = session.sql("SELECT 'a' AS k, 1 AS n, '+I' AS op")
    with pytest.raises(firesteel.UnsupportedOnConnectError, match="query_id"):
        firesteel.apply_changes(target, "k")(rows, 0)
    apply = firesteel.apply_changes(target, "k", query_id="q")
    apply(rows, 0)
    apply(rows, 0)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"k": "b", "n": 2}')
    stream = session.readStream.schema("k STRING, n INT").json(str(tmp_path / "in"))
    named = firesteel.apply_changes(target, "k", query_id="stream")
    query = (
        stream.selectExpr("*", "row_kind() AS op")
        .writeStream.foreachBatch(named)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    found = session.read.format("firesteel-table").load(target).collect()
    assert sorted(map(tuple, found)) == [("a", 1), ("b", 2)]
    session.stop()


def test_a_streaming_query_is_known_by_its_checkpoint(
    session: SparkSession, tmp_path: Path
) -> None:
    source, target = tmp_path / "in", str(tmp_path / "target")
    source.mkdir()

    def run(checkpoint: str, words: Sequence[str]) -> None:
        name = f"{random.random()}.json"
        (source / name).write_text("\n".join(json.dumps({"w": w}) for w in words))
        counts = session.readStream.schema("w STRING").json(str(source)).groupBy("w").count()
        changes = counts.select("*", firesteel.row_kind().alias("op"))
        query = (
            changes.writeStream.foreachBatch(firesteel.apply_changes(target, "w"))
            .option("checkpointLocation", str(tmp_path / checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    run("one", ["a", "b", "a"])
    run("one", ["b"])
    rows = session.read.format("firesteel-table").load(target).collect()
    assert sorted(map(tuple, rows)) == [("a", 2), ("b", 2)]
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_OTHER_QUERY"):
        run("two", [])


def test_newest_rows_are_applied_by_the_keys_of_the_query(
    session: SparkSession, tmp_path: Path
) -> None:
    source = tmp_path / "in"
    source.mkdir()

    def run(target: str, keys: list[str], columns: str) -> list[tuple[object, ...]]:
        counts = session.readStream.schema("w STRING, n INT").json(str(source))
        summed = counts.groupBy("w").agg({"n": "sum"}).withColumnRenamed("sum(n)", "n")
        query = (
            summed.selectExpr("w", "n", "row_kind() AS op")
            .selectExpr(*columns.split(", "))
            .writeStream.foreachBatch(firesteel.apply_changes(str(tmp_path / target), keys))
            .outputMode("update")
            .option("checkpointLocation", str(tmp_path / f"{target}-checkpoint"))
            .option("maxFilesPerTrigger", 1)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        rows = session.read.format("firesteel-table").load(str(tmp_path / target)).collect()
        return sorted(map(tuple, rows))

    (source / "1.json").write_text('{"w": "a", "n": 1}\n{"w": "b", "n": 1}')
    assert run("one", ["w"], "w, n, op") == [("a", 1), ("b", 1)]
    (source / "2.json").write_text('{"w": "a", "n": 2}')
    assert run("one", ["W"], "w, n, op") == [("a", 3), ("b", 1)]
    assert run("two", ["n"], "w AS n, n AS w, op") == [("a", 3), ("b", 1)]
    for keys, columns in (
        (["n"], "w, n, op"),
        (["w", "n"], "w, n, op"),
        (["w"], "w AS n, n AS w, op"),
    ):
        with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_OTHER_KEYS"):
            run(f"refused-{'-'.join(keys)}-{len(columns)}", keys, columns)


def followed(
    changes: DataFrame, apply: Callable[[DataFrame, int], None], mode: str, folder: Path
) -> set[object]:
    """Runs what is new of a stream into a function; returns the rows of the folder's table."""
    query = (
        changes.writeStream.foreachBatch(apply)
        .outputMode(mode)
        .option("checkpointLocation", f"{folder}-checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    rows = changes.sparkSession.read.format("firesteel-table").load(str(folder)).collect()
    return {tuple(row) for row in rows}


def test_a_function_of_ones_own_may_filter_what_it_applies(
    session: SparkSession, tmp_path: Path
) -> None:
    source = tmp_path / "in"
    source.mkdir()

    def run(mode: str, target: str, parts: Sequence[str], named: bool = False) -> set[object]:
        words = session.readStream.schema("w STRING, c STRING").json(str(source))
        words.createOrReplaceTempView("words")
        latest = session.sql(
            "SELECT w, max(c) AS c, count(DISTINCT c) AS n, row_kind() AS op FROM words GROUP BY w"
        )

        def apply(batch: DataFrame, batch_id: int) -> None:
            for i, part in enumerate(parts):
                name = f"part {i}" if named else None
                folder = str(tmp_path / target)
                firesteel.apply_changes(folder, "w", query_id=name)(batch.where(part), batch_id)

        return followed(latest, apply, mode, tmp_path / target)

    (source / "1.json").write_text('{"w": "a", "c": "x"}\n{"w": "b", "c": "y"}')
    assert run("append", "later", ["c = 'y'"]) == {("b", "y", 1)}
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_NO_UPDATE_BEFORE"):
        run("update", "refused", ["c = 'x'"])
    for _ in range(2):  # also when the batch comes again
        with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_TWICE"):
            run("append", "twice", ["c = 'x'", "c = 'y'"])
    assert run("append", "again", ["c = 'x'", "c = 'x'"]) == {("a", "x", 1)}
    run("append", "chosen", ["op <> '-U'"])
    both = {("a", "x", 1), ("b", "y", 1)}
    assert run("append", "both", ["c = 'x'", "c = 'y'"], named=True) == both
    # Of this update the filter keeps the row after it alone.
    (source / "2.json").write_text('{"w": "a", "c": "y"}')
    assert run("append", "later", ["c = 'y'"]) == {("b", "y", 1), ("a", "y", 2)}
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_NO_UPDATE_BEFORE"):
        run("append", "chosen", ["op <> '-U'"])


def test_a_query_may_filter_its_changes(session: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()

    def run(mode: str, target: str, part: str) -> set[object]:
        words = session.readStream.schema("w STRING, c STRING").json(str(source))
        words.createOrReplaceTempView("words")
        changes = session.sql(
            "SELECT * FROM (SELECT w, max(c) AS c, count(DISTINCT c) AS n, row_kind() AS op "
            f"FROM words GROUP BY w) WHERE {part}"
        )
        folder = tmp_path / target
        return followed(changes, firesteel.apply_changes(str(folder), "w"), mode, folder)

    (source / "1.json").write_text('{"w": "a", "c": "x"}\n{"w": "b", "c": "y"}')
    assert run("append", "later", "c = 'y'") == {("b", "y", 1)}
    # Without the row before, what passed once would stay in the table.
    with pytest.raises(PySparkException, match="FIRESTEEL_APPLY_NO_UPDATE_BEFORE"):
        run("update", "refused", "c = 'x'")
    assert run("update", "keys", "w > 'a'") == {("b", "y", 1)}
    # Of this update the filter keeps the row after it alone.
    (source / "2.json").write_text('{"w": "a", "c": "y"}')
    assert run("append", "later", "c = 'y'") == {("b", "y", 1), ("a", "y", 2)}
    (source / "3.json").write_text('{"w": "b", "c": "z"}')
    assert run("append", "later", "c = 'y'") == {("a", "y", 2)}
    assert run("update", "keys", "w > 'a'") == {("b", "z", 2)}


def test_the_example_follows_its_words(session: SparkSession, tmp_path: Path) -> None:
    path = ROOT / "examples" / "changelog" / "trending_to_folder.py"
    example: Any = runpy.run_path(str(path))
    words, table = tmp_path / "words", str(tmp_path / "table")
    words.mkdir()
    for n, text in enumerate(("ab ac ab b", "ac ac ad ae ae ae")):
        lines = (json.dumps({"word": word}) for word in text.split())
        (words / f"{n}.json").write_text("\n".join(lines))
    example["run"](session, str(words), str(tmp_path / "checkpoint"), table)
    found = session.read.format("firesteel-table").load(table).collect()
    top = [("a", 1, "ac", 3), ("a", 2, "ae", 3), ("a", 3, "ab", 2), ("b", 1, "b", 1)]
    assert sorted(map(tuple, found)) == top
