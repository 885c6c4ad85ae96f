"""The parts that stand beside Spark in these tests, for each version of Spark, and their jars."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyspark
import pytest

from firesteel._supported_spark import INSTALLED_SPARK

ROOT = Path(__file__).parents[3]

# Runs on the JDK 17 that Spark needs. Newer brokers speak the same protocol.
BROKER = "org.apache.kafka:kafka_2.13:4.1.1"

# The newest releases on Maven Central. Spark's Kafka source is published with each release of
# Spark, but the newest of a minor version are missing there; the patch release does not matter.
KAFKA = {
    "4.0": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0",
    "4.1": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.1",
    "4.2": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
}

# Delta Lake names the minor version of Spark in its artifact. 4.4 has dropped Spark 4.0 and 4.1.
DELTA = {
    "4.0": "io.delta:delta-spark_4.0_2.13:4.3.0",
    "4.1": "io.delta:delta-spark_4.1_2.13:4.3.0",
    "4.2": "io.delta:delta-spark_4.2_2.13:4.4.0",
}

# 1.10 is the first for Spark 4.0, and other parsers than the session's are found since 1.11 only:
# one of each kind is tested.
ICEBERG = {
    "4.0": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0",
    "4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}

# Its native library is inside; a release names the minor version of Spark in its artifact.
COMET = {"4.1": "org.apache.datafusion:comet-spark-spark4.1_2.13:1.2.0"}


def jars(coordinates: str, *, beside: Path | None = Path(pyspark.__file__).parent / "jars") -> Path:
    """Fetch a library and what it needs, without what is there already; returns the folder."""
    known = [beside] if beside else []
    return Path(
        subprocess.run(
            [ROOT / "build" / "jars", coordinates, *known],
            check=True, stdout=subprocess.PIPE, text=True,
        ).stdout.strip()
    )  # fmt: skip


def require(part: str, releases: dict[str, str]) -> str:
    """The coordinates for the installed Spark; skips the module if there is no such release."""
    if INSTALLED_SPARK not in releases:
        pytest.skip(
            f"{part} has no release for Spark {INSTALLED_SPARK} on Maven Central, "
            f"only for {', '.join(releases)}",
            allow_module_level=True,
        )
    return releases[INSTALLED_SPARK]
