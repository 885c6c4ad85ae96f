"""Metrics of lookup joins and running streams, as a user sees them: classic and Spark Connect."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import firesteel
from tests.python.since_spark import needs_arrow_functions

TABLE = "<script>"


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """A session of its own, of either kind."""
    if request.param == "classic":
        yield request.getfixturevalue("spark").newSession()
        return
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    client = ConnectSession.builder.remote(request.getfixturevalue("address")).create()
    yield client  # type: ignore[misc] # a class of its own with the same methods
    client.stop()


def is_classic(session: SparkSession) -> bool:
    return "connect" not in type(session).__module__


def names() -> Any:  # noqa: ANN401 - made here, so that it is pickled by value
    """A connector that knows every id."""

    class Names:
        schema = "id BIGINT, name STRING"
        keys = ("id",)

        def lookup(self, keys: pa.Table) -> pa.Table:
            ids = keys["id"]
            return keys.append_column("name", ids.cast("string"))

    return Names()


def enriched(rows: DataFrame) -> DataFrame:
    firesteel.register_lookup(rows.sparkSession, "names", names(), cache="PARTIAL", max_rows=50)
    return firesteel.lookup_join(rows, "names", on="id")


@needs_arrow_functions
def test_a_lookup_joins_metrics_are_read_after_it_has_run(session: SparkSession) -> None:
    joined = enriched(session.range(0, 100, 1, 1).selectExpr("id % 10 AS id"))
    assert len(joined.collect()) == 100
    (join,) = firesteel.lookup_metrics(joined).joins
    assert (join.table, join.values["connector"]) == ("names", "Python")
    assert (join.metrics["misses"], join.metrics["hits"]) == (10, 90)
    assert join.hit_rate == 0.9
    assert join.metrics["failures"] == 0


@needs_arrow_functions
def test_before_a_run_there_are_no_counts(session: SparkSession) -> None:
    joined = enriched(session.range(3))
    if is_classic(session):
        (join,) = firesteel.lookup_metrics(joined).joins
        assert join.hit_rate is None
    else:
        with pytest.raises(firesteel.UnsupportedOnConnectError, match=r"df\.collect\(\)"):
            firesteel.lookup_metrics(joined)


def test_a_query_without_a_lookup_join_has_none(session: SparkSession) -> None:
    rows = session.range(3)
    rows.collect()
    assert firesteel.lookup_metrics(rows).joins == ()


@needs_arrow_functions
def test_a_stream_shows_its_micro_batches_state_and_row_kinds(
    session: SparkSession, tmp_path: Path
) -> None:
    source = tmp_path / "rows"
    for first in (0, 10):
        ids = session.range(first, first + 10, 1, 1).selectExpr("id % 10 AS id", "id AS v")
        ids.write.mode("append").parquet(str(source))
    reader = session.readStream.schema("id BIGINT, v BIGINT").option("maxFilesPerTrigger", 1)
    # Those of `pyspark.sql.functions` belong to the classic session of this process.
    functions = import_module(f"pyspark.sql.{'' if is_classic(session) else 'connect.'}functions")
    counted = functions.count(functions.lit(1)).alias(TABLE)
    rows = reader.parquet(str(source)).observe(TABLE, counted)
    enriched(rows).createOrReplaceTempView("enriched")
    changes = session.sql(
        "SELECT *, row_kind() AS op FROM (SELECT name, count(v) AS n FROM enriched GROUP BY name)"
    )
    query = (
        changes.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .queryName("counts")
        .start(str(tmp_path / "changes"), format="parquet")
    )
    assert query.awaitTermination(120)
    watched = firesteel.watch(query)
    assert watched.awaitTermination(1) is True
    text = str(watched)
    assert "counts: stopped" in text
    assert "changelogAggregate 0" in text
    batches = [line.split() for line in text.splitlines() if line[2:6].strip() in ("0", "1")]
    assert [cells[1] for cells in batches] == ["10", "10"]
    assert [cells[7:11] for cells in batches] == [["0", "10", "10", "0"], ["10", "0", "0", "0"]]
    assert f"{TABLE}: {TABLE}" in text
    assert TABLE not in watched._repr_html_()
    if is_classic(session):
        (join,) = firesteel.lookup_metrics(query).joins
        assert join.metrics["hits"] + join.metrics["misses"] == 10
    else:
        with pytest.raises(firesteel.UnsupportedOnConnectError, match="SQL tab"):
            firesteel.lookup_metrics(query)


def test_a_stream_that_has_failed_shows_its_error(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("<script>\n")
    lines = session.readStream.schema("text STRING").csv(str(tmp_path / "in"))
    query = (
        lines.selectExpr("raise_error(text)")
        .writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    with pytest.raises(Exception, match="USER_RAISED_EXCEPTION"):
        firesteel.watch(query).awaitTermination(120)
    html = firesteel.watch(query)._repr_html_()
    assert "failed" in html
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
