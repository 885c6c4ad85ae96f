"""What the whole-system tests share: a session with the jar, and other processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

import firesteel
from firesteel._supported_spark import INSTALLED_SPARK

EXTENSION = "io.firesteel.FiresteelExtensions"
SPARK_HOME = Path(pyspark.__file__).parent
JAR = Path(firesteel.__file__).parent / "jars" / f"firesteel-{INSTALLED_SPARK}.jar"

Run = Callable[..., str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of tests/slow.txt and tests/long.txt, which `make test` leaves out."""
    for mark in (pytest.mark.slow, pytest.mark.long):
        lines = (Path(__file__).parents[1] / f"{mark.name}.txt").read_text().splitlines()
        listed = {tuple(line.split("\t")[1:]) for line in lines}
        for item in items:
            if (item.path.stem, item.name) in listed:
                item.add_marker(mark)


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
def rooms() -> list[str]:
    """Every room: a folder with a `<Room>Room.scala`."""
    sources = Path(__file__).parents[2].glob("scala/*/src/*Room.scala")
    return sorted(source.parents[1].name for source in sources)


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
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"{command[0]} failed\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run_command


@pytest.fixture
def run_python(run: Run) -> Run:
    """Runs a Python program in a process of its own, which has no Spark yet."""
    return lambda program, **environment: run(sys.executable, "-c", program, **environment)


@pytest.fixture
def writable_spark_home(tmp_path: Path, spark_home: Path) -> Path:
    """The same Spark; a local cluster writes its workers' folders into Spark's own."""
    home = tmp_path / "spark"
    home.mkdir()
    for part in spark_home.iterdir():
        (home / part.name).symlink_to(part)
    return home


@pytest.fixture(scope="session")
def connect_server(
    spark_home: Path, plain_environment: dict[str, str]
) -> Callable[..., AbstractContextManager[str]]:
    """Starts Connect servers: in a folder, with settings."""
    environment = plain_environment | {"PYSPARK_PYTHON": sys.executable}
    return partial(running_server, spark_home, environment)


@pytest.fixture(scope="session")
def address(
    connect_server: Callable[..., AbstractContextManager[str]],
    jar: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """A Connect server with the extension."""
    settings = ("--jars", str(jar), "--conf", f"spark.sql.extensions={EXTENSION}")
    with connect_server(tmp_path_factory.mktemp("connect"), *settings) as found:
        yield found


@contextmanager
def running_server(
    spark_home: Path, environment: dict[str, str], folder: Path, *settings: str
) -> Iterator[str]:
    """Starts a Connect server, waits until it listens, and stops it; yields its address."""
    port = free_port()
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [
                str(spark_home / "bin" / "spark-submit"),
                "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
                "--master", "local[2]",
                "--conf", "spark.ui.enabled=false",
                "--conf", "spark.sql.shuffle.partitions=4",
                "--conf", "spark.connect.grpc.binding.address=127.0.0.1",
                "--conf", f"spark.connect.grpc.binding.port={port}",
                *settings,
                "spark-internal",
            ],
            cwd=folder, env=environment, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            wait_until_listening(port, server, folder / "server.log")
            yield f"sc://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_listening(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    give_up = time.monotonic() + 120
    while time.monotonic() < give_up:
        assert server.poll() is None, f"the server ended\n{log.read_text()}"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail(f"the server does not listen\n{log.read_text()}")
