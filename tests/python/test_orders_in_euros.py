"""The example of a temporal and an interval join: orders at the rates of their time."""

from __future__ import annotations

import json
import runpy
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]


def write(folder: Path, number: int, rows: list[dict[str, Any]]) -> None:
    """One file of rows as JSON."""
    folder.mkdir(exist_ok=True)
    (folder / f"{number}.json").write_text("\n".join(json.dumps(row) for row in rows))


def at(time: str) -> str:
    return f"2026-03-01 {time}:00"


def test_orders_take_the_rate_of_their_time(spark: SparkSession, tmp_path: Path) -> None:
    orders, rates, payments = (tmp_path / name for name in ("orders", "rates", "payments"))
    example = runpy.run_path(str(ROOT / "examples" / "changelog" / "orders_in_euros.py"))

    def run() -> None:
        example["read"](spark, {name: str(tmp_path / name) for name in example["SCHEMAS"]})
        example["run"](spark, str(tmp_path / "checkpoint"), str(tmp_path / "out"))

    def result(name: str, columns: str) -> list[tuple[Any, ...]]:
        rows = spark.read.parquet(str(tmp_path / "out" / name)).selectExpr(*columns.split(", "))
        return sorted(tuple(row) for row in rows.collect())

    def order(number: int, currency: str, time: str) -> dict[str, Any]:
        return {"id": number, "currency": currency, "amount": 10, "at": at(time)}

    def rate(value: float, time: str) -> dict[str, Any]:
        return {"currency": "USD", "rate": value, "since": at(time)}

    write(
        orders,
        1,
        [order(1, "USD", "08:01"), order(2, "XXX", "08:02"), order(3, "USD", "08:20")],
    )
    write(rates, 1, [rate(0.9, "08:00"), rate(0.8, "08:10"), rate(0.7, "08:30")])
    write(payments, 1, [{"id": 1, "paid": 4, "at": at("08:30")}])
    run()
    assert result("euros", "id, euros") == [(1, Decimal(9)), (2, None)]
    assert result("prompt", "id, paid") == [(1, Decimal(4))]

    write(orders, 2, [order(4, "USD", "08:40")])
    write(rates, 2, [rate(0.6, "08:50")])
    late = {"id": 3, "paid": 1, "at": at("10:30")}
    write(payments, 2, [late, {"id": 1, "paid": 6, "at": at("09:01")}])
    run()
    assert result("euros", "id, euros") == [(1, Decimal(9)), (2, None), (3, Decimal(8))]
    assert result("prompt", "id, paid") == [(1, Decimal(4)), (1, Decimal(6))]
