"""A user's way through one session: configure, check, query, explain, switch off."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F

import firesteel
from firesteel._supported_spark import INSTALLED_SPARK

TOP_TWO = """
  SELECT k, v FROM (
    SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM events)
  WHERE rn <= 2"""


@pytest.fixture(autouse=True)
def events(session: SparkSession) -> None:
    """1,000 rows, 7 keys, no ties."""
    session.range(1000).selectExpr("id % 7 AS k", "id AS v").createOrReplaceTempView("events")


def two_largest_per_key() -> list[tuple[int, int]]:
    return sorted((k, v) for k in range(7) for v in sorted(range(k, 1000, 7), reverse=True)[:2])


def pairs(df: DataFrame) -> list[tuple[int, int]]:
    return sorted((row["k"], row["v"]) for row in df.collect())


def test_check_tells_versions_and_rooms(session: SparkSession) -> None:
    found = firesteel.check(session)
    assert found.version == firesteel.__version__
    assert found.spark_version == session.version
    assert "rank" in found.rooms


def test_package_and_jar_support_the_same_spark(session: SparkSession) -> None:
    row = session.sql("SELECT supported_spark FROM firesteel_version()").collect()[0]
    assert row["supported_spark"] == INSTALLED_SPARK


def test_sql_fires_and_answers_as_before(session: SparkSession) -> None:
    top = session.sql(TOP_TWO)
    assert pairs(top) == two_largest_per_key()
    assert firesteel.explain(top).fired


def test_the_dataframe_api_fires_too(session: SparkSession) -> None:
    rank = F.rank().over(Window.partitionBy("k").orderBy(F.desc("v")))
    top = session.table("events").withColumn("r", rank).where(F.col("r") <= F.lit(2))
    assert pairs(top) == two_largest_per_key()
    assert firesteel.explain(top).fired


def test_off_is_sparks_own_plan(session: SparkSession) -> None:
    session.sql("SET spark.firesteel.enabled = false")
    top = session.sql(TOP_TWO)
    explanation = firesteel.explain(top)
    assert pairs(top) == two_largest_per_key()
    assert not explanation.fired
    assert "Window" in explanation.plan


def test_a_switch_of_one_room_is_named_by_its_decline(session: SparkSession) -> None:
    session.sql("SET spark.firesteel.rank.enabled = false")
    (declined,) = firesteel.explain(session.sql(TOP_TWO)).declined
    assert declined.code == "RANK.SWITCHED_OFF"
    assert declined.setting == "spark.firesteel.rank.enabled"


def test_a_decline_names_its_values_and_the_setting(session: SparkSession) -> None:
    (declined,) = firesteel.explain(session.sql(TOP_TWO.replace("<= 2", "<= 2000"))).declined
    assert declined.code == "RANK.LIMIT_TOO_LARGE"
    assert "2000" in declined.values.values()
    assert declined.setting == "spark.firesteel.rank.maxLimit"


def test_explains_without_running(session: SparkSession) -> None:
    assert "isFinalPlan=false" in firesteel.explain(session.sql(TOP_TWO)).plan


def test_explains_the_final_plan_of_a_query_that_has_run(session: SparkSession) -> None:
    top = session.sql(TOP_TWO)
    top.collect()
    explanation = firesteel.explain(top)
    assert "isFinalPlan=true" in explanation.plan
    assert len(explanation.fired) == 1


@pytest.mark.parametrize(
    ("columns", "key", "declined"),
    [
        ("k, count(DISTINCT third(v)) AS x", "k", True),
        ("k, count(DISTINCT v % 9) FILTER (WHERE third(v) = 1) AS x", "k", True),
        # Functions of keys and of results are taken out of it.
        ("k, third(k) AS x, count(DISTINCT v % 9) AS z", "k", False),
        ("third(k + count(DISTINCT v % 40)) + k AS x, count(DISTINCT v % 40) AS z", "k", False),
        ("third(k) AS x, count(DISTINCT k) AS z", "third(k)", False),
    ],
)
def test_python_functions_beside_distinct_values(
    session: SparkSession, columns: str, key: str, declined: bool
) -> None:
    session.udf.register("third", lambda n: None if n is None else n % 3, "bigint")
    sql = f"SELECT {columns}, count(DISTINCT v % 50) AS y, sum(v) AS s FROM events GROUP BY {key}"
    ours = session.sql(sql)
    rows = sorted(map(tuple, ours.collect()))
    codes = {decision.code for decision in firesteel.explain(ours).declined}
    assert {code for code in codes if code.startswith("SKEW.")} == (
        {"SKEW.PYTHON_FUNCTION"} if declined else set()
    )
    session.conf.set("spark.firesteel.enabled", False)
    try:
        assert sorted(map(tuple, session.sql(sql).collect())) == rows
    finally:
        session.conf.unset("spark.firesteel.enabled")


def test_explains_inside_a_subquery(session: SparkSession) -> None:
    assert firesteel.explain(session.sql(f"SELECT (SELECT sum(v) FROM ({TOP_TWO}))")).fired


def test_explains_inside_a_cached_plan(session: SparkSession) -> None:
    cached = session.sql(TOP_TWO).cache()
    try:
        assert firesteel.explain(cached.where("v > 3")).fired
    finally:
        cached.unpersist()


def test_prints_an_explanation(session: SparkSession) -> None:
    text = str(firesteel.explain(session.sql(TOP_TWO)))
    assert text.startswith("Fired:\n")
    assert "\nDeclined:\n  nothing\n" in text
    assert "TopN" in text.partition("\nPlan:\n")[2]


def test_explains_sql_text_from_any_client(session: SparkSession) -> None:
    text = TOP_TWO.replace("'", "''")
    rows = session.sql(f"SELECT * FROM firesteel_explain('{text}')").collect()
    assert [row["outcome"] for row in rows] == ["fired", "plan"]
    assert rows[0]["values"]
    assert "TopN" in rows[-1]["message"]


def test_explains_the_last_batch_of_a_stream(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    lines = session.readStream.schema("v long").json(str(tmp_path / "in"))
    query = (
        lines.groupBy("v").count().writeStream.format("memory").queryName("counts")
        .outputMode("complete").option("checkpointLocation", str(tmp_path / "state")).start()
    )  # fmt: skip
    try:
        assert firesteel.explain(query).plan == ""
        (tmp_path / "in" / "one.json").write_text('{"v": 1}\n')
        query.processAllAvailable()
        assert "StateStoreSave" in firesteel.explain(query).plan
    finally:
        query.stop()


def test_lists_its_settings(session: SparkSession) -> None:
    keys = {row["key"] for row in session.sql("SET -v").collect()}
    assert {"spark.firesteel.enabled", "spark.firesteel.rank.maxLimit"} <= keys


def test_refuses_an_unknown_setting_and_names_the_near_one(session: SparkSession) -> None:
    with pytest.raises(AnalysisException, match=r"spark\.firesteel\.rank\.maxLimit") as refused:
        session.sql("SET spark.firesteel.rank.maxlimit = 5")
    assert refused.value.getCondition() == "FIRESTEEL_UNKNOWN_SETTING"


@pytest.mark.parametrize("mend", ["spark.conf.unset", "RESET"])
def test_an_unknown_setting_that_came_unseen_says_how_to_unset_it(
    session: SparkSession, mend: str
) -> None:
    key = "spark.firesteel.rnk.enabled"
    session.conf.set(key, "false")
    with pytest.raises(AnalysisException, match=r"spark\.firesteel\.rank\.enabled") as refused:
        session.sql(TOP_TWO)
    assert f'spark.conf.unset("{key}"), in SQL RESET {key}.' in str(refused.value)
    if mend == "RESET":
        session.sql(f"RESET {key}").show()
    else:
        session.conf.unset(key)
    assert pairs(session.sql(TOP_TWO)) == two_largest_per_key()


def test_workers_run_the_interpreter_of_the_session(session: SparkSession) -> None:
    @F.udf("string")
    def interpreter() -> str:
        return sys.executable

    assert session.range(1).select(interpreter().alias("path")).collect() == [
        Row(path=sys.executable)
    ]
