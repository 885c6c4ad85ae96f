"""Time aggregates over RANGE frames, with Spark's segment tree and without it.

Stock Spark alone: what a sliding merge of our own could gain is what they cost beyond the shuffle
and the sort that any plan needs, which ``row_number`` and ``lag`` over the same order show. Each
figure is the median of three runs after a warm-up; of one run without the tree.

    .venv/bin/python build/bench_range_frames.py FOLDER
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

# Rows, keys, seconds over which they are spread, the frame.
CASES = (
    (2_000_000, 1_000, 30 * 86_400, "1 DAY"),
    (2_000_000, 1_000, 30 * 86_400, "10 DAY"),
    (1_000_000, 10, 86_400, "1 HOUR"),
)
FRAME = "(PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL {} PRECEDING AND CURRENT ROW)"
CALLS = {
    "count, sum": "count(*) OVER {w} a, sum(v) OVER {w} b",
    "max, avg": "max(v) OVER {w} a, avg(d) OVER {w} b",
}
FLOOR = (
    "row_number() OVER (PARTITION BY k ORDER BY ts) a, lag(v) OVER (PARTITION BY k ORDER BY ts) b"
)


def seconds(spark: SparkSession, columns: str, *, tree: bool, runs: int) -> float:
    """Return the median time of a query with these columns, the first run left out."""
    spark.conf.set("spark.sql.window.segmentTree.enabled", tree)
    taken = []
    for _ in range(runs + 1):
        start = time.monotonic()
        spark.sql(f"SELECT sum(hash(k, ts, a, b)) FROM (SELECT k, ts, {columns} FROM e)").collect()
        taken.append(time.monotonic() - start)
    return statistics.median(taken[1:])


def main(folder: Path) -> None:
    """Print a line for each case."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "3g")
        .config("spark.sql.shuffle.partitions", "8")
        .getOrCreate()
    )
    for rows, keys, span, frame in CASES:
        data = str(folder / f"range-{rows}-{keys}-{span}")
        spark.sql(
            f"SELECT pmod(xxhash64(id, 1), {keys}) k, "
            f"timestamp_seconds(pmod(xxhash64(id, 2), {span})) ts, "
            "pmod(xxhash64(id, 3), 1000) v, CAST(pmod(xxhash64(id, 4), 1000) AS DOUBLE) d "
            f"FROM range(0, {rows}, 1, 4)"
        ).write.mode("overwrite").parquet(data)
        spark.read.parquet(data).createOrReplaceTempView("e")
        floor = seconds(spark, FLOOR, tree=False, runs=3)
        print(f"{rows:,} rows, {keys:,} keys, {frame}: shuffle and sort {floor:.2f} s")
        for name, call in CALLS.items():
            columns = call.format(w=FRAME.format(frame))
            with_tree = seconds(spark, columns, tree=True, runs=3)
            without = seconds(spark, columns, tree=False, runs=1)
            print(f"  {name}: with the tree {with_tree:.2f} s, without {without:.2f} s", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
