"""The queries of the demo: the shapes that the rank room makes faster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from demo.table import VIEW

if TYPE_CHECKING:
    from collections.abc import Iterable

    from demo.table import Table


@dataclass(frozen=True)
class Query:
    """One question.

    Attributes:
        title: The question in words.
        function: The function that it asks by.
        sql: The question in SQL, over the view ``demo``.
        compared: Columns that are the same in every right answer. Where rows tie, ROW_NUMBER may
            choose any of them; their key, order and number are fixed all the same.
    """

    title: str
    function: str
    sql: str
    compared: tuple[str, ...]


def queries(table: Table, n: int, *, ascending: bool = False) -> list[Query]:
    """Write the demo's queries for a table.

    Args:
        table: The table, with the columns to group and rank by.
        n: Rows, or ranks, to keep per key.
        ascending: Whether the smallest comes first.

    Returns:
        The queries, in the order in which they are run.
    """
    top = "lowest" if ascending else "top"
    key = f"PARTITION BY {', '.join(map(quoted, table.key))} "
    direction = "ASC" if ascending else "DESC"
    order = f"ORDER BY {', '.join(f'{quoted(name)} {direction}' for name in table.order)}"
    per = f"per {', '.join(table.key)}"
    rank = free_name("rn", table.columns)
    numbered = (*table.key, *table.order, rank)
    ranked = (*table.comparable, rank)

    def ask(title: str, function: str, over: str, limit: int, compared: tuple[str, ...]) -> Query:
        numbering = f"SELECT *, {function}() OVER ({over}) AS {rank} FROM {VIEW}"
        sql = f"SELECT * FROM ({numbering}) WHERE {rank} <= {limit}"
        return Query(title, function, sql, compared)

    return [
        ask(f"{top} {n} {per}", "ROW_NUMBER", key + order, n, numbered),
        ask(f"{top} {n} {per}", "RANK", key + order, n, ranked),
        ask(f"{top} {n} {per}", "DENSE_RANK", key + order, n, ranked),
        ask(f"{top} 1 {per}", "ROW_NUMBER", key + order, 1, numbered),
        ask(f"{top} 100 of all", "RANK", order, 100, ranked),
    ]


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Make a column name that the table does not have; Spark does not tell capitals apart."""
    names = {name.lower() for name in taken}
    while wanted in names:
        wanted += "_"
    return wanted


def quoted(name: str) -> str:
    """Quote a column's name for SQL."""
    return "`" + name.replace("`", "``") + "`"
