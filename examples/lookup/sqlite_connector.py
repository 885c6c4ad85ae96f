"""A lookup connector over SQLite with a custom shuffle, in the standard library.

The customers are in several SQLite files, by id. With the custom shuffle, each task looks up only
customers of its own files, so it opens only these files.

    python examples/lookup/sqlite_connector.py
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Row, SparkSession

import firesteel
from firesteel import LookupContext, TaskInfo


class SqliteCustomers:
    """Customers in ``files`` SQLite files of a folder that every worker can read.

    The connector is pickled to the workers. So it has a path, and `open` makes the connections.
    """

    schema = "id BIGINT, name STRING, country STRING"
    keys = ("id",)

    def __init__(self, folder: str, files: int) -> None:
        self.folder = folder
        self.files = files
        self.connections: dict[int, sqlite3.Connection] = {}

    def partition(self, join_keys: Row, num_partitions: int) -> int:
        """Choose the same task for all customers of a file."""
        return self._file_of(join_keys.id) % num_partitions

    def open(self, task: TaskInfo, context: LookupContext) -> None:
        """Open the files of this task, or all files without a custom shuffle."""
        self.wanted = context.columns
        for file in range(self.files):
            if not context.custom_shuffle or file % task.count == task.index:
                path = Path(self.folder, f"customers-{file}.db")
                self.connections[file] = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def lookup(self, keys: pa.Table) -> pa.Table:
        """Read the customers of each file in one query."""
        ids_by_file: dict[int, list[int]] = {}
        for customer in keys["id"].to_pylist():
            ids_by_file.setdefault(self._file_of(customer), []).append(customer)
        columns = ", ".join(self.wanted)  # names of the schema above
        rows: list[tuple[object, ...]] = []
        for file, ids in ids_by_file.items():
            marks = ", ".join("?" * len(ids))
            query = f"SELECT {columns} FROM customers WHERE id IN ({marks})"
            rows += self.connections[file].execute(query, ids)
        types = {"id": pa.int64(), "name": pa.string(), "country": pa.string()}
        schema = pa.schema([(column, types[column]) for column in self.wanted])
        return pa.Table.from_pylist(
            [dict(zip(self.wanted, row, strict=True)) for row in rows], schema
        )

    def close(self) -> None:
        """Close the files."""
        for connection in self.connections.values():
            connection.close()

    def _file_of(self, customer: int) -> int:
        return customer % self.files


def write_customers(folder: str, files: int) -> None:
    """Make a store of 1,000 customers."""
    for file in range(files):
        path = Path(folder, f"customers-{file}.db")
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name, country)")
            rows = [(n, f"customer {n}", ("ch", "is")[n % 2]) for n in range(file, 1000, files)]
            connection.executemany("INSERT INTO customers VALUES (?, ?, ?)", rows)


def main() -> None:
    """Enrich orders with the names of customers."""
    spark = firesteel.configure(SparkSession.builder.master("local[2]")).getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        write_customers(folder, files=4)
        firesteel.register_lookup(
            spark, "customers", SqliteCustomers(folder, files=4), cache="PARTIAL", max_rows=500
        )
        enriched = spark.sql("""
            SELECT /*+ LOOKUP('table'='c', 'shuffle'='true') */ o.id, o.customer, c.name
            FROM (SELECT id, id * 7 % 1200 AS customer FROM range(2000)) AS o
            LEFT JOIN customers AS c ON o.customer = c.id""")
        known = enriched.where("name IS NOT NULL").count()
        print(f"{known} of {enriched.count()} orders have a known customer")
        enriched.orderBy("id").show(5)
    spark.stop()


if __name__ == "__main__":
    main()
