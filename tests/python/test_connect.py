"""Spark Connect: a server on loopback, with and without the extension, and a client."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.connect.functions import col
from pyspark.sql.connect.session import SparkSession as ConnectSession

import firesteel
from tests.python.since_spark import is_since

TOP_TWO = """
  SELECT id FROM (SELECT id, rank() OVER (PARTITION BY id % 3 ORDER BY id) AS r FROM range(99))
  WHERE r <= 2"""

Server = Callable[..., AbstractContextManager[str]]


def client(address: str) -> SparkSession:
    """Open a client beside the classic session of this process.

    `SparkSession.builder.remote` would turn the whole process into a Connect client.
    """
    # PySpark 4.0 shuts all sessions' thread pool down when one is collected. Collected while that
    # pool starts a thread, an earlier test's session waits for itself for ever.
    gc.collect()
    return cast("SparkSession", ConnectSession.builder.remote(address).create())


@pytest.fixture
def remote(address: str) -> Iterator[SparkSession]:
    session = client(address)
    yield session
    session.stop()


def test_check_works_from_a_client(remote: SparkSession) -> None:
    assert "rank" in firesteel.check(remote).rooms


def test_explains_a_dataframe(remote: SparkSession) -> None:
    explanation = firesteel.explain(remote.sql(TOP_TWO))
    assert len(explanation.fired) == 1
    assert explanation.fired[0].values
    assert not explanation.declined
    assert "TopN" in explanation.plan


def test_explains_a_decline(remote: SparkSession) -> None:
    (declined,) = firesteel.explain(remote.sql(TOP_TWO.replace("<= 2", "<= 2000"))).declined
    assert declined.code == "RANK.LIMIT_TOO_LARGE"
    assert declined.setting == "spark.firesteel.rank.maxLimit"


def test_explaining_leaves_no_view_behind(remote: SparkSession) -> None:
    firesteel.explain(remote.sql(TOP_TWO))
    assert remote.catalog.listTables() == []


def test_explaining_leaves_the_cache(remote: SparkSession) -> None:
    df = remote.range(7).selectExpr("id * 3 AS n").cache()
    assert df.count() == 7
    for _ in range(2):
        assert "InMemoryTableScan" in firesteel.explain(df).plan
    df.unpersist()


def test_explains_columns_of_one_name(remote: SparkSession) -> None:
    assert "Project" in firesteel.explain(remote.sql("SELECT id AS a, -id AS a FROM range(2)")).plan


@pytest.mark.parametrize("mend", ["spark.conf.unset", "RESET"])
def test_commands_work_while_a_setting_is_misspelt(remote: SparkSession, mend: str) -> None:
    key = "spark.firesteel.rnk.enabled"
    remote.conf.set(key, "false")
    with pytest.raises(AnalysisException, match=r"spark\.firesteel\.rank\.enabled"):
        remote.sql(TOP_TWO).collect()
    remote.sql("SET spark.firesteel.rank.enabled = true").show()
    if mend == "RESET":
        remote.sql(f"RESET {key}").show()
    else:
        remote.conf.unset(key)
    assert remote.sql(TOP_TWO).count() == 6


def test_a_changelog_is_its_table(remote: SparkSession) -> None:
    rows = [(1, "a", "c"), (2, "b", "c"), (1, "x", "u"), (2, None, "d")]
    changes = remote.createDataFrame(rows, "id INT, v STRING, op STRING").coalesce(1)
    table = firesteel.from_changelog(changes, keys=["id"])
    assert [tuple(row) for row in table.collect()] == [(1, "x")]
    assert remote.catalog.listTables() == []


def test_explains_a_stream_of_changes_that_is_not_started(remote: SparkSession) -> None:
    rates = remote.readStream.format("rate").load().selectExpr("*", "'u' AS op")
    table = firesteel.from_changelog(rates, keys="value")
    explanation = firesteel.explain(table.groupBy("timestamp").count(), "append")
    operators = [fired.values["operator"] for fired in explanation.fired]
    assert operators == ["Aggregate", "Normalize"]


def test_a_hint_of_a_dataframe_makes_joins_one(remote: SparkSession, tmp_path: Path) -> None:
    rows = remote.readStream.schema("k STRING, v INT").json(str(tmp_path))
    a, b, c = (rows.alias(name) for name in "abc")
    lower = a.join(b, (col("a.k") == col("b.k")) & (col("a.v") < col("b.v")))
    both = lower.join(c, col("a.k") == col("c.k"))
    for query, kept in [(both, "rows"), (both.hint("MULTI_JOIN", "a", "b", "c"), "nothing")]:
        explanation = firesteel.explain(query.selectExpr("a.v", "row_kind() AS op"))
        assert explanation.fired[0].values["left"].startswith(kept)


def test_a_streaming_query_is_refused_with_what_to_do_instead(remote: SparkSession) -> None:
    rows = remote.readStream.format("rate").load()
    query = rows.writeStream.format("memory").queryName("rates").start()
    try:
        with pytest.raises(firesteel.UnsupportedOnConnectError, match=r"query\.explain\(\)"):
            firesteel.explain(query)
    finally:
        query.stop()


def test_a_whole_process_as_a_client(address: str, run_python: Callable[..., str]) -> None:
    printed = run_python(f"""
import firesteel
from pyspark.sql import SparkSession
spark = firesteel.configure(SparkSession.builder.remote("{address}")).getOrCreate()
firesteel.check(spark)
top = spark.sql('''{TOP_TWO}''')
print("ids:", sorted(row.id for row in top.collect()))
print("fired:", len(firesteel.explain(top).fired))
""")
    assert "ids: [0, 1, 2, 3, 4, 5]" in printed
    assert "fired: 1" in printed


def test_a_server_in_the_clients_own_process_is_configured(
    run_python: Callable[..., str], rooms: list[str]
) -> None:
    printed = run_python(
        """
import firesteel
from pyspark.sql import SparkSession
builder = SparkSession.builder.remote("local[1]").config("spark.ui.enabled", False)
spark = firesteel.configure(builder).getOrCreate()
print("rooms:", list(firesteel.check(spark).rooms))
""",
        SPARK_TESTING="1",
    )
    assert f"rooms: {rooms}" in printed


def test_a_server_without_the_extension_is_told_what_it_needs(
    connect_server: Server, tmp_path: Path
) -> None:
    with connect_server(tmp_path) as address:
        session = client(address)
        cure = (
            r"server with --jars firesteel-4\.\d\.jar "
            r"--conf spark\.sql\.extensions=io\.firesteel"
        )
        with pytest.raises(firesteel.ExtensionNotLoadedError, match=cure):
            firesteel.check(session)
        with pytest.raises(firesteel.ExtensionNotLoadedError, match=cure):
            firesteel.explain(session.range(1))
        session.stop()


@pytest.mark.parametrize("parallel", [False, True])
def test_a_statement_set_runs_from_a_client(
    remote: SparkSession, tmp_path: Path, parallel: bool
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"k": "a", "v": 2}\n{"k": "a", "v": 3}')
    stream = remote.readStream.schema("k STRING, v INT").json(str(tmp_path / "in"))
    sums = stream.groupBy("k").sum("v").toDF("k", "s")
    changes = sums.selectExpr("*", "row_kind() AS op")
    target = str(tmp_path / "sums")
    s = firesteel.statement_set(remote, tmp_path / "checkpoint", parallel=parallel)
    with pytest.raises(firesteel.UnsupportedOnConnectError, match="query_id"):
        s.insert("sums", changes, firesteel.apply_changes(target, "k"))
    s.insert("sums", changes, firesteel.apply_changes(target, "k", query_id="sums"))
    s.insert("rows", stream, {"format": "parquet", "path": str(tmp_path / "rows")})
    assert [its.name for its in s.explain().statements] == ["sums", "rows"]
    s.start(trigger={"availableNow": True}).awaitTermination()
    found = remote.read.format("firesteel-table").load(target).collect()
    assert [tuple(row) for row in found] == [("a", 5)]
    assert remote.read.parquet(str(tmp_path / "rows")).count() == 2


def test_a_statement_set_in_sql_runs_from_a_client(remote: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"k": "a", "v": 2}\n{"k": "b", "v": 3}')
    stream = remote.readStream.schema("k STRING, v INT").json(str(tmp_path / "in"))
    stream.createOrReplaceTempView("fed")
    remote.sql(f"CREATE TABLE fed_rows (k STRING) USING parquet LOCATION '{tmp_path / 'rows'}'")
    statement = (
        "EXECUTE STATEMENT SET OPTIONS ('checkpoint' = :cp, 'trigger' = 'availableNow') BEGIN "
        "INSERT INTO fed_rows SELECT k FROM fed WHERE v > 2; END"
    )
    checkpoint = str(tmp_path / "checkpoint")
    try:
        if is_since("4.1"):
            started = remote.sql(statement, {"cp": checkpoint}).collect()
        else:
            started = remote.sql(statement.replace(":cp", f"'{checkpoint}'")).collect()
        query = remote.streams.get(started[0].query_id)
        assert query is None or query.runId == started[0].run_id
        if query is not None:
            query.awaitTermination()
        assert remote.read.parquet(str(tmp_path / "rows")).collect() == [("b",)]
    finally:
        remote.sql("DROP TABLE fed_rows")
