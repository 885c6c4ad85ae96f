"""Time one query of each room with the jars of two commits, in turn.

A process has one jar. It runs each case once to warm up, and then twice for the clock; the shortest
time counts. ``--warm`` and ``--runs`` change these numbers, and ``--case`` chooses the cases whose
names contain a text. Processes of both jars take turns. A ratio is taken of each pair: before /
after, so more than 1 is faster now. The table that it prints is in
``scala/bench/results/commits.md``.

    .venv/bin/python build/bench_commits.py BEFORE.jar AFTER.jar [--pairs 5] [--rows 2000000]
        [--warm 1] [--runs 2] [--case TEXT ...]

Each jar is the ``firesteel.jar`` that ``make setup`` stages at its commit.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

BATCH = {
    "rank: top 10 of 1,000 keys": (
        "SELECT * FROM (SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn"
        " FROM rows) WHERE rn <= 10"
    ),
    "skew: two COUNT(DISTINCT)": (
        "SELECT k, count(DISTINCT v), count(DISTINCT id % 5000), sum(v) FROM rows GROUP BY k"
    ),
    "skew: percentile": "SELECT k, percentile(v, 0.5) FROM rows GROUP BY k",
    "panes: sum(BIGINT), a day by an hour": (
        "SELECT k, window, sum(v) FROM rows GROUP BY k, window(ts, '1 day', '1 hour')"
    ),
    "panes: avg(DECIMAL(38,2)), a day by an hour": (
        "SELECT k, window, avg(w) FROM rows GROUP BY k, window(ts, '1 day', '1 hour')"
    ),
    "shuffle: (a, b), then a": (
        "SELECT k, count(*), sum(s) FROM (SELECT k, v % 500 AS b, sum(v) AS s FROM rows"
        " GROUP BY k, v % 500) GROUP BY k"
    ),
    "shuffle: a key of one row, sum(BIGINT)": "SELECT id, sum(v) FROM rows GROUP BY id",
    "lookup: join with buckets of files": (
        "SELECT /*+ LOOKUP('table'='d') */ r.id, d.name FROM rows AS r JOIN looked AS d"
        " ON r.k = d.k"
    ),
}

STREAMS = {
    "changelog: counts of counts": (
        "SELECT c, count(*) AS n, row_kind() AS op FROM"
        " (SELECT id % 100000 AS k, count(*) AS c, sum(v) AS s FROM streamed GROUP BY id % 100000)"
        " GROUP BY c"
    ),
    "changelog: top 10 by a sum": (
        "SELECT *, row_kind() AS op FROM (SELECT g, k, s, row_number() OVER"
        " (PARTITION BY g ORDER BY s DESC, k) AS rn FROM (SELECT k % 10 AS g, id % 10000 AS k,"
        " sum(v) AS s FROM streamed GROUP BY k % 10, id % 10000)) WHERE rn <= 10"
    ),
    "changelog: two COUNT(DISTINCT)": (
        "SELECT k, count(DISTINCT v) AS a, count(DISTINCT id % 500) AS b, row_kind() AS op"
        " FROM streamed GROUP BY k"
    ),
}

APPLIED = (
    "SELECT id % 20000 AS k, count(*) AS c, sum(v) AS s, row_kind() AS op FROM streamed"
    " GROUP BY id % 20000"
)


def session(jar: str) -> SparkSession:
    """Return a session of two cores with the jar."""
    builder = SparkSession.builder.master("local[2]")
    for key, value in {
        "spark.jars": jar,
        "spark.sql.extensions": "io.firesteel.FiresteelExtensions",
        "spark.driver.memory": "3g",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": tempfile.mkdtemp(),
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def make(spark: SparkSession, data: Path, rows: int) -> None:
    """Make the rows, once for all processes: in five files for streams, of two tasks for batch."""
    if not data.exists():
        spark.sql(
            "SELECT id, pmod(xxhash64(id, 1), 1000) AS k, pmod(xxhash64(id, 2), 100000) AS v,"
            " CAST(pmod(xxhash64(id, 3), 1000000) AS DECIMAL(38, 2)) AS w,"
            " timestamp_seconds(1767225600 + pmod(xxhash64(id, 4), 2592000)) AS ts"
            f" FROM range(0, {rows}, 1, 5)"
        ).write.parquet(str(data))
    table = spark.read.parquet(str(data))
    table.createOrReplaceTempView("rows")
    stream = spark.readStream.schema(table.schema).option("maxFilesPerTrigger", 1)
    stream.parquet(str(data)).createOrReplaceTempView("streamed")
    spark.sql(
        "CREATE TABLE stored USING parquet CLUSTERED BY (k) INTO 4 BUCKETS AS"
        " SELECT id AS k, concat('name', id) AS name FROM range(1000)"
    )
    spark.sql("CREATE TABLE looked USING `firesteel-files` OPTIONS (table 'stored')")


def batch(spark: SparkSession, sql: str) -> None:
    """Read all of an answer, and keep none of it."""
    spark.sql(sql).write.format("noop").mode("overwrite").save()


def stream(spark: SparkSession, sql: str, write: Callable[[DataFrame, int], None]) -> None:
    """Run a stream over the five files, a file a micro-batch."""
    folder = tempfile.mkdtemp()
    query = (
        spark.sql(sql)
        .writeStream.option("checkpointLocation", folder)
        .trigger(availableNow=True)
        .foreachBatch(write)
        .start()
    )
    query.awaitTermination()
    shutil.rmtree(folder)


def dropped(changes: DataFrame, _: int) -> None:
    """Read the changes of a micro-batch."""
    changes.write.format("noop").mode("overwrite").save()


def applied(spark: SparkSession) -> None:
    """Keep a folder equal to a stream's result."""
    folder = tempfile.mkdtemp() + "/table"

    def write(changes: DataFrame, number: int) -> None:
        options = {"changes.keys": "k", "changes.batch-id": str(number)}
        changes.write.format("firesteel-table").mode("append").options(**options).save(folder)

    stream(spark, APPLIED, write)
    shutil.rmtree(folder)


def cases(spark: SparkSession) -> dict[str, Callable[[], None]]:
    """Return what is timed, by name."""
    all_cases: dict[str, Callable[[], None]] = {}
    for name, sql in BATCH.items():
        all_cases[name] = partial(batch, spark, sql)
    for name, sql in STREAMS.items():
        all_cases[name] = partial(stream, spark, sql, dropped)
    all_cases["sinks: a folder of 20,000 keys"] = partial(applied, spark)
    return all_cases


def run(given: argparse.Namespace) -> None:
    """Print the seconds of each case as JSON: the work of a process with one jar."""
    spark = session(given.after)
    make(spark, Path(given.one), given.rows)
    seconds = {}
    for name, case in cases(spark).items():
        if given.case and not any(text in name for text in given.case):
            continue
        for _ in range(given.warm):
            case()
        taken = []
        for _ in range(given.runs):
            start = time.monotonic()
            case()
            taken.append(time.monotonic() - start)
        seconds[name] = min(taken)
    print(json.dumps(seconds))
    spark.stop()


def measured(jar: str, data: Path, given: argparse.Namespace) -> dict[str, float]:
    """Return the seconds of each case in a process of its own."""
    command = [sys.executable, __file__, jar, jar, "--one", str(data), "--rows", str(given.rows)]
    command += ["--warm", str(given.warm), "--runs", str(given.runs)]
    command += [part for text in given.case for part in ("--case", text)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return seconds


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--warm", type=int, default=1)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        run(given)
        return
    data = Path(tempfile.mkdtemp()) / "rows"
    pairs = []
    for number in range(given.pairs):
        order = [given.before, given.after]
        if number % 2:
            order.reverse()
        taken = {jar: measured(jar, data, given) for jar in order}
        pairs.append((taken[given.before], taken[given.after]))
        print(f"pair {number + 1} of {given.pairs}", file=sys.stderr, flush=True)
    print("| case | before, s | after, s | before / after | smallest | largest |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in pairs[0][0]:
        ratios = [before[name] / after[name] for before, after in pairs]
        before, after = (
            statistics.median(side[name] for side in of) for of in zip(*pairs, strict=True)
        )
        print(
            f"| {name} | {before:.2f} | {after:.2f} | {statistics.median(ratios):.2f}"
            f" | {min(ratios):.2f} | {max(ratios):.2f} |"
        )


if __name__ == "__main__":
    main()
