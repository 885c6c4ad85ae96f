"""TPC-DS in four ways: stock Spark, firesteel, DataFusion Comet, and both.

    .venv-4.1/bin/python build/bench_comet.py --data FOLDER --queries FOLDER

FOLDER of ``--data`` has a folder of Parquet for each table, as ``build/bench tpcds`` makes them;
that of ``--queries`` has ``q1.sql`` and so on, as ``build.sbt`` takes them out of Spark's test jar.
All four ways run in one JVM, in turn, with Comet's shuffle manager and off-heap memory; settings
switch each of the two off. Writes ``comet.md`` and ``comet.json``.

With ``--rooms`` it asks what firesteel's own rooms are for, over tables that it makes, and writes
``comet-rooms.md`` and ``comet-rooms.json``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "python" / "src")]

import pyspark  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

import firesteel  # noqa: E402
from tests.python.beside.parts import COMET, jars  # noqa: E402

WAYS = {
    "stock": (False, False),
    "firesteel": (True, False),
    "Comet": (False, True),
    "both": (True, True),
}
COMETS = "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager"
EXTENSIONS = "io.firesteel.FiresteelExtensions,org.apache.comet.CometSparkSessionExtensions"
# Both must be at least this share of the better one.
LEAST = 0.95
Answer = list[tuple[Any, ...]]


def start(memory: str) -> SparkSession:
    """A session with both, firesteel first, and Spark's own defaults else."""
    library = sorted(jars(COMET[".".join(pyspark.__version__.split(".")[:2])]).glob("*.jar"))
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", memory)
        .config("spark.jars", ",".join(map(str, library)))
        .config("spark.driver.extraClassPath", ":".join(map(str, library)))
        .config("spark.sql.extensions", EXTENSIONS)
        .config("spark.shuffle.manager", COMETS)
        .config("spark.comet.exec.shuffle.enabled", True)
        .config("spark.memory.offHeap.enabled", True)
        .config("spark.memory.offHeap.size", "4g")
        .config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", tempfile.mkdtemp())
    )
    spark = firesteel.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def set_way(spark: SparkSession, way: str) -> None:
    """Switch firesteel and Comet on or off."""
    ours, comets = WAYS[way]
    spark.conf.set("spark.firesteel.enabled", ours)
    spark.conf.set("spark.comet.enabled", comets)


def ask(spark: SparkSession, sql: str, way: str) -> tuple[float, Answer]:
    """Seconds of one run, planning and the answer's way to Python included, and the answer."""
    set_way(spark, way)
    before = time.monotonic()
    rows = spark.sql(sql).collect()
    return time.monotonic() - before, sorted((tuple(row) for row in rows), key=repr)


def run(spark: SparkSession, sql: str, way: str) -> float:
    """Seconds of one run whose rows go nowhere."""
    set_way(spark, way)
    before = time.monotonic()
    spark.sql(sql).write.format("noop").mode("overwrite").save()
    return time.monotonic() - before


def checksum(spark: SparkSession, sql: str, way: str) -> Answer:
    """The answer as two numbers, for answers of many rows."""
    hashes = "bit_xor(xxhash64(*)), sum(CAST(xxhash64(*) AS DECIMAL(30)))"
    return ask(spark, f"SELECT count(*), {hashes} FROM ({sql})", way)[1]


def final_plan(spark: SparkSession, sql: str, way: str) -> str:
    """The plan that ran, without the numbers that differ from run to run."""
    ask(spark, sql, way)  # sets the way, and compiles
    frame = spark.sql(sql)
    frame.collect()
    text = frame._jdf.queryExecution().executedPlan().toString()  # noqa: SLF001
    final = text.split("== Initial Plan ==")[0]
    return re.sub(r"#\d+L?|plan_id=\d+|Stage \d+|\*\(\d+\)|loop_id=\d+|[0-9a-f-]{36}", "", final)


def agree(one: Answer, other: Answer) -> bool:
    """Whether answers are the same but for the last digits of floating-point sums."""
    return len(one) == len(other) and all(
        len(a) == len(b) and all(map(same, a, b)) for a, b in zip(one, other, strict=True)
    )


def same(one: object, other: object) -> bool:
    """Whether two values are the same."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def measure(spark: SparkSession, sql: str, rounds: int, again: int, few: bool) -> dict[str, Any]:
    """All ways once, to compare answers, then rounds of all ways, each beginning with another.

    :param few: whether the rows of the answer are few enough for Python
    """
    answers = {way: ask(spark, sql, way)[1] if few else checksum(spark, sql, way) for way in WAYS}
    wrong = [way for way in WAYS if not agree(answers["stock"], answers[way])]
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    if not few:
        for way in WAYS:
            run(spark, sql, way)  # compiles
    names = list(WAYS)
    done = 0
    # A first look that seems too slow is asked again.
    while done < rounds or (done < rounds + again and ratio(seconds) < LEAST):
        turn = done % len(names)
        for way in names[turn:] + names[:turn]:
            seconds[way].append(ask(spark, sql, way)[0] if few else run(spark, sql, way))
        done += 1
    return {
        "wrong": wrong,
        "seconds": seconds,
        "comets_plan": ratio(seconds) < LEAST
        and final_plan(spark, sql, "Comet") == final_plan(spark, sql, "both"),
    }


def ratio(seconds: dict[str, list[float]]) -> float:
    """The better of firesteel and Comet, over both: the median of the rounds' ratios."""
    return statistics.median(
        min(ours, comets) / both
        for ours, comets, both in zip(
            seconds["firesteel"], seconds["Comet"], seconds["both"], strict=True
        )
    )


ROOMS = Path(__file__).with_name("bench_comet_rooms.sql")

TITLES = {
    "comet": (
        "# Measured: TPC-DS beside DataFusion Comet",
        "The queries are Spark's own, the tables those of the TPC's generator at scale 1, read as",
        "files without statistics.",
    ),
    "comet-rooms": (
        "# Measured: the rooms of batch queries beside DataFusion Comet",
        "The queries and tables are those of `build/bench_comet_rooms.sql`. The rows of an answer",
        "go nowhere. The answers were compared as checksums.",
    ),
}


def page(name: str, results: dict[str, dict[str, Any]], facts: dict[str, str]) -> str:
    """The committed page."""
    middle = {
        query: {way: statistics.median(its["seconds"][way]) for way in WAYS}
        for query, its in results.items()
    }
    slower = [query for query, its in results.items() if ratio(its["seconds"]) < LEAST]
    ours = [query for query in slower if not results[query]["comets_plan"]]
    comets = [query for query in slower if results[query]["comets_plan"]]
    wrong = [query for query, its in results.items() if its["wrong"]]
    totals = {way: sum(of[way] for of in middle.values()) for way in WAYS}
    means = {
        way: statistics.geometric_mean([of["stock"] / of[way] for of in middle.values()])
        for way in WAYS
    }
    title, *about = TITLES[name]
    lines = [
        title,
        "",
        "Written by `build/bench comet`; do not edit. Stock Spark, firesteel, Comet and both ran",
        "in turn in one JVM, after one run of each.",
        *about,
        "A ratio is the median of the ratios of the rounds; seconds are medians.",
        "",
        "## Targets",
        "",
        "| target | measured | verdict |",
        "| --- | --- | --- |",
        f"| equal answers in four ways on all of {len(results)} | {len(results) - len(wrong)} "
        f"| {'missed by ' + ', '.join(wrong) if wrong else 'met'} |",
        f"| the better of firesteel and Comet / both ≥ {LEAST} on each "
        f"| {len(results) - len(slower)} of {len(results)} "
        f"| {'missed by ' + ', '.join(slower) if slower else 'met'} |",
        f"| the same, where both have another plan than Comet alone "
        f"| {len(results) - len(ours)} of {len(results)} "
        f"| {'missed by ' + ', '.join(ours) if ours else 'met'} |",
        "",
        *(
            [
                f"In {', '.join(comets)} both have the plan of Comet alone, to the node: there the",
                "ratio is Comet against itself, or Comet against stock Spark where that is faster.",
                "",
            ]
            if comets
            else []
        ),
        "## Together",
        "",
        "| | stock | firesteel | Comet | both |",
        "| --- | --- | --- | --- | --- |",
        "| seconds of all queries | " + " | ".join(f"{totals[way]:.1f}" for way in WAYS) + " |",
        "| geometric mean of stock / way | "
        + " | ".join(f"{means[way]:.2f}" for way in WAYS)
        + " |",
        "",
        "## Seconds",
        "",
        "| query | stock | firesteel | Comet | both | better / both | Comet / both | rounds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {query} | "
            + " | ".join(f"{middle[query][way]:.2f}" for way in WAYS)
            + f" | {ratio(its['seconds']):.2f} | {against(its['seconds'], 'Comet'):.2f} "
            + f"| {len(its['seconds']['both'])} |"
            for query, its in results.items()
        ),
        "",
        "## Environment",
        "",
        "| | |",
        "| --- | --- |",
        *(f"| {fact} | {value} |" for fact, value in facts.items()),
        "",
    ]
    return "\n".join(lines)


def against(seconds: dict[str, list[float]], way: str) -> float:
    """How many times as long as both one way takes: the median of the rounds' ratios."""
    return statistics.median(
        one / both for one, both in zip(seconds[way], seconds["both"], strict=True)
    )


def statements(text: str) -> dict[str, str]:
    """The statements of a file by the name in the comment before each."""
    parts = re.split(r"^-- (.+)\n", text, flags=re.MULTILINE)[1:]
    return {
        name: body.strip().rstrip(";") for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


def rooms(spark: SparkSession, data: Path) -> dict[str, str]:
    """Make the tables of the rooms where they are missing; returns the queries by their names."""
    queries = {}
    spark.conf.set("spark.comet.enabled", False)
    for name, sql in statements(ROOMS.read_text()).items():
        kind, _, rest = name.partition(" ")
        if kind != "table":
            queries[name] = sql
            continue
        digest = hashlib.sha256(sql.encode()).hexdigest()[:8]
        folder = data / f"comet-{rest}-{digest}"
        if not (folder / "_SUCCESS").exists():
            spark.sql(sql).write.mode("overwrite").parquet(str(folder))
        spark.read.parquet(str(folder)).createOrReplaceTempView(rest)
    return queries


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--query", action="append", default=[])
    parser.add_argument("--rooms", action="store_true", help="the rooms' own queries")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--again", type=int, default=6)
    parser.add_argument("--memory", default="8g")
    parser.add_argument("--commit", default="")
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--plans", action="store_true", help="only tell where both have the plan of Comet alone"
    )
    given = parser.parse_args()
    # Part of a run is no committed page, nor is one with settings of its own.
    part = given.query or given.set
    folder = ROOT / "target" / "bench" if part else ROOT / "scala" / "bench" / "results"
    out = given.out or folder
    name = "comet-rooms" if given.rooms else "comet"

    spark = start(given.memory)
    for setting in given.set:
        spark.conf.set(*setting.split("=", 1))
    if given.rooms:
        queries = rooms(spark, given.data.parent)
    else:
        for table in sorted(path for path in given.data.iterdir() if path.is_dir()):
            spark.read.parquet(str(table)).createOrReplaceTempView(table.name)
        files = {path.stem: path for path in given.queries.glob("q*.sql")}
        ordered = sorted(files, key=lambda query: (int(re.findall(r"\d+", query)[0]), query))
        queries = {query: files[query].read_text() for query in ordered}
    queries = {query: queries[query] for query in given.query or queries}
    if given.plans:
        for query, sql in queries.items():
            plans = [final_plan(spark, sql, way) for way in ("Comet", "both")]
            same = "the same plan" if plans[0] == plans[1] else "another plan"
            print(f"{query}: {same}", flush=True)
        spark.stop()
        return
    java = spark.sql("SELECT java_method('java.lang.System', 'getProperty', 'java.version')")
    how = f"{'--rooms ' if given.rooms else ''}--rounds {given.rounds} --again {given.again}"
    facts = {
        "command": f"`build/bench comet {how}`",
        "commit": given.commit,
        "Spark": spark.version,
        "Comet": COMET[".".join(spark.version.split(".")[:2])],
        "Java": str(java.collect()[0][0]),
        "CPU": f"{os.cpu_count()} cores, {processor()}",
        "memory": f"{given.memory} of heap, 4g outside",
    }
    out.mkdir(parents=True, exist_ok=True)
    results: dict[str, dict[str, Any]] = {}
    for query, sql in queries.items():
        its = measure(spark, sql, given.rounds, given.again, few=not given.rooms)
        results[query] = its
        # Broadcasts of earlier queries go when the garbage is collected.
        spark.sql("SELECT reflect('java.lang.System', 'gc')").collect()
        middles = {way: statistics.median(its["seconds"][way]) for way in WAYS}
        took = ", ".join(f"{way} {seconds:.2f}" for way, seconds in middles.items())
        print(
            f"{query}: {took}, better / both {ratio(its['seconds']):.2f}",
            "(Comet's plan)" if its["comets_plan"] else "",
            *its["wrong"],
            flush=True,
        )
        # After each, so that a run that ends early leaves what it has.
        (out / f"{name}.md").write_text(page(name, results, facts))
        (out / f"{name}.json").write_text(
            json.dumps({"environment": facts, "queries": results}, indent=1) + "\n"
        )
    spark.stop()


def processor() -> str:
    """The name of this machine's processor."""
    file = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.+)", file.read_text()) if file.exists() else []
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
