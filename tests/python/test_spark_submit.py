"""The jar by itself: `spark-submit --jars firesteel-4.3.jar --conf spark.sql.extensions=...`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

QUERY = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
top = spark.sql(
    "SELECT id FROM (SELECT id, rank() OVER (PARTITION BY id % 3 ORDER BY id) AS r FROM range(99)) "
    "WHERE r <= 2"
)
assert sorted(row.id for row in top.collect()) == [0, 1, 2, 3, 4, 5]
assert "TopN" in top._jdf.queryExecution().executedPlan().toString()
assert "firesteel" not in sys.modules
print("rooms:", spark.sql("SELECT rooms FROM firesteel_version()").collect()[0].rooms)
"""

KEEPING = """
import firesteel
from pyspark.sql import SparkSession

spark = firesteel.configure(SparkSession.builder).getOrCreate()
print("rooms:", list(firesteel.check(spark).rooms))
print("jars:", spark.conf.get("spark.jars"))
print("extensions:", spark.conf.get("spark.sql.extensions"))
"""

EXTENSION = "io.firesteel.FiresteelExtensions"


def submitted(
    run: Callable[..., str], spark_home: Path, folder: Path, program: str, *settings: str
) -> str:
    (folder / "app.py").write_text(program)
    return run(
        spark_home / "bin" / "spark-submit", "--master", "local[2]", *settings, "app.py",
        PYSPARK_PYTHON=sys.executable,
    )  # fmt: skip


def test_needs_no_python_package(
    run: Callable[..., str], spark_home: Path, tmp_path: Path, jar: Path, rooms: list[str]
) -> None:
    settings = ("--jars", str(jar), "--conf", f"spark.sql.extensions={EXTENSION}")
    printed = submitted(run, spark_home, tmp_path, QUERY, *settings)
    assert f"rooms: {rooms}" in printed


def test_configure_keeps_what_spark_submit_was_told(
    run: Callable[..., str], spark_home: Path, tmp_path: Path, jar: Path, rooms: list[str]
) -> None:
    other = tmp_path / "other.jar"
    other.write_bytes(jar.read_bytes())
    printed = submitted(run, spark_home, tmp_path, KEEPING, "--jars", f"{jar},{other}")
    assert f"rooms: {rooms}" in printed
    assert "other.jar" in printed.partition("jars:")[2].splitlines()[0]
    assert f"extensions: {EXTENSION}" in printed


def test_configure_keeps_what_pyspark_submit_args_have(
    run: Callable[..., str], tmp_path: Path, jar: Path, rooms: list[str]
) -> None:
    other = tmp_path / "other.jar"
    other.write_bytes(jar.read_bytes())
    (tmp_path / "app.py").write_text(KEEPING)
    arguments = f"--jars {other} --conf spark.sql.extensions={EXTENSION},{EXTENSION} pyspark-shell"
    printed = run(sys.executable, "app.py", PYSPARK_SUBMIT_ARGS=arguments)
    assert f"rooms: {rooms}" in printed
    assert "other.jar" in printed.partition("jars:")[2].splitlines()[0]
    assert f"extensions: {EXTENSION},{EXTENSION}" in printed
