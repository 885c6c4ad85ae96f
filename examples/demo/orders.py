"""The demo's join of streams: orders, a changing table of customers, and payments."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from pyspark.errors import StreamingQueryException

import firesteel
from demo.errors import DemoError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession

FILES = 4
"""Files of each stream; a micro-batch reads one of each."""

ORDERS = 500
"""Orders in a file."""

CUSTOMERS = 40

SCHEMAS = {
    "orders": "order_id INT, customer INT, amount INT",
    "customers": "op STRING, id INT, country STRING, changed INT",
    "payments": "order_id INT, paid INT",
}

# Spark refuses it: an aggregate below a join, and outer joins of streams without watermarks.
QUERY = """\
SELECT country, count(*) AS open_orders, sum(amount - coalesce(paid, 0)) AS due
FROM orders AS o LEFT JOIN customers AS c ON o.customer = c.id
LEFT JOIN (SELECT order_id, sum(paid) AS paid FROM payments GROUP BY order_id) AS p
  ON o.order_id = p.order_id
WHERE amount > coalesce(paid, 0) GROUP BY country"""


def write_files(folder: Path) -> None:
    """Make the files: in each, customers move to other countries and orders are paid."""
    chance = random.Random(5)
    for name in SCHEMAS:
        (folder / name).mkdir(parents=True)
    for file in range(FILES):
        first = file * ORDERS
        rows: dict[str, list[dict[str, Any]]] = {
            "orders": [
                {"order_id": n, "customer": chance.randrange(CUSTOMERS), "amount": 10}
                for n in range(first, first + ORDERS)
            ],
            "customers": [
                {
                    "op": "d" if chance.random() < 0.1 else "u",
                    "id": n,
                    "country": chance.choice(["Austria", "Brazil", "Chad"]),
                    "changed": file,
                }
                for n in range(CUSTOMERS)
            ],
            "payments": [
                {"order_id": chance.randrange(first + ORDERS), "paid": chance.randint(1, 10)}
                for _ in range(ORDERS)
            ],
        }
        for name, lines in rows.items():
            text = "\n".join(map(json.dumps, lines))
            (folder / name / f"{file}.json").write_text(text, encoding="utf-8")


def follow(session: SparkSession, folder: Path, show: Callable[[int, Sequence[Row]], None]) -> bool:
    """Run the stream and show the changes of each micro-batch.

    Args:
        session: A running session; the stream gets a session of its own in it.
        folder: The folder with the files.
        show: Called with the number of a micro-batch and the changes that it emits.

    Returns:
        Whether the changes add up to the batch query's answer.

    Raises:
        DemoError: The stream fails, or a micro-batch takes back a row that is not there.
    """
    own = session.newSession()
    own.conf.set("spark.sql.shuffle.partitions", 2)
    manager = "io.firesteel.checkpoint.LocalCheckpointFileManager"
    own.conf.set("spark.sql.streaming.checkpointFileManagerClass", manager)
    result: list[tuple[Any, ...]] = []

    def keep(changes: DataFrame, batch: int) -> None:
        rows = changes.collect()
        for row in rows:
            *values, op = row
            if op in ("+I", "+U"):
                result.append(tuple(values))
            elif tuple(values) in result:
                result.remove(tuple(values))
            else:
                raise DemoError(f"{op} of a row that is not there: {values}")
        show(batch, rows)

    reader = own.readStream.option("maxFilesPerTrigger", 1)
    views(own, lambda name: reader.schema(SCHEMAS[name]).json(str(folder / name)))
    changes = own.sql(f"SELECT *, row_kind() AS op FROM ({QUERY})").writeStream.foreachBatch(keep)
    changes = changes.option("checkpointLocation", str(folder / "checkpoint"))
    try:
        changes.trigger(availableNow=True).start().awaitTermination()
    except StreamingQueryException as error:
        raise DemoError(f"the stream has failed: {str(error)[:2000]}") from error
    batch = own.newSession()
    views(batch, lambda name: batch.read.schema(SCHEMAS[name]).json(str(folder / name)))
    return sorted(map(str, result)) == sorted(str(tuple(row)) for row in batch.sql(QUERY).collect())


def views(session: SparkSession, read: Callable[[str], DataFrame]) -> None:
    """Name the three inputs; that of customers is the table that its rows change."""
    for name in SCHEMAS:
        rows = read(name)
        if name == "customers":
            rows = firesteel.from_changelog(rows, keys="id", sequence_by="changed")
        rows.createOrReplaceTempView(name)
