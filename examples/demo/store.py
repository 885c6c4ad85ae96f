"""The outside store of the demo's enrichment: customers in SQLite files, and its connector."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import Row

    from firesteel import LookupContext, TaskInfo

FILES = 8
"""SQLite files that customers lie in, by the remainder of their id."""

MILLISECONDS = 5
"""How long a file takes to answer, as a store behind a network would."""

COUNTRIES = ("ch", "is", "jp", "ke")

AS_SQL = (
    "SELECT id, concat('customer ', id) AS name, "
    f"element_at(array{COUNTRIES}, CAST(id % {len(COUNTRIES)} AS INT) + 1) AS country "
    "FROM range({customers})"
)
"""The same customers, made by Spark: what a right answer is compared with."""


def write(folder: Path, customers: int) -> None:
    """Make the store.

    Args:
        folder: Where the files go; it exists.
        customers: How many customers there are, with ids from 0.
    """
    (folder / "opened").mkdir()
    for file in range(FILES):
        with closing(sqlite3.connect(_path(folder, file))) as connection, connection:
            connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name, country)")
            ids = range(file, customers, FILES)
            rows = ((n, f"customer {n}", COUNTRIES[n % len(COUNTRIES)]) for n in ids)
            connection.executemany("INSERT INTO customers VALUES (?, ?, ?)", rows)


def take_opened(folder: Path) -> int:
    """Count the files that tasks have opened since this was called last."""
    notes = list((folder / "opened").iterdir())
    opened = sum(int(note.read_text(encoding="utf-8")) for note in notes)
    for note in notes:
        note.unlink()
    return opened


class SqliteCustomers:
    """Looks customers up in the files; any task may be asked for any customer."""

    schema = "id BIGINT, name STRING, country STRING"
    keys = ("id",)

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.connections: dict[int, sqlite3.Connection] = {}

    def open(self, task: TaskInfo, context: LookupContext) -> None:
        """Open the files of this task; all of them when the partitioner is not applied."""
        mine = [
            file
            for file in range(FILES)
            if not context.custom_shuffle or file % task.count == task.index
        ]
        for file in mine:
            uri = f"file:{_path(self.folder, file)}?mode=ro"
            self.connections[file] = sqlite3.connect(uri, uri=True)
        note = self.folder / "opened" / uuid4().hex
        note.write_text(str(len(mine)), encoding="utf-8")

    def lookup(self, keys: pa.Table) -> pa.Table:
        """Ask each file once for all of its customers."""
        by_file: dict[int, list[int]] = {}
        for customer in keys["id"].to_pylist():
            by_file.setdefault(customer % FILES, []).append(customer)
        rows: list[tuple[int, str, str]] = []
        for file, ids in by_file.items():
            query = (
                f"SELECT id, name, country FROM customers WHERE id IN ({','.join('?' * len(ids))})"
            )
            time.sleep(MILLISECONDS / 1000)
            rows += self.connections[file].execute(query, ids)
        ids_, names, countries = zip(*rows, strict=True) if rows else ((), (), ())
        return pa.table(
            {
                "id": pa.array(ids_, pa.int64()),
                "name": pa.array(names, pa.string()),
                "country": pa.array(countries, pa.string()),
            }
        )

    def close(self) -> None:
        """Close the files."""
        for connection in self.connections.values():
            connection.close()


class ShardedCustomers(SqliteCustomers):
    """The same with a partitioner, which keeps each file to one task."""

    def partition(self, join_keys: Row, num_partitions: int) -> int:
        """All customers of a file go to one task."""
        return int(join_keys.id % FILES % num_partitions)


def _path(folder: Path, file: int) -> Path:
    return folder / f"customers-{file}.db"
