"""Values orders at the exchange rate of their time, and finds their payments within an hour.

    python examples/changelog/orders_in_euros.py --orders DIR --rates DIR --payments DIR \
        --checkpoint DIR --out DIR

The folders have JSON files:

    orders      {"id": 1, "currency": "USD", "amount": 9.50, "at": "2026-03-01 08:01:00"}
    rates       {"currency": "USD", "rate": 0.92, "since": "2026-03-01 08:00:00"}
    payments    {"id": 1, "paid": 4.00, "at": "2026-03-01 08:30:00"}

The folder ``out`` has Parquet files with two kinds of rows, in ``euros`` and ``prompt``:

    euros       each order with its amount in euros, by the rate that was valid at its time
    prompt      each payment within an hour of its order

Rows are written once. An order waits for its rate until the watermark, two minutes behind the
slower of the two folders, has reached its time. A payment is written when its order is there, and
state lets both go an hour later. The program reads all
files and ends. Run it again when there are more files.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from pyspark.sql import SparkSession

import firesteel

SCHEMAS = {
    "orders": "id BIGINT, currency STRING, amount DECIMAL(10, 2), at TIMESTAMP",
    "rates": "currency STRING, rate DECIMAL(10, 4), since TIMESTAMP",
    "payments": "id BIGINT, paid DECIMAL(10, 2), at TIMESTAMP",
}

RATE_OF = """
    SELECT currency, rate FROM (
      SELECT *, row_number() OVER (PARTITION BY currency ORDER BY since DESC) AS place FROM rates)
    WHERE place = 1"""

EUROS = """
    SELECT o.id, o.at, o.amount * r.rate AS euros
    FROM orders AS o LEFT JOIN rate_of FOR SYSTEM_TIME AS OF o.at AS r ON o.currency = r.currency"""

PROMPT = """
    SELECT o.id, o.amount, p.paid
    FROM orders AS o
    JOIN payments AS p ON o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 1 HOUR"""


def read(spark: SparkSession, folders: Mapping[str, str]) -> None:
    """Make a view of each folder: one file of each in a micro-batch, two minutes of patience."""
    for name, schema in SCHEMAS.items():
        time = "since" if name == "rates" else "at"
        rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(folders[name])
        rows.withWatermark(time, "2 minutes").createOrReplaceTempView(name)
    spark.sql(RATE_OF).createOrReplaceTempView("rate_of")


def run(spark: SparkSession, checkpoint: str, out: str) -> None:
    """Write both results until all files are read."""
    for name, query in {"euros": EUROS, "prompt": PROMPT}.items():
        stream = (
            spark.sql(query)
            .writeStream.format("parquet")
            .option("checkpointLocation", f"{checkpoint}/{name}")
            .trigger(availableNow=True)
            .start(f"{out}/{name}")
        )
        stream.awaitTermination()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Values orders at the rate of their time.")
    for name in (*SCHEMAS, "checkpoint", "out"):
        parser.add_argument(f"--{name}", required=True)
    given = vars(parser.parse_args())
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2)
    spark = firesteel.configure(builder.config("spark.ui.enabled", False)).getOrCreate()
    read(spark, given)
    run(spark, given["checkpoint"], given["out"])
    spark.stop()


if __name__ == "__main__":
    main()
