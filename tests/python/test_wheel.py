"""The wheel: what is in it, and that it works by itself in an empty environment elsewhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

import firesteel
from firesteel._supported_spark import INSTALLED_SPARK, SUPPORTED_SPARK
from tests.python.linked_pyspark import link_pyspark

JAR = f"firesteel/jars/firesteel-{INSTALLED_SPARK}.jar"
PACKAGE = Path(__file__).parents[2] / "python"
OURS = (
    "io/firesteel/",  # bundled: io/firesteel/shaded/
    "org/apache/spark/sql/firesteel/",
    "org/apache/spark/sql/execution/streaming/state/firesteel/",
)

PROGRAM = """
import firesteel
from pathlib import Path
from pyspark.sql import SparkSession

spark = firesteel.configure(SparkSession.builder.master("local[1]")).getOrCreate()
firesteel.check(spark)
top = spark.sql(
    "SELECT id FROM (SELECT id, rank() OVER (PARTITION BY id % 3 ORDER BY id) AS r FROM range(99)) "
    "WHERE r <= 2"
)
print("ids:", sorted(row.id for row in top.collect()))
print("fired:", len(firesteel.explain(top).fired))
print("from:", Path(firesteel.__file__).parent)
"""


def build_wheel(package: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=package, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    built = build_wheel(PACKAGE, folder)
    assert built.returncode == 0, built.stderr
    (found,) = folder.iterdir()
    return found


def test_is_for_every_python_3_and_every_platform(wheel: Path) -> None:
    assert wheel.name == f"firesteel-{firesteel.__version__}-py3-none-any.whl"


def test_has_the_jar_of_the_installed_spark_and_no_other_libraries(wheel: Path) -> None:
    jars = {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".jar")}
    assert JAR in jars
    assert jars <= {f"firesteel/jars/firesteel-{spark}.jar" for spark in SUPPORTED_SPARK}


def test_carries_its_types_and_its_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "firesteel/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_every_class_is_ours_or_relocated(wheel: Path) -> None:
    jar = zipfile.ZipFile(BytesIO(zipfile.ZipFile(wheel).read(JAR)))
    classes = [name for name in jar.namelist() if name.endswith(".class")]
    assert "io/firesteel/FiresteelExtensions.class" in classes
    assert [name for name in classes if not name.startswith(OURS)] == []


def test_is_not_built_without_the_jar(tmp_path: Path) -> None:
    without = shutil.copytree(PACKAGE, tmp_path / "python", ignore=shutil.ignore_patterns("*.jar"))
    built = build_wheel(without, tmp_path / "dist")
    assert built.returncode != 0
    assert "build/sbt stageJar" in built.stderr
    assert not list(tmp_path.glob("dist/*.whl"))


def test_runs_in_an_empty_environment_elsewhere(
    wheel: Path, tmp_path: Path, run: Callable[..., str]
) -> None:
    venv.create(tmp_path / "elsewhere", with_pip=True)
    python = tmp_path / "elsewhere" / "bin" / "python"
    link_pyspark(into=python)
    run(python, "-m", "pip", "install", "--quiet", "--no-index", wheel)
    printed = run(python, "-c", PROGRAM)
    assert "ids: [0, 1, 2, 3, 4, 5]" in printed
    assert "fired: 1" in printed
    assert f"from: {tmp_path / 'elsewhere'}" in printed
