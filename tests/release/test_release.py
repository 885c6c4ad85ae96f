"""What `make release` has put into `dist`, installed and run with one version of Spark."""

from __future__ import annotations

import os
import subprocess
import venv
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pyspark
import pytest

from firesteel._supported_spark import INSTALLED_SPARK, SUPPORTED_SPARK
from firesteel._version import __version__
from tests.python.linked_pyspark import link_pyspark

DIST = Path(__file__).parents[2] / "dist"
ARTIFACT = f"firesteel-spark_{INSTALLED_SPARK}_2.13"
MEGABYTE = 1 << 20
"""Of 1,048,576 bytes."""

PROGRAM = """
from pyspark.sql import SparkSession

try:
    import firesteel
    spark = firesteel.configure(SparkSession.builder.master("local[1]")).getOrCreate()
    firesteel.check(spark)
except ImportError:
    spark = SparkSession.builder.getOrCreate()
version = spark.sql("SELECT * FROM firesteel_version()").collect()[0]
top = spark.sql(
    "SELECT id FROM (SELECT id, rank() OVER (PARTITION BY id % 3 ORDER BY id) AS r FROM range(99)) "
    "WHERE r <= 2"
)
assert "TopN" in top._jdf.queryExecution().executedPlan().toString()
print("ids:", sorted(row.id for row in top.collect()))
print("built for:", version.supported_spark, version.version)
"""

PRINTED = ("ids: [0, 1, 2, 3, 4, 5]", f"built for: {INSTALLED_SPARK} {__version__}")


@pytest.fixture
def environment() -> dict[str, str]:
    """The environment of a user who has configured nothing."""
    ours = ("PYSPARK_", "SPARK", "PYTHONPATH", "MASTER")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def run(folder: Path, environment: dict[str, str], *command: object) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_wheel_runs_in_an_empty_environment(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (wheel,) = DIST.glob("*.whl")
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    link_pyspark(into=python)
    # pip checks that this PySpark is one of those that the wheel asks for.
    run(tmp_path, environment, python, "-m", "pip", "install", "--quiet", "--no-index", wheel)
    run(tmp_path, environment, python, "-m", "pip", "check")
    printed = run(tmp_path, environment, python, "-c", PROGRAM)
    assert [line for line in PRINTED if line not in printed] == []


def test_the_wheel_has_a_jar_for_each_version_in_25_megabytes() -> None:
    (wheel,) = DIST.glob("*.whl")
    jars = {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".jar")}
    assert jars == {f"firesteel/jars/firesteel-{spark}.jar" for spark in SUPPORTED_SPARK}
    assert wheel.stat().st_size <= 25 * MEGABYTE


def test_spark_submit_resolves_the_package_without_firesteel_for_python(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    venv.create(tmp_path / "empty")
    printed = run(
        tmp_path, environment | {"PYSPARK_PYTHON": str(tmp_path / "empty" / "bin" / "python")},
        Path(pyspark.__file__).parent / "bin" / "spark-submit",
        "--master", "local[1]",
        "--packages", f"io.firesteel:{ARTIFACT}:{__version__}",
        "--repositories", (DIST / "maven").as_uri(),
        "--conf", f"spark.jars.ivy={tmp_path / 'ivy'}",
        "--conf", "spark.sql.extensions=io.firesteel.FiresteelExtensions",
        "program.py",
    )  # fmt: skip
    assert [line for line in PRINTED if line not in printed] == []


def test_the_package_has_sources_and_scaladoc_and_no_dependencies() -> None:
    folder = DIST / "maven" / "io" / "firesteel" / ARTIFACT / __version__
    name = f"{ARTIFACT}-{__version__}"
    pom = ElementTree.parse(folder / f"{name}.pom")
    assert [part.tag for part in pom.iter() if part.tag.endswith("}dependency")] == []
    assert [part.text for part in pom.iter() if part.tag.endswith("}url")] != []
    sources = zipfile.ZipFile(folder / f"{name}-sources.jar").namelist()
    assert "io/firesteel/lookup/SupportsLookup.scala" in sources
    pages = zipfile.ZipFile(folder / f"{name}-javadoc.jar").namelist()
    assert "io/firesteel/lookup/index.html" in pages
