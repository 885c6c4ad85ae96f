"""Errors of the engine in PySpark: every condition, from a classic session and from Connect."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.connect.session import SparkSession as ConnectSession

from tests.python.raised_conditions import conditions_of, wrong_answers

HERE = Path(__file__).parent
EXTENSIONS = "io.firesteel.FiresteelExtensions,RaiseCondition"

CALLS = {
    "SELECT row_kind(1)": "row_kind()",
    "SELECT * FROM firesteel_explain()": "firesteel_explain(sql)",
    "SELECT * FROM firesteel_version(1)": "firesteel_version()",
    "SELECT * FROM from_changelog()": "from_changelog",
    "SELECT * FROM from_debezium()": "from_debezium",
    "SELECT * FROM from_upsert(TABLE(SELECT 1), 'a INT')": "from_upsert",
    "SELECT * FROM to_upsert(TABLE(SELECT 1 AS a))": "to_upsert",
    "SELECT * FROM from_changelog(TABLE(SELECT 1 AS a), op => 1)": "from_changelog",
}


@pytest.fixture(scope="module")
def jars(jar: Path, spark_home: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """firesteel's jar, and one with an extension that raises any condition."""
    folder = tmp_path_factory.mktemp("raise-condition")
    class_path = f"{spark_home / 'jars'}/*:{jar}"
    source = HERE / "java" / "RaiseCondition.java"
    subprocess.run(["javac", "-cp", class_path, "-d", folder, source], check=True)
    raising = folder / "raise-condition.jar"
    subprocess.run(["jar", "--create", "--file", raising, "-C", folder, "."], check=True)
    return f"{jar},{raising}"


@pytest.fixture(scope="module")
def remote(
    jars: str,
    connect_server: Callable[..., AbstractContextManager[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SparkSession]:
    settings = ("--jars", jars, "--conf", f"spark.sql.extensions={EXTENSIONS}")
    with connect_server(tmp_path_factory.mktemp("connect"), *settings) as address:
        session = cast("SparkSession", ConnectSession.builder.remote(address).create())
        yield session
        session.stop()


def test_the_jar_has_the_conditions_of_all_rooms(jar: Path) -> None:
    sources = HERE.parents[1].glob("scala/*/resources/error/*.json")
    named = [name for source in sources for name in json.loads(source.read_text())]
    assert sorted(conditions_of(jar)) == sorted(named)


def test_every_condition_is_its_own_in_a_classic_session(
    jar: Path, jars: str, run_python: Callable[..., str]
) -> None:
    printed = run_python(f"""
import sys
from pathlib import Path
from pyspark.sql import SparkSession
sys.path.append({str(HERE.parents[1])!r})
from tests.python.raised_conditions import wrong_answers
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
builder = builder.config("spark.sql.extensions", {EXTENSIONS!r}).config("spark.jars", {jars!r})
print("wrong:", wrong_answers(builder.getOrCreate(), Path({str(jar)!r})))
""")
    assert printed.splitlines()[-1] == "wrong: []"


def test_every_condition_is_its_own_over_connect(jar: Path, remote: SparkSession) -> None:
    assert wrong_answers(remote, jar) == []


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("client", ["session", "remote"])
def test_a_call_with_wrong_arguments_says_what_is_expected(
    client: str, call: str, request: pytest.FixtureRequest
) -> None:
    spark: SparkSession = request.getfixturevalue(client)
    with pytest.raises(AnalysisException) as refused:
        spark.sql(call)
    assert refused.value.getCondition() == "FIRESTEEL_WRONG_ARGUMENTS"
    assert refused.value.getSqlState()
    assert f"Write {CALLS[call]}" in str(refused.value)
