"""What the command line of the demo asks for."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMATS = ("parquet", "csv", "json")


@dataclass(frozen=True)
class Arguments:
    """What to run, and on what.

    Attributes:
        rows: Rows of the made-up table.
        data: Folder of the caller's own table; ``None`` for the made-up one.
        format: Format of the files in ``data``.
        key: Columns of the caller's table by which rows are grouped.
        order: Columns of the caller's table by which rows are ranked.
        ascending: Whether the smallest comes first.
        n: Rows, or ranks, to keep per key.
        repetitions: Timed runs of each query on each side.
    """

    rows: int
    data: Path | None
    format: str
    key: tuple[str, ...]
    order: tuple[str, ...]
    ascending: bool
    n: int
    repetitions: int


def parse(argv: Sequence[str]) -> Arguments:
    """Read the command line.

    Args:
        argv: The arguments, without the program's name.

    Returns:
        What was asked for; whether the columns exist is known only once the table is read.

    Raises:
        SystemExit: An argument is wrong; argparse has printed which, and the usage.
    """
    parser = _parser()
    given = parser.parse_args(argv)
    if given.data is None:
        for option in ("format", "key", "order", "ascending"):
            if getattr(given, option):
                parser.error(f"--{option} is about your own table: name its folder with --data")
    elif not given.data.is_dir():
        parser.error(f"--data {given.data}: no such folder")
    return Arguments(
        rows=given.rows,
        data=given.data,
        format=given.format or "parquet",
        key=_names(given.key),
        order=_names(given.order),
        ascending=given.ascending,
        n=given.n,
        repetitions=given.repetitions,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python examples/demo",
        description="Runs a stream that Spark refuses, kills it and resumes it. Then compares "
        "first-n-per-key queries with firesteel off and on, and a lookup join in its three modes.",
    )
    parser.add_argument(
        "--rows",
        type=_positive,
        default=2_000_000,
        help="rows of the made-up table (default 2000000)",
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of your own table")
    parser.add_argument("--format", choices=FORMATS, help="format of its files (default parquet)")
    parser.add_argument("--key", metavar="K[,K]", help="columns to group by, such as customer")
    parser.add_argument("--order", metavar="V[,V]", help="columns to rank by, such as amount")
    parser.add_argument("--ascending", action="store_true", help="rank the smallest first")
    parser.add_argument("--n", type=_positive, default=10, help="rows to keep per key (default 10)")
    parser.add_argument(
        "--repetitions",
        type=_positive,
        default=2,
        help="timed runs of each query on each side (default 2)",
    )
    return parser


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return number


def _names(columns: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (columns or "").split(",") if name.strip())
