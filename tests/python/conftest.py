"""What the whole-system tests share: a session with the jar, and other processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

import firesteel

SPARK_HOME = Path(pyspark.__file__).parent
JAR = Path(firesteel.__file__).parent / "jars" / "firesteel.jar"

Run = Callable[..., str]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """Start a small local session with the extension; it ends with the process."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False)
        .config("spark.sql.shuffle.partitions", 4)
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    )
    session = firesteel.configure(builder).getOrCreate()
    firesteel.check(session)
    return session


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    """A session of its own in the running Spark, for tests that change settings."""
    return spark.newSession()


@pytest.fixture(scope="session")
def jar() -> Path:
    """The staged jar."""
    assert JAR.is_file(), f"{JAR} is missing: run `make setup`"
    return JAR


@pytest.fixture(scope="session")
def spark_home() -> Path:
    """The Spark that PySpark ships."""
    return SPARK_HOME


@pytest.fixture(scope="session")
def plain_environment() -> dict[str, str]:
    """The environment of a process in which nobody has configured anything."""
    ours = ("PYSPARK_", "SPARK_", "PYTHONPATH", "MASTER")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@pytest.fixture
def run(tmp_path: Path, plain_environment: dict[str, str]) -> Run:
    """Runs a command in an empty folder, and returns what it printed or fails with all of it."""

    def run_command(*command: str | Path, **environment: str) -> str:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=tmp_path,
            env=plain_environment | environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, f"{command[0]} failed\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run_command


@pytest.fixture
def run_python(run: Run) -> Run:
    """Runs a Python program in a process of its own, which has no Spark yet."""
    return lambda program, **environment: run(sys.executable, "-c", program, **environment)
