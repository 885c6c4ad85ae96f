"""The example of three joined streams that keep a PostgreSQL table: killed, and started again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.python.postgres_server import Postgres, running

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "changelog" / "open_orders_to_postgres.py"

KILLED = """
import os
import firesteel
import open_orders_to_postgres as example

make = firesteel.apply_changes


def dies_after_the_second(*args, **named):
    apply = make(*args, **named)

    def write(rows, batch):
        apply(rows, batch)
        if batch == 1:
            os._exit(0)  # in the table, and not yet in the checkpoint

    return write


firesteel.apply_changes = dies_after_the_second
example.main()
"""


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    """A server with the table that the example's docstring tells to make."""
    words = EXAMPLE.read_text(encoding="utf-8")
    create = words[words.index("CREATE TABLE") : words.index(";", words.index("CREATE TABLE"))]
    with running() as server:
        server.execute(create)
        yield server


class Shop:
    """Orders, customers and payments at random, and the orders that are open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.random = random.Random(20261126)
        self.orders: dict[int, dict[str, Any]] = {}
        self.names: dict[int, str] = {}
        self.paid: dict[int, int] = {}
        self.moment = 0

    def write(self, name: str) -> None:
        """Write a file of each stream."""
        new = range(len(self.orders), len(self.orders) + 20)
        rows = [
            {"order_id": n, "customer": None if n % 7 == 0 else n % 13, "amount": n % 5 + 1}
            for n in new
        ]
        self.orders |= dict(zip(new, rows, strict=True))
        self._write(f"orders/{name}", rows)
        self._write(f"customers/{name}", [self._change() for _ in range(10)])
        self._write(f"payments/{name}", [self._payment() for _ in range(25)])

    def _change(self) -> dict[str, Any]:
        self.moment += 1
        customer = self.random.randrange(13)
        if self.names.pop(customer, None) and self.random.random() < 0.4:
            return {"op": "d", "id": customer, "changed": self.moment}
        self.names[customer] = f"{customer} at {self.moment}"
        return {
            "op": "u",
            "id": customer,
            "name": self.names[customer],
            "changed": self.moment,
        }

    def _payment(self) -> dict[str, Any]:
        order = self.random.randrange(len(self.orders) + 5)  # some are of no order yet
        self.paid[order] = self.paid.get(order, 0) + 1
        return {"order_id": order, "paid": 1}

    def _write(self, path: str, rows: list[dict[str, Any]]) -> None:
        file = self.folder / f"{path}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def open(self) -> list[str]:
        """What the table must have, a line for each order."""
        lines = []
        for number, order in self.orders.items():
            due = order["amount"] - self.paid.get(number, 0)
            if due > 0:
                name = self.names.get(order["customer"], "-")
                lines.append(f"{number}|{name}|{order['amount']}.00|{due}.00")
        return lines


def test_killed_and_resumed_it_equals_what_the_files_say(
    run: Callable[..., str], postgres: Postgres, tmp_path: Path
) -> None:
    shop = Shop(tmp_path)
    for n in range(3):
        shop.write(f"first-{n}")
    driver = subprocess.run(
        [ROOT / "build" / "driver", "org.postgresql:postgresql:42.7.5"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    arguments = [f"--{name}={tmp_path / name}" for name in ("orders", "customers", "payments")]
    arguments += [f"--checkpoint={tmp_path / 'checkpoint'}", f"--driver={driver}"]
    arguments += [f"--database={postgres.url}", f"--user={postgres.user}"]
    secret = {"PGPASSWORD": postgres.password, "PYTHONPATH": str(EXAMPLE.parent)}

    def table() -> list[str]:
        rows = "SELECT order_id, coalesce(name, '-'), amount, due FROM open_orders ORDER BY 1"
        return postgres.execute(rows).splitlines()

    run(sys.executable, "-c", KILLED, *arguments, **secret)
    after_two = table()
    assert after_two
    assert after_two != shop.open()
    shop.write("second-0")
    run(sys.executable, EXAMPLE, *arguments, **secret)
    assert table() == shop.open()
