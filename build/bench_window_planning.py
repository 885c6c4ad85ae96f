"""Time sliding windows with one expression for all windows of a row, and with one for each.

The whole query, and of it the time until there is a physical plan. Firesteel runs it both times,
and ``spark.firesteel.panes.foldFrom`` differs. Medians of five runs in turn, after two of each.
More than 1,440 windows are asked with one expression only.

    .venv/bin/python build/bench_window_planning.py FOLDER
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

import firesteel

ROWS = 250_000
SLIDES = {"1 hour": 24, "10 minutes": 144, "1 minute": 1_440, "1 second": 86_400}
MOST_WRITTEN_OUT = 1_440
FOLD_FROM = {"one expression": 2, "one for each": 2**62}


def seconds(spark: SparkSession, slide: str, fold_from: int) -> tuple[float, float]:
    """Return the time of one run, and of it that of planning."""
    spark.conf.set("spark.firesteel.panes.foldFrom", fold_from)
    start = time.monotonic()
    rows = spark.sql(
        f"SELECT k, window, sum(v) s, count(*) c FROM e GROUP BY k, window(ts, '1 day', '{slide}')"
    )
    query = rows._jdf.queryExecution()  # noqa: SLF001
    query.executedPlan()
    planned = time.monotonic() - start
    query.toRdd().count()
    return time.monotonic() - start, planned


def main(folder: Path) -> None:
    """Print a line for each number of windows."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder.config("spark.driver.memory", "3g").config("spark.sql.shuffle.partitions", "8")
    spark = firesteel.configure(builder).getOrCreate()
    data = str(folder / "window-planning")
    spark.sql(
        f"SELECT timestamp_seconds(id * 10) ts, 1 k, id v FROM range(0, {ROWS}, 1, 2)"
    ).write.mode("overwrite").parquet(data)
    spark.read.parquet(data).createOrReplaceTempView("e")
    for slide, windows in SLIDES.items():
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in FOLD_FROM}
        for _ in range(7):
            for name, fold_from in FOLD_FROM.items():
                if windows > MOST_WRITTEN_OUT and fold_from > windows:
                    continue
                taken[name].append(seconds(spark, slide, fold_from))
        for name, runs in filter(lambda of: of[1], taken.items()):
            whole, planned = (statistics.median(of) for of in zip(*runs[2:], strict=True))
            print(f"{windows:,} windows a row, {name}: {whole:.2f} s, planning {planned:.2f} s")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
