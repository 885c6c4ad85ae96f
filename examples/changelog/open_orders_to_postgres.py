"""Joins orders with changing customers and payments, and keeps the result in PostgreSQL.

    python examples/changelog/open_orders_to_postgres.py --orders DIR --customers DIR \
        --payments DIR --checkpoint DIR --database jdbc:postgresql://HOST/NAME --user USER \
        --driver postgresql.jar

The folders have JSON files:

    orders      {"order_id": 1, "customer": 7, "amount": 9.50}
    customers   {"op": "u", "id": 7, "name": "Anna", "changed": 3}   (op "d" deletes the customer)
    payments    {"order_id": 1, "paid": 4.00}

The database has the table

    CREATE TABLE open_orders (order_id bigint PRIMARY KEY, name text, amount numeric, due numeric);

The password is in ``PGPASSWORD``. The table has each order that is not paid in full, with the
newest name of its customer. An order leaves the table when its last payment comes, and its row
changes when the customer's name does. The program reads all files and ends. Run it again when there
are more files. You may kill it at any moment and start it again: each micro-batch is applied to the
table exactly once.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

from pyspark.sql import SparkSession

import firesteel

ORDERS = "order_id BIGINT, customer BIGINT, amount DECIMAL(10, 2)"
CUSTOMERS = "op STRING, id BIGINT, name STRING, changed BIGINT"
PAYMENTS = "order_id BIGINT, paid DECIMAL(10, 2)"

OPEN_ORDERS = """
    SELECT o.order_id, c.name, o.amount, o.amount - coalesce(p.paid, 0) AS due
    FROM orders AS o
    LEFT JOIN customers AS c ON o.customer = c.id
    LEFT JOIN (SELECT order_id, sum(paid) AS paid FROM payments GROUP BY order_id) AS p
      ON o.order_id = p.order_id
    WHERE o.amount > coalesce(p.paid, 0)"""


def open_orders(spark: SparkSession, folders: Mapping[str, str]) -> None:
    """Make the view of open orders over three streams: one file of each in each micro-batch."""
    reader = spark.readStream.option("maxFilesPerTrigger", 1)
    reader.schema(ORDERS).json(folders["orders"]).createOrReplaceTempView("orders")
    changes = reader.schema(CUSTOMERS).json(folders["customers"])
    customers = firesteel.from_changelog(changes, keys="id", sequence_by="changed")
    customers.createOrReplaceTempView("customers")
    reader.schema(PAYMENTS).json(folders["payments"]).createOrReplaceTempView("payments")
    spark.sql(OPEN_ORDERS).createOrReplaceTempView("open_orders")


def run(spark: SparkSession, checkpoint: str, table: Mapping[str, str]) -> None:
    """Apply the changes of the view to the table, until all files are read."""
    stream = (
        spark.sql("SELECT *, row_kind() AS op FROM open_orders")
        .writeStream.foreachBatch(firesteel.apply_changes(table, keys="order_id"))
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    stream.awaitTermination()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Keeps a table of open orders in PostgreSQL.")
    sources = ("orders", "customers", "payments")
    for name in (*sources, "checkpoint", "database", "user", "driver"):
        parser.add_argument(f"--{name}", required=True)
    given = vars(parser.parse_args())
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2)
    builder.config("spark.ui.enabled", False).config("spark.jars", given["driver"])
    spark = firesteel.configure(builder).getOrCreate()
    open_orders(spark, {name: given[name] for name in sources})
    login = {"user": given["user"], "password": os.environ["PGPASSWORD"]}
    run(spark, given["checkpoint"], {"url": given["database"], "dbtable": "open_orders"} | login)
    spark.stop()


if __name__ == "__main__":
    main()
