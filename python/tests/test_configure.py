"""What `configure` does to a builder; no JVM is started."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from firesteel import _jvm, configure, session
from firesteel._errors import EXTENSION
from firesteel._supported_spark import INSTALLED_SPARK
from firesteel.session import _UNSEEN_SETTINGS

MASTERS = ("SPARK_REMOTE", "MASTER")
JAR = f"firesteel-{INSTALLED_SPARK}.jar"

pytestmark = pytest.mark.usefixtures("plain_environment")


@pytest.fixture
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A process with nothing set from outside, no session, and a staged jar."""
    for variable in [*_UNSEEN_SETTINGS, "PYSPARK_PYTHON", "PYSPARK_GATEWAY_PORT", *MASTERS]:
        monkeypatch.setenv(variable, "")  # so that what configure sets is undone after the test
        monkeypatch.delenv(variable)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(_jvm, "start", lambda: None)
    monkeypatch.setattr(_jvm, "lacks_jar", lambda: False)
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / JAR).touch()
    monkeypatch.setattr(session, "files", lambda _: tmp_path)


def local_builder() -> SparkSession.Builder:
    return SparkSession.builder.master("local[2]")


def test_names_the_jar_and_the_extension(tmp_path: Path) -> None:
    options = configure(local_builder())._options
    assert options["spark.jars"] == str(tmp_path / "jars" / JAR)
    assert options["spark.sql.extensions"] == EXTENSION


def test_returns_the_same_builder() -> None:
    builder = local_builder()
    assert configure(builder) is builder


def test_keeps_extensions_and_jars_already_on_the_builder(tmp_path: Path) -> None:
    builder = local_builder().config("spark.sql.extensions", "other.Extension")
    options = configure(builder.config("spark.jars", "a.jar, b.jar"))._options
    assert options["spark.sql.extensions"] == f"other.Extension,{EXTENSION}"
    assert options["spark.jars"] == f"a.jar,b.jar,{tmp_path / 'jars' / JAR}"


def test_changes_nothing_when_called_twice() -> None:
    once = dict(configure(local_builder())._options)
    assert configure(configure(local_builder()))._options == once


def test_without_a_jar_says_how_to_build_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(session, "files", lambda _: tmp_path / "elsewhere")
    with pytest.raises(FileNotFoundError, match="make setup"):
        configure(local_builder())


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local-cluster[2,1,1024]"])
def test_runs_local_workers_in_this_interpreter(master: str) -> None:
    configure(SparkSession.builder.master(master))
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


def test_takes_no_master_at_all_for_local_as_spark_does() -> None:
    configure(SparkSession.builder)
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


def test_takes_the_master_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASTER", "yarn")
    configure(SparkSession.builder)
    assert "PYSPARK_PYTHON" not in os.environ


@pytest.mark.parametrize("master", ["yarn", "spark://host:7077", "k8s://https://host"])
def test_never_chooses_the_interpreter_of_a_cluster(master: str) -> None:
    configure(SparkSession.builder.master(master))
    assert "PYSPARK_PYTHON" not in os.environ


@pytest.mark.parametrize("variable", _UNSEEN_SETTINGS)
def test_leaves_the_interpreter_alone_when_a_master_may_come_unseen(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "something")
    configure(SparkSession.builder)
    assert "PYSPARK_PYTHON" not in os.environ


def test_keeps_an_interpreter_that_is_chosen_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python")
    configure(local_builder())
    assert os.environ["PYSPARK_PYTHON"] == "/opt/python"


def test_changes_nothing_on_a_connect_builder() -> None:
    builder = SparkSession.builder.remote("sc://host:15002")
    before = dict(builder._options)
    assert configure(builder)._options == before
    assert "PYSPARK_PYTHON" not in os.environ


def test_changes_nothing_when_the_environment_names_a_connect_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://host:15002")
    assert configure(SparkSession.builder)._options == {}


def test_configures_a_connect_server_that_starts_in_this_process() -> None:
    options = configure(SparkSession.builder.remote("local[2]"))._options
    assert options["spark.sql.extensions"] == EXTENSION
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


def test_keeps_what_spark_submit_was_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = {"spark.jars": "file:/a.jar", "spark.sql.extensions": "other.Extension"}
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    monkeypatch.setattr(_jvm, "launched_with", told.get)
    options = configure(SparkSession.builder)._options
    assert options["spark.jars"] == f"file:/a.jar,{tmp_path / 'jars' / JAR}"
    assert options["spark.sql.extensions"] == f"other.Extension,{EXTENSION}"
    assert "PYSPARK_PYTHON" not in os.environ


def test_adds_no_second_jar_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"spark.jars": f"file:/opt/{JAR},file:/a.jar"}
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    monkeypatch.setattr(_jvm, "launched_with", told.get)
    assert "spark.jars" not in configure(SparkSession.builder)._options
    builder = SparkSession.builder.config("spark.jars", f"/opt/{JAR},/a.jar")
    assert configure(builder)._options["spark.jars"] == f"/opt/{JAR},/a.jar"


def test_warns_when_the_jvm_is_running_without_the_jar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_jvm, "lacks_jar", lambda: True)
    with pytest.warns(UserWarning, match=rf"pass --jars .*{JAR} to spark-submit") as warned:
        configure(local_builder())
    assert [w.filename for w in warned] == [__file__]


@pytest.mark.parametrize("extensions", ["", "other.Extension"])
def test_warns_when_a_session_without_firesteel_is_running(
    monkeypatch: pytest.MonkeyPatch, extensions: str
) -> None:
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: Running(extensions))
    with pytest.warns(UserWarning, match="restart Python"):
        configure(local_builder())


def test_is_silent_when_the_running_session_has_firesteel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: Running(f"other,{EXTENSION}"))
    configure(local_builder())


class Running:
    """A running session, of which only one setting is asked."""

    def __init__(self, extensions: str) -> None:
        self.conf: Any = {"spark.sql.extensions": extensions}


@pytest.mark.parametrize("given", [None, "local[2]", SparkSession], ids=str)
def test_names_what_is_no_builder(given: Any) -> None:  # noqa: ANN401 - wrong ones
    with pytest.raises(TypeError, match=r"^builder = .*configure\(SparkSession.builder\)"):
        configure(given)
