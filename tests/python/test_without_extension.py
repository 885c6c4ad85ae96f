"""What a user is told when the extension is not there; each case is a process of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

PROGRAM = """
import warnings
import firesteel
from pyspark.sql import SparkSession

def plain():
    return SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)

def told(call):
    try:
        call()
    except firesteel.ExtensionNotLoadedError as error:
        print("told:", error)

"""


@pytest.fixture
def told(run_python: Callable[..., str]) -> Callable[[str], list[str]]:
    def run_program(body: str) -> list[str]:
        printed = run_python(PROGRAM + textwrap.dedent(body))
        return [line for line in printed.splitlines() if line.startswith("told:")]

    return run_program


def test_names_the_setting_that_is_missing(told: Callable[[str], list[str]]) -> None:
    (check, explain, stream) = told("""
        spark = plain().getOrCreate()
        told(lambda: firesteel.check(spark))
        told(lambda: firesteel.explain(spark.range(1)))
        query = spark.readStream.format("rate").load().writeStream.format("noop").start()
        told(lambda: firesteel.explain(query))
        query.stop()
    """)
    assert "spark.sql.extensions does not name io.firesteel.FiresteelExtensions" in check
    assert "restart Python" in check
    assert explain == check
    assert "firesteel.check(spark)" in stream


def test_says_that_the_class_could_not_be_loaded(told: Callable[[str], list[str]]) -> None:
    (check,) = told("""
        extension = "io.firesteel.FiresteelExtensions"
        spark = plain().config("spark.sql.extensions", extension).getOrCreate()
        told(lambda: firesteel.check(spark))
    """)
    assert "could not load it" in check


def test_warns_and_tells_when_configured_too_late(told: Callable[[str], list[str]]) -> None:
    (warned, check, again) = told("""
        plain().getOrCreate()
        with warnings.catch_warnings(record=True) as caught:
            spark = firesteel.configure(plain()).getOrCreate()
        print("told:", caught[0].message)
        told(lambda: firesteel.check(spark))
        spark.stop()
        spark = firesteel.configure(plain()).getOrCreate()
        told(lambda: firesteel.check(spark))
    """)
    assert "already runs" in warned
    assert "does not name" in check
    assert "could not load it" in again, "a JVM that runs already does not see the jar"


def test_a_second_session_of_the_same_jvm_has_it_too(told: Callable[[str], list[str]]) -> None:
    (rooms,) = told("""
        firesteel.configure(plain()).getOrCreate().stop()
        spark = firesteel.configure(plain()).getOrCreate()
        print("told:", firesteel.check(spark).rooms)
    """)
    assert "rank" in rooms
