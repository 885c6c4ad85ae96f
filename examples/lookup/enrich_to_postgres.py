"""Enriches a stream of orders from one PostgreSQL table and writes each order once to another.

    python examples/lookup/enrich_to_postgres.py --orders FOLDER --checkpoint FOLDER --database URL

The folder of orders has JSON files such as ``{"order_id": 1, "customer": 7, "amount": 9.5}``. The
database, ``postgresql://user@host/name`` with the password in ``PGPASSWORD``, has a table
``customers (id bigint, country text)``. The program reads all files and ends. Run it again when
there are more files. It needs ``psycopg``.

You may kill it at any moment and start it again. Spark repeats the unfinished micro-batch with the
same number and the same files, and `write_batch` replaces the rows of an earlier attempt. The rows
of a micro-batch go through the driver, so ``maxFilesPerTrigger`` bounds its memory. A new
checkpoint numbers its batches from 0, so it needs a table of its own.
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
    """Customers of a PostgreSQL table, read by one statement for each batch of keys."""

    schema = "id BIGINT, country STRING"
    keys = ("id",)

    def __init__(self, database: str) -> None:
        self.database = database

    def open(self, task: TaskInfo) -> None:
        """Connect. A task that finds every key in the cache does not connect."""
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
    """Write a micro-batch in one transaction, and delete the rows of an earlier attempt."""
    copy = "COPY enriched_orders (batch, order_id, customer, amount, country) FROM STDIN"
    ordered = rows.select("order_id", "customer", "amount", "country")
    with psycopg.connect(database) as connection:  # one transaction, committed at the end
        connection.execute("DELETE FROM enriched_orders WHERE batch = %s", [batch])
        with connection.cursor().copy(copy) as into:
            for row in ordered.toLocalIterator():
                into.write_row((batch, *row))


def run(spark: SparkSession, orders: str, checkpoint: str, database: str) -> None:
    """Enrich all files, a few in each micro-batch."""
    with psycopg.connect(database) as connection:
        connection.execute(TABLE)
    firesteel.register_lookup(
        spark,
        "customers",
        PostgresCustomers(database),
        cache="PARTIAL",
        max_rows=100_000,
        expire_after_write="10 min",  # the age limit of an answer
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
