"""The example of a stream that writes enriched rows to PostgreSQL: killed, and started again."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.python.postgres_server import Postgres, running
from tests.python.since_spark import needs_arrow_functions

EXAMPLES = Path(__file__).parents[2] / "examples" / "lookup"

KILLED_AFTER_WRITING = """
import os
import enrich_to_postgres as example

written = example.write_batch


def write_batch(rows, batch, database):
    written(rows, batch, database)
    if batch == 1:
        os._exit(0)  # committed in the database, and not yet in the checkpoint


example.write_batch = write_batch
example.main()
"""

KILLED_WHILE_WRITING = """
import os
import enrich_to_postgres as example

example.psycopg.Copy.write_row = lambda copy, row: os._exit(0)
example.main()
"""


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    """A server with the customers 0 to 39."""
    with running() as server:
        server.execute("""
            CREATE TABLE customers (id bigint PRIMARY KEY, country text);
            INSERT INTO customers SELECT n, 'c' || n % 7 FROM generate_series(0, 39) AS n""")
        yield server


def write_orders(folder: Path, name: str, ids: range) -> None:
    """Write a file of orders; some of their customers are not known, and some orders have none."""
    orders = [
        {"order_id": n, "customer": None if n % 9 == 0 else n * 7 % 50, "amount": n / 4}
        for n in ids
    ]
    (folder / f"{name}.json").write_text("\n".join(map(json.dumps, orders)), encoding="utf-8")


@needs_arrow_functions
def test_a_killed_stream_goes_on_with_no_row_lost_and_none_doubled(
    run: Callable[..., str], postgres: Postgres, tmp_path: Path
) -> None:
    orders = tmp_path / "orders"
    orders.mkdir()
    for file in range(6):  # two in each micro-batch
        write_orders(orders, f"first-{file}", range(file * 50, file * 50 + 50))
    database = f"postgresql://{postgres.user}@127.0.0.1:{postgres.port}/{postgres.database}"
    arguments = ["--orders", orders, "--checkpoint", tmp_path / "checkpoint"]
    arguments += ["--database", database]
    secret = {"PGPASSWORD": postgres.password, "PYTHONPATH": str(EXAMPLES)}

    def rows() -> tuple[int, int]:
        count = "SELECT count(*) || ' ' || count(DISTINCT order_id) FROM enriched_orders"
        total, distinct = postgres.execute(count).split()
        return int(total), int(distinct)

    run(sys.executable, "-c", KILLED_AFTER_WRITING, *arguments, **secret)
    assert rows() == (200, 200)
    run(sys.executable, "-c", KILLED_WHILE_WRITING, *arguments, **secret)
    assert rows() == (200, 200)
    write_orders(orders, "second", range(300, 350))
    run(sys.executable, EXAMPLES / "enrich_to_postgres.py", *arguments, **secret)
    assert rows() == (350, 350)
    wrong = """
        SELECT count(*) FROM enriched_orders AS o LEFT JOIN customers AS c ON o.customer = c.id
        WHERE o.country IS DISTINCT FROM c.country OR o.amount <> o.order_id / 4.0
          OR o.customer IS DISTINCT FROM
            CASE WHEN o.order_id % 9 > 0 THEN o.order_id * 7 % 50 END"""
    assert postgres.execute(wrong) == "0"
    assert postgres.execute("SELECT count(DISTINCT batch) FROM enriched_orders") == "4"
