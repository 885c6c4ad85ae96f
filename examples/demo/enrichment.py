"""A lookup join in its three modes, side by side."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyspark.cloudpickle

import firesteel
from demo import comparison, store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

cloudpickle: Any = pyspark.cloudpickle  # untyped

TABLE = "customers"
ORDERS = "demo_orders_to_enrich"
COLUMNS = ("order_id", "customer", "name", "country")


@dataclass(frozen=True)
class Mode:
    """A way of distributing the rows before they are looked up.

    Attributes:
        partitioner: Whether the connector offers its own.
        shuffle: What the hint says.
    """

    partitioner: bool
    shuffle: bool


MODES = (
    Mode(partitioner=True, shuffle=False),
    Mode(partitioner=False, shuffle=True),
    Mode(partitioner=True, shuffle=True),
)


@dataclass(frozen=True)
class Enriched:
    """What one mode took.

    Attributes:
        mode: The mode.
        shuffle: What the plan says of its shuffle.
        digest: Equal for equal answers.
        requests: Round trips to the store.
        hits: Rows that found their key in the cache, or being asked for already.
        misses: Keys that the store was asked for.
        files_opened: SQLite files that tasks opened.
        seconds: Time of each timed run.
    """

    mode: Mode
    shuffle: str
    digest: str
    requests: int
    hits: int
    misses: int
    files_opened: int
    seconds: Sequence[float]

    @property
    def hit_rate(self) -> float:
        """Share of the rows with a key that needed no question of their own."""
        return self.hits / max(1, self.hits + self.misses)

    @property
    def median(self) -> float:
        """The median time of a run, in seconds."""
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Subject:
    """Orders and their store.

    Attributes:
        folder: Folder of the store.
        orders: Rows to enrich.
        customers: Keys of the store.
        cached: Most keys in a worker's cache.
    """

    folder: Path
    orders: int
    customers: int
    cached: int

    @property
    def description(self) -> str:
        """What is enriched, for the reader."""
        return (
            f"{self.orders:,} orders enriched from {self.customers:,} customers in {store.FILES} "
            f"SQLite files that take {store.MILLISECONDS} ms to answer, as over a network; a "
            f"connector in Python with a cache of {self.cached:,} customers; requests to the "
            "connector, hit rate of the cache, files opened by the tasks"
        )


def prepare(spark: SparkSession, folder: Path, orders: int) -> Subject:
    """Make orders, in the view of that name, and the store.

    Args:
        spark: A running session.
        folder: An existing folder for the store.
        orders: How many orders.

    Returns:
        What was made: a customer for every ten orders, and a cache for one customer in eight.
    """
    # Workers cannot import the demo, so that a connector carries the code of its module.
    cloudpickle.register_pickle_by_value(store)
    customers = max(store.FILES, orders // 10)
    store.write(folder, customers)
    # One customer in eleven is not known to the store.
    columns = ("id AS order_id", f"pmod(xxhash64(id, 5), {customers * 11 // 10}) AS customer")
    spark.range(0, orders, 1, store.FILES).selectExpr(*columns).createOrReplaceTempView(ORDERS)
    return Subject(folder, orders, customers, max(1, customers // store.FILES))


def steps(repetitions: int) -> int:
    """How many runs `compare` makes, for a progress bar."""
    return len(MODES) * (1 + repetitions)


def compare(
    spark: SparkSession, subject: Subject, repetitions: int, done: Callable[[], None]
) -> list[Enriched]:
    """Run every mode, in turn; the first run of each warms it up and is not timed.

    Args:
        spark: A session with the extension.
        subject: What `prepare` made.
        repetitions: Timed runs of each mode.
        done: Called after each run.

    Returns:
        What each mode took. Whether the answers are right is the caller's to look at.
    """
    rounds: list[list[Enriched]] = []
    for _ in range(1 + repetitions):
        rounds.append([])
        for mode in MODES:
            rounds[-1].append(_run(spark, subject, mode))
            done()
    return [
        Enriched(**(vars(runs[-1]) | {"seconds": [run.seconds[0] for run in runs[1:]]}))
        for runs in zip(*rounds, strict=True)
    ]


def expected(spark: SparkSession, subject: Subject) -> str:
    """Return the digest of the right answer, by Spark's own join."""
    customers = spark.sql(store.AS_SQL.format(customers=subject.customers))
    joined = spark.table(ORDERS).join(customers.withColumnRenamed("id", "customer"), "customer")
    return comparison.run(joined, COLUMNS).digest


def _run(spark: SparkSession, subject: Subject, mode: Mode) -> Enriched:
    joined = _joined(spark, subject, mode)
    start = time.perf_counter()
    work = comparison.run(joined, COLUMNS)
    seconds = time.perf_counter() - start
    (report,) = firesteel.lookup_metrics(joined).joins
    return Enriched(
        mode,
        report.values["shuffle"],
        work.digest,
        report.metrics["requests"],
        report.metrics["hits"],
        report.metrics["misses"],
        store.take_opened(subject.folder),
        [seconds],
    )


def _joined(spark: SparkSession, subject: Subject, mode: Mode) -> DataFrame:
    kind = store.ShardedCustomers if mode.partitioner else store.SqliteCustomers
    firesteel.register_lookup(
        spark, TABLE, kind(subject.folder), cache="PARTIAL", max_rows=subject.cached
    )
    orders, customers = spark.table(ORDERS), spark.table(TABLE)
    matching = orders["customer"] == customers["id"]
    joined = firesteel.lookup_join(orders, customers, matching, shuffle=mode.shuffle)
    return joined.select(*COLUMNS)
