"""Tables of which a stream tells the changes, from Python; explaining streams that have not run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

import firesteel

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "id INT, v INT, op STRING, at INT"


def _write(folder: Path, name: str, rows: list[dict[str, object]]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text("\n".join(json.dumps(row) for row in rows))


def _run(changes: DataFrame, checkpoint: Path) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []

    def collect(batch: DataFrame, _: int) -> None:
        rows.extend(tuple(row) for row in batch.collect())

    query = (
        changes.writeStream.foreachBatch(collect)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return sorted(rows, key=str)


def test_aggregates_follow_upserts_and_a_restart(session: SparkSession, tmp_path: Path) -> None:
    source, checkpoint = tmp_path / "in", tmp_path / "checkpoint"
    source.mkdir()
    stream = session.readStream.schema(SCHEMA).json(str(source))
    table = firesteel.from_changelog(stream, keys=["id"], sequence_by="at")
    totals = table.groupBy().agg(F.sum("v").alias("total"))
    changes = totals.select("*", firesteel.row_kind().alias("op"))

    created = [{"id": 1, "v": 5, "op": "c", "at": 1}, {"id": 2, "v": 7, "op": "c", "at": 1}]
    _write(source, "1", created)
    assert _run(changes, checkpoint) == [(12, "+I")]
    updated = [{"id": 1, "v": 6, "op": "u", "at": 3}, {"id": 2, "op": "d", "at": 2}]
    late = [{"id": 1, "v": 100, "op": "u", "at": 2}]
    _write(source, "2", [*updated, *late])
    assert _run(changes, checkpoint) == [(12, "-U"), (6, "+U")]


def test_an_unknown_kind_is_named(session: SparkSession, tmp_path: Path) -> None:
    _write(tmp_path / "in", "1", [{"id": 1, "op": "teleported"}])
    stream = session.readStream.schema(SCHEMA).json(str(tmp_path / "in"))
    table = firesteel.from_changelog(stream).select("*", firesteel.row_kind())
    with pytest.raises(StreamingQueryException, match="teleported"):
        _run(table, tmp_path / "checkpoint")


def test_a_stream_of_debezium_events(session: SparkSession, tmp_path: Path) -> None:
    before, after = {"id": 1, "v": "a"}, {"id": 1, "v": "b"}
    events = [
        {"before": None, "after": before, "op": "c"},
        {"before": before, "after": after, "op": "u"},
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.txt").write_text("\n".join(json.dumps(event) for event in events))
    stream = session.readStream.text(str(tmp_path / "in"))
    schema = session.createDataFrame([], "id INT, v STRING").schema
    table = firesteel.from_debezium(stream, schema, keys="id")
    changes = table.select("*", firesteel.row_kind())
    assert _run(changes, tmp_path / "checkpoint") == [(1, "b", "+I")]


def test_names_and_values_with_quotes(session: SparkSession) -> None:
    df = session.createDataFrame([(1, "c")], ["it's {id}", "the `op"])
    table = firesteel.from_changelog(df, op=df.columns[1], keys=[df.columns[0]])
    assert [tuple(row) for row in table.collect()] == [(1,)]


def test_rows_that_are_cached_stay_so(session: SparkSession) -> None:
    df = session.createDataFrame([(1, "+I")], ["id", "op"]).cache()
    assert df.count() == 1
    for _ in range(2):
        table = firesteel.from_changelog(df, op="op", keys=["id"])
        assert "InMemoryTableScan" in firesteel.explain(table).plan
    df.unpersist()


def test_a_column_that_is_not_there(session: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN"):
        firesteel.from_changelog(session.range(2), op="nothing")


def _cascade(session: SparkSession) -> DataFrame:
    stream = session.readStream.format("rate").load()
    return stream.groupBy("value").count().groupBy("count").agg(F.count("*").alias("n"))


def test_explains_a_stream_that_is_not_started(session: SparkSession) -> None:
    explanation = firesteel.explain(_cascade(session))
    assert [fired.values["changelogMode"] for fired in explanation.fired] == [
        "[I,UB,UA,D]",
        "[I,UB,UA]",
    ]
    assert "state" in explanation.fired[0].values
    assert explanation.plan.startswith("Changelog:\n")
    assert "upsert key (count)" in explanation.plan


def test_explains_a_stream_in_an_output_mode(session: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="NOT_AN_UPSERT"):
        firesteel.explain(_cascade(session), "update")
    assert firesteel.explain(_cascade(session), "complete").fired[0].values["operator"] == "Table"
    with pytest.raises(ValueError, match="output_mode must be one of"):
        firesteel.explain(_cascade(session), "upsert")


def test_explain_of_spark_shows_the_changelog(
    session: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    _cascade(session).explain()
    assert "ChangelogAggregate" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"op": 1}, "op must be text, not 1"),
        ({"op": "op", "keys": 7}, "keys must be a column name or a sequence of them, not 7"),
        ({"op": "op", "sequence_by": ["v", None]}, "sequence_by must be a column name"),
    ],
)
def test_an_argument_of_another_type_is_named(
    session: SparkSession, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        firesteel.from_changelog(session.range(1), **arguments)


def test_what_is_no_dataframe_is_named() -> None:
    with pytest.raises(TypeError, match="from_debezium takes a DataFrame, not 'events'"):
        firesteel.from_debezium(cast("Any", "events"), "id INT")


@pytest.mark.parametrize("schema", [None, ["id"], LongType()], ids=str)
def test_what_is_no_schema_is_named(session: SparkSession, schema: Any) -> None:  # noqa: ANN401
    with pytest.raises(TypeError, match="schema must be a StructType or DDL text such as"):
        firesteel.from_debezium(session.range(1), schema)
