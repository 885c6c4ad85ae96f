"""A stream that enriches orders from one PostgreSQL table and writes them to another, once each.

    python examples/lookup/enrich_to_postgres.py --orders FOLDER --checkpoint FOLDER --database URL

``FOLDER`` of orders has JSON files such as ``{"order_id": 1, "customer": 7, "amount": 9.5}``; the
database, ``postgresql://user@host/name`` with the password in ``PGPASSWORD``, has a table
``customers (id bigint, country text)``. The stream takes all files that are there and ends; run it
again when there are more. It needs ``psycopg``.

It may be killed at any moment and started again. Spark repeats the micro-batch that had not ended,
with the same number and the same files, and `write_batch` replaces what an earlier try of that
number has written. The rows of a micro-batch pass through the driver, so ``maxFilesPerTrigger``
bounds its memory. A new checkpoint counts its batches from 0: give it a table of its own.
"""

from __future__ import annotations

import argparse

import psycopg
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import firesteel
from firesteel import TaskInfo

ORDER = "order_id BIGINT, customer BIGINT, amount DOUBLE"

TABLE = """
    CREATE TABLE IF NOT EXISTS enriched_orders (
      batch bigint NOT NULL,
      order_id bigint,
      customer bigint,
      amount double precision,
      country text);
    CREATE INDEX IF NOT EXISTS enriched_orders_batch ON enriched_orders (batch)"""


class PostgresCustomers:
    """Customers of a PostgreSQL table, a statement for each batch of keys."""

    schema = "id BIGINT, country STRING"
    keys = ("id",)

    def __init__(self, database: str) -> None:
        self.database = database

    def open(self, task: TaskInfo) -> None:
        """Connect; a cache that has every key connects to nothing."""
        self.connection = psycopg.connect(
            self.database, autocommit=True, application_name=task.name
        )

    def lookup(self, keys: pa.Table) -> pa.Table:
        """Read the customers of all keys."""
        query = "SELECT id, country FROM customers WHERE id = ANY(%s)"
        rows = self.connection.execute(query, [keys["id"].to_pylist()]).fetchall()
        return pa.table(
            {
                "id": pa.array([row[0] for row in rows], pa.int64()),
                "country": pa.array([row[1] for row in rows], pa.string()),
            }
        )

    def close(self) -> None:
        """Disconnect."""
        self.connection.close()


def write_batch(rows: DataFrame, batch: int, database: str) -> None:
    """Put a micro-batch in the place of what an earlier try of it has written, or write nothing."""
    copy = "COPY enriched_orders (batch, order_id, customer, amount, country) FROM STDIN"
    ordered = rows.select("order_id", "customer", "amount", "country")
    with psycopg.connect(database) as connection:  # one transaction, committed at the end
        connection.execute("DELETE FROM enriched_orders WHERE batch = %s", [batch])
        with connection.cursor().copy(copy) as into:
            for row in ordered.toLocalIterator():
                into.write_row((batch, *row))


def run(spark: SparkSession, orders: str, checkpoint: str, database: str) -> None:
    """Enrich all files that are there, a few in each micro-batch."""
    with psycopg.connect(database) as connection:
        connection.execute(TABLE)
    firesteel.register_lookup(
        spark,
        "customers",
        PostgresCustomers(database),
        cache="PARTIAL",
        max_rows=100_000,
        expire_after_write="10 min",  # how old an answer may be
    )
    incoming = spark.readStream.schema(ORDER).option("maxFilesPerTrigger", 2).json(orders)
    customers = spark.table("customers")
    matching = incoming["customer"] == customers["id"]
    enriched = firesteel.lookup_join(incoming, customers, matching, "left", shuffle=True)
    stream = (
        enriched.writeStream.option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .foreachBatch(lambda rows, batch: write_batch(rows, batch, database))
        .start()
    )
    stream.awaitTermination()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Enriches orders and writes them to PostgreSQL.")
    for name in ("--orders", "--checkpoint", "--database"):
        parser.add_argument(name, required=True)
    given = parser.parse_args()
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2)
    spark = firesteel.configure(builder.config("spark.ui.enabled", False)).getOrCreate()
    run(spark, given.orders, given.checkpoint, given.database)
    spark.stop()


if __name__ == "__main__":
    main()
