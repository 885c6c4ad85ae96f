"""The demo: what it refuses, what it asks, and that it would notice a wrong answer."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, DataType, IntegerType, MapType, StringType, StructType
from rich.console import Console

from demo import arguments, comparison, enrichment, main, page, table
from demo.comparison import Comparison, Work
from demo.enrichment import Enriched
from demo.errors import DemoError
from demo.queries import Query, free_name, queries, quoted
from demo.table import Table, check_columns, check_files, is_comparable
from firesteel._supported_spark import INSTALLED_SPARK

needs_arrow_functions = pytest.mark.skipif(
    INSTALLED_SPARK == "4.0", reason="PySpark 4.0 has no Arrow functions for connectors in Python"
)

TABLE = Table("some rows", ("shop",), ("price",), ("shop", "price", "tags"), ("shop", "price"))


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        arguments.parse(argv)
    assert stopped.value.code == 2
    return capsys.readouterr().err


def test_without_arguments_there_is_a_made_up_table_of_millions() -> None:
    asked = arguments.parse([])
    assert asked.data is None
    assert asked.rows >= 2_000_000


def test_columns_are_named_with_commas_between(tmp_path: Path) -> None:
    asked = arguments.parse(["--data", str(tmp_path), "--key", "a, b", "--order", "c"])
    assert (asked.key, asked.order, asked.format) == (("a", "b"), ("c",), "parquet")


@pytest.mark.parametrize("option", ["--key", "--order"])
def test_columns_without_a_table_are_refused(
    capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert f"{option} is about your own table: name its folder with --data" in refused(
        capsys, option, "a"
    )


def test_a_missing_folder_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    missing = tmp_path / "absent"
    assert f"--data {missing}: no such folder" in refused(capsys, "--data", str(missing))


@pytest.mark.parametrize("value", ["0", "-1", "ten", "1.5"])
def test_a_number_that_is_not_positive_is_refused(
    capsys: pytest.CaptureFixture[str], value: str
) -> None:
    assert f"'{value}' is not a positive whole number" in refused(capsys, f"--n={value}")


def test_an_unknown_format_is_refused_with_the_known_ones(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    message = refused(capsys, "--data", str(tmp_path), "--format", "orc")
    assert all(known in message for known in ("'orc'", "parquet", "csv", "json"))


def test_columns_are_found_whatever_their_capitals() -> None:
    assert check_columns(["Shop", "price"], ["SHOP"], "--key") == ("Shop",)


def test_a_missing_column_is_named_beside_those_that_exist() -> None:
    with pytest.raises(DemoError, match="--key shpo: no such column; the table has shop, price"):
        check_columns(["shop", "price"], ["shpo"], "--key")


def test_a_column_that_was_not_named_is_asked_for() -> None:
    with pytest.raises(DemoError, match="name a column with --order: the table has shop, price"):
        check_columns(["shop", "price"], [], "--order")


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(DemoError, match="no files in"):
        check_files(tmp_path, "parquet")


def test_text_is_not_taken_for_parquet(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("shop,price\n", encoding="utf-8")
    check_files(tmp_path, "csv")
    with pytest.raises(DemoError, match=r"a\.csv is not Parquet: name the right --format"):
        check_files(tmp_path, "parquet")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (IntegerType(), True),
        (MapType(StringType(), IntegerType()), False),
        (ArrayType(MapType(StringType(), IntegerType())), False),
        (StructType().add("a", ArrayType(IntegerType())), True),
        (StructType().add("a", MapType(StringType(), IntegerType())), False),
    ],
)
def test_maps_cannot_be_compared_wherever_they_sit(kind: DataType, expected: bool) -> None:
    assert is_comparable(kind) is expected


def test_row_number_is_compared_without_the_columns_that_ties_leave_open() -> None:
    compared = {query.function: query.compared for query in queries(TABLE, 10)}
    assert compared["ROW_NUMBER"] == ("shop", "price", "rn")
    assert compared["RANK"] == (*TABLE.comparable, "rn")


def test_the_smallest_come_first_when_asked() -> None:
    assert all("ASC" in query.sql for query in queries(TABLE, 10, ascending=True))
    assert all("DESC" in query.sql for query in queries(TABLE, 10))


def test_the_number_gets_a_name_that_the_table_has_not() -> None:
    own = replace(TABLE, columns=("shop", "price", "RN", "rn_"))
    assert free_name("rn", own.columns) == "rn__"
    assert all("rn__ <=" in query.sql for query in queries(own, 10))


def test_a_name_is_quoted_for_sql() -> None:
    assert quoted("a`b c") == "`a``b c`"


def test_sides_alternate() -> None:
    assert comparison.alternating(3) == [False, True, True, False, False, True]
    assert comparison.steps(3) == 2 + len(comparison.alternating(3))


def compared(off: Work, on: Work) -> Comparison:
    return Comparison(Query("top", "RANK", "", ()), off, on, [2.0, 30.0, 2.0], [1.0, 10.0, 1.0])


def test_the_speed_up_is_the_median_of_pairs() -> None:
    work = Work(1, "a", 1, 1)
    assert compared(work, work).speed_up == 2.0


def test_different_answers_are_shown_as_different() -> None:
    console = Console(file=StringIO(), width=120)
    console.print(page.comparison_table([compared(Work(1, "a", 5, 7), Work(1, "b", 5, None))]))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "DIFFERENT" in shown
    assert "equal" not in shown
    assert "not counted" in shown


def test_a_digest_tells_a_wrong_answer_from_a_right_one(spark: SparkSession) -> None:
    def digest(sql: str) -> str:
        return comparison.run(spark.sql(sql), ["a", "b"]).digest

    right = "SELECT id % 7 AS a, id AS b FROM range(100)"
    assert digest(f"{right} ORDER BY b DESC") == digest(right)
    assert digest(f"{right} WHERE id <> 42") != digest(right)
    assert digest("SELECT id % 7 AS a, IF(id = 42, 0, id) AS b FROM range(100)") != digest(right)


def test_the_queries_give_equal_answers_and_sort_less(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    lines = [f"s{i % 7},{i},{(i * 31) % 50}" for i in range(500)]
    text = "\n".join(["Shop,rn,price", *lines])
    (tmp_path / "data" / "sales.csv").write_text(text, encoding="utf-8")
    asked = arguments.parse(
        ["--data", str(tmp_path / "data"), "--format=csv", "--key=shop", "--order=price"]
    )
    own = table.register(spark, asked, tmp_path, tmp_path)
    assert (own.key, own.description) == (("Shop",), f"500 rows from {tmp_path / 'data'}")
    first, *_ = queries(own, 3)
    found = comparison.compare(spark, first, repetitions=1, done=lambda: None)
    assert found.equal
    assert found.off.rows == 3 * 7
    assert found.off.rows_sorted is not None
    assert found.off.rows_sorted > 500
    assert found.on.rows_sorted == 0
    assert spark.conf.get(comparison.SWITCH) == "true"


def test_a_query_that_spark_refuses_is_an_error_before_anything_runs(spark: SparkSession) -> None:
    with pytest.raises(DemoError, match="UNRESOLVED_COLUMN"):
        main.check_queries(spark, [Query("top", "RANK", "SELECT absent FROM range(1)", ())])


def enriched(digest: str, hits: int, misses: int) -> Enriched:
    shuffle = "none: not asked for"
    return Enriched(enrichment.MODES[0], shuffle, digest, 7, hits, misses, 8, [3.0, 1.0, 2.0])


def test_an_enrichment_with_another_answer_is_shown_as_wrong() -> None:
    console = Console(file=StringIO(), width=80)
    found = [enriched("right", 3, 1), enriched("wrong", 0, 0)]
    console.print(page.enrichment_table(found, "right"))
    shown = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert [line.split()[4:] for line in shown if "not asked" in line] == [
        ["equal", "7", "75%", "8", "2.00"],
        ["WRONG", "7", "0%", "8", "2.00"],
    ]


@needs_arrow_functions
def test_each_mode_of_a_lookup_join_is_planned_and_gives_the_rows_of_a_plain_join(
    spark: SparkSession, tmp_path: Path
) -> None:
    session = spark.newSession()
    subject = enrichment.prepare(session, tmp_path, 4000)
    assert (subject.customers, subject.cached) == (400, 50)
    runs: list[None] = []
    found = enrichment.compare(session, subject, 1, lambda: runs.append(None))
    assert len(runs) == enrichment.steps(1)
    assert {one.digest for one in found} == {enrichment.expected(session, subject)}
    assert [one.shuffle.partition(":")[0] for one in found] == ["none", "hash", "custom"]
    none, _, custom = found
    assert custom.requests < none.requests
    assert custom.hit_rate > none.hit_rate
    assert 0 < custom.files_opened <= 8 < none.files_opened
