"""`live_table`: rows of a running query, as they are after each micro-batch."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import firesteel

CHANGES = "SELECT * FROM VALUES {} AS t(item, place, op)"


def changes(spark: SparkSession, *rows: str) -> DataFrame:
    return spark.sql(CHANGES.format(", ".join(rows)))


def shown(table: firesteel.LiveTable) -> list[tuple[object, ...]]:
    return [tuple(row) for row in table.rows]


def test_changes_by_keys(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    table = firesteel.live_table("place", title="top")
    table(changes(spark, "('b', 2, '+I')", "('a', 1, '+I')"), 0)
    swapped = ("('b', 1, '+U')", "('a', 1, '-U')", "('a', 2, '+U')", "('b', 2, '-U')")
    table(changes(spark, *swapped), 1)
    table(changes(spark, *swapped), 1)  # repeated
    assert shown(table) == [("b", 1), ("a", 2)]
    table(changes(spark, "('b', 1, '-D')", "('x', 9, '-D')"), 2)
    assert shown(table) == [("a", 2)]
    assert capsys.readouterr().out.split("\n\n")[-1].split() == ["Rows", "item", "place", "a", "2"]
    assert "top, micro-batch 2" in table._repr_html_()


def test_changes_of_whole_rows(spark: SparkSession) -> None:
    table = firesteel.live_table(order=["item", "place"])
    table(changes(spark, *["('a', 1, '+I')"] * 2, "(NULL, 3, '+I')", "('a', NULL, '+I')"), 0)
    table(changes(spark, "('a', 1, '-D')"), 1)
    assert shown(table) == [("a", 1), ("a", None), (None, 3)]


@pytest.mark.parametrize("keys", ["place", None])
def test_a_row_that_comes_and_goes_in_a_batch(spark: SparkSession, keys: str | None) -> None:
    table = firesteel.live_table(keys, order=["item", "place"])
    rows = (
        "('a', 1, '+I')",
        "('a', 1, '-D')",
        "('b', 2, '+I')",
        "('b', 2, '-U')",
        "('c', 2, '+U')",
    )
    table(changes(spark, *rows).coalesce(1), 0)
    assert shown(table) == [("c", 2)]
    # Through another row, and back.
    back = ("('c', 2, '-U')", "('d', 2, '+U')", "('d', 2, '-U')", "('c', 2, '+U')")
    table(changes(spark, *back).coalesce(1), 1)
    assert shown(table) == [("c", 2)]


def test_columns_of_any_type_order_rows(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT named_struct('a', 1, 'b', b) AS s, map(1, m) AS m, d FROM VALUES "
        "('x', 1, double('NaN')), (NULL, 2, 1.0D), ('x', 1, 2.0D) AS t(b, m, d)"
    )
    table = firesteel.live_table(order=["s", "m", "d"])
    table(rows, 0)
    assert [(row.s.b, row.m, str(row.d)) for row in table.rows] == [
        ("x", {1: 1}, "2.0"),
        ("x", {1: 1}, "nan"),
        (None, {1: 2}, "1.0"),
    ]


def test_names_are_in_any_case(spark: SparkSession) -> None:
    table = firesteel.live_table("Place", order="ITEM")
    for batch, op in enumerate(("+I", "-D")):
        table(changes(spark, f"('a', 1, '{op}')").withColumnRenamed("op", "OP"), batch)
    assert shown(table) == []
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(ValueError, match="no column Place"):
            firesteel.live_table("Place")(changes(spark, "('a', 1, '+I')"), 0)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_times_are_of_the_session_s_zone(spark: SparkSession) -> None:
    rows = spark.sql("SELECT timestamp_seconds(0) AS ts, timestamp_ntz'2026-01-01 00:00:00' AS ntz")
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        table = firesteel.live_table()
        table(rows, 0)
        assert "1970-01-01 09:00:00" in str(table)
        assert "2026-01-01 00:00:00" in str(table)
        spark.conf.set("spark.sql.session.timeZone", "+02:30")
        table(rows, 1)
        assert "1970-01-01 02:30:00" in str(table)
        for zone_of_spark in ("PST", "Z"):  # the first is none of Python's
            spark.conf.set("spark.sql.session.timeZone", zone_of_spark)
            table(rows, 2)
            assert "2026-01-01 00:00:00" in str(table)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone or "UTC")


def test_one_table_in_two_statements_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.readStream.format("rate").load()
    both, table = firesteel.statement_set(spark, str(tmp_path / "set")), firesteel.live_table()
    both.insert("a", rows, table)
    assert "shown once" in str(both.explain())
    with pytest.raises(ValueError, match="write to one target"):
        both.insert("b", rows, table)


def test_rows_that_only_come_and_whole_results(spark: SparkSession) -> None:
    for complete, expected in ((False, [(0,), (0,)]), (True, [(0,)])):
        table = firesteel.live_table(complete=complete)
        for batch in (0, 1):
            table(spark.range(1), batch)
        assert shown(table) == expected


def test_a_changelog_and_a_statement_set(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "words"
    folder.mkdir()
    stream = spark.readStream.schema("word STRING").option("maxFilesPerTrigger", 1)
    counts = stream.csv(str(folder)).groupBy("word").count()
    alone, in_set = firesteel.live_table("word"), firesteel.live_table("word")
    for file, words in enumerate(("a\nb\na\n", "b\nb\nc\n")):
        (folder / f"{file}.csv").write_text(words)
        every = counts.select("*", firesteel.row_kind().alias("op"))
        query = every.writeStream.foreachBatch(alone)
        query = query.option("checkpointLocation", str(tmp_path / "cp")).trigger(availableNow=True)
        query.start().awaitTermination()
        both = firesteel.statement_set(spark, str(tmp_path / "set"))
        both.insert("counts", every, in_set, mode="update")
        assert "a live table" in str(both.explain())
        both.start(trigger={"availableNow": True}).awaitTermination()
        expected = [("a", 2), ("b", 1 if file == 0 else 3), *([("c", 1)] if file else [])]
        assert shown(alone) == expected
        assert shown(in_set) == expected


def test_another_query_empties_the_table(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.csv").write_text("a\n")
    rows = spark.readStream.schema("word STRING").csv(str(tmp_path / "in"))
    table = firesteel.live_table()
    for checkpoint in ("one", "two"):
        query = rows.writeStream.foreachBatch(table).trigger(availableNow=True)
        query.option("checkpointLocation", str(tmp_path / checkpoint)).start().awaitTermination()
        assert shown(table) == [("a",)]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"keys": []}, "keys must name at least one column"),
        ({"keys": "no"}, "no column no: it has item, place"),
        ({"op": "item"}, "item = 'a': must be"),
        ({"op": ""}, "op = ''"),
    ],
)
def test_bad_input(spark: SparkSession, arguments: dict[str, str], found: str) -> None:
    with pytest.raises(ValueError, match=found):
        firesteel.live_table(**arguments)(changes(spark, "('a', 1, '+I')"), 0)  # type: ignore[arg-type]


def test_bounds(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="more than 10,000 rows"):
        firesteel.live_table()(spark.range(10_001), 0)
    table = firesteel.live_table()
    for _ in range(2):  # repeated, as after a restart
        with pytest.raises(ValueError, match="more than 10,000 rows"):
            table(spark.range(10_001), 0)
    assert shown(table) == []
    with pytest.raises(firesteel.UnsupportedOnConnectError, match="apply_changes"):
        pickle.dumps(firesteel.live_table())
