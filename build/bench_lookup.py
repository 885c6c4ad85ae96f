"""Times a connector in Python, everything cached, for the page of `build/bench lookup`.

Writes seconds of each run to a JSON file, which the rest of the benchmark puts on its page.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

import firesteel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEYS = 10_000  # as LookupBenchmark.pythonKeys
WARM_UPS = 2


class Customers:
    """Every customer there could be, without a store that could be slow."""

    schema = "id BIGINT, name STRING, region INT"
    keys = ("id",)

    def lookup(self, keys: pa.Table) -> pa.Table:
        """Answer all keys with one row each."""
        ids = keys["id"]
        regions = pa.array([i % 7 for i in ids.to_pylist()], pa.int32())
        names = pc.binary_join_element_wise("customer-", ids.cast(pa.string()), "")
        return pa.table({"id": ids, "name": names, "region": regions})


def orders(spark: SparkSession, rows: int) -> DataFrame:
    """A stream of orders, each customer equally often."""
    return spark.range(0, rows, 1, 4).selectExpr(
        "id AS seq", f"pmod(xxhash64(id, 1), {KEYS}) AS customer"
    )


def check(spark: SparkSession, rows: int) -> None:
    """Compare with a plain join; a benchmark of wrong answers is worth nothing."""
    plain = spark.range(KEYS).selectExpr(
        "id", "concat('customer-', id) AS name", "CAST(id % 7 AS INT) AS region"
    )
    digest = "struct(count(*), sum(xxhash64(seq, customer, name, region)::decimal(20, 0)))"
    stream = orders(spark, rows)
    expected = stream.join(plain, stream.customer == plain.id).selectExpr(digest).first()
    if joined(spark, rows).selectExpr(digest).first() != expected:
        sys.exit("bench: the Python connector gives other rows than a plain join")


def joined(spark: SparkSession, rows: int) -> DataFrame:
    """The query that is timed."""
    orders(spark, rows).createOrReplaceTempView("orders")
    return spark.sql(
        "SELECT o.seq, o.customer, c.name, c.region "
        "FROM orders o JOIN customers c ON o.customer = c.id"
    )


def timed(spark: SparkSession, rows: int) -> float:
    """Seconds from SQL text to the last row, in a sink that drops the rows."""
    start = time.perf_counter()
    joined(spark, rows).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def session(classpath: str) -> SparkSession:
    """Two cores, and the extension as it was just compiled."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-class-path {classpath} pyspark-shell"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.extensions", "io.firesteel.FiresteelExtensions")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )


def main() -> None:
    """Time the connector as the command line asks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--classpath", required=True)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    spark = session(asked.classpath)
    firesteel.register_lookup(spark, "customers", Customers(), cache="PARTIAL", max_rows=2 * KEYS)
    check(spark, asked.rows)
    seconds = [timed(spark, asked.rows) for _ in range(WARM_UPS + asked.runs)][WARM_UPS:]
    spark.stop()
    print(f"bench: Python {', '.join(f'{s:.2f}' for s in seconds)} s", file=sys.stderr)
    asked.out.write_text(json.dumps({"Python": seconds}), encoding="utf-8")


if __name__ == "__main__":
    main()
