"""What `check` makes of the engine's answers; no JVM is started."""

from __future__ import annotations

from typing import Any, cast

import pytest
from pyspark.sql import Row, SparkSession

from firesteel import (
    CheckResult,
    ExtensionNotLoadedError,
    UnsupportedSparkError,
    VersionMismatchError,
    __version__,
    check,
)


class Engine:
    """Stands for a session: knows whether the function exists, and what it answers."""

    def __init__(self, spark_version: str = "4.3.0", **answer: Any) -> None:  # noqa: ANN401
        self.version = spark_version
        self.catalog = self
        self.conf: dict[str, str] = {}
        self.row = Row(
            **{
                "version": __version__,
                "spark_version": spark_version,
                "supported_spark": "4.3",
                "rooms": ["rank"],
            }
            | answer
        )
        self.loaded = True

    def functionExists(self, name: str) -> bool:
        return self.loaded and name == "firesteel_version"

    def sql(self, text: str) -> Engine:
        assert text == "SELECT * FROM firesteel_version()"
        return self

    def collect(self) -> list[Row]:
        return [self.row]


def session(engine: Engine) -> SparkSession:
    return cast("SparkSession", engine)


def without_extension(spark_version: str = "4.3.0") -> SparkSession:
    engine = Engine(spark_version)
    engine.loaded = False
    return session(engine)


def test_returns_versions_and_rooms() -> None:
    assert check(session(Engine())) == CheckResult(__version__, "4.3.0", ("rank",))


def test_names_the_setting_that_a_connect_server_needs() -> None:
    with pytest.raises(
        ExtensionNotLoadedError,
        match=r"server with --jars firesteel-4\.3\.jar --conf spark.sql.extensions=io.firesteel",
    ):
        check(without_extension())


def test_names_both_versions_when_the_jar_is_another() -> None:
    with pytest.raises(VersionMismatchError, match=rf"is 0\.0\.9, but .* is {__version__}"):
        check(session(Engine(version="0.0.9")))


@pytest.mark.parametrize("version", ["3.5.9", "4.30.0", "5.0.0"])
def test_names_the_versions_of_spark_that_are_supported(version: str) -> None:
    supported = r"supports Spark 4\.0, 4\.1, 4\.2 or 4\.3"
    with pytest.raises(UnsupportedSparkError, match=rf"{supported}, .* Spark {version}"):
        check(session(Engine(version)))


@pytest.mark.parametrize(("built_for", "running"), [("4.3", "4.1.4"), ("4.0", "4.3.0")])
def test_names_the_jar_that_fits_when_it_is_of_another_spark(built_for: str, running: str) -> None:
    fitting = f"give Spark .*firesteel-{running[:3]}.jar"
    with pytest.raises(UnsupportedSparkError, match=rf"Spark {built_for}, .*{running}: {fitting}"):
        check(session(Engine(running, supported_spark=built_for)))


def test_a_connect_server_may_run_another_supported_spark_than_the_client() -> None:
    assert check(session(Engine("4.1.4", supported_spark="4.1"))).spark_version == "4.1.4"


def test_blames_the_version_of_spark_when_no_jar_can_load_there() -> None:
    with pytest.raises(UnsupportedSparkError, match=r"supports Spark 4\.0, "):
        check(without_extension("3.5.9"))


def test_lets_other_failures_surface(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    monkeypatch.setattr(engine, "collect", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        check(session(engine))


@pytest.mark.parametrize(
    "given", [None, "spark", SparkSession.builder], ids=["none", "text", "builder"]
)
def test_names_what_is_no_session(given: Any) -> None:  # noqa: ANN401 - wrong ones
    with pytest.raises(TypeError, match=r"^spark = .*: must be the SparkSession, classic or"):
        check(given)
