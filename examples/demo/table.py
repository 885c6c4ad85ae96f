"""The table that the demo asks about: made up once and kept, or the caller's own."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

from demo.errors import DemoError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from demo.arguments import Arguments

VIEW = "demo"

_MADE_UP = (
    "id AS order_id",
    "pmod(xxhash64(id, 1), 1000) AS customer",
    # Cents up to 2,000.00: amounts repeat, so that RANK has ties to keep.
    "pmod(xxhash64(id, 2), 200000) / 100.0D AS amount",
    "timestamp_seconds(1767225600 + pmod(xxhash64(id, 3), 31536000)) AS placed_at",
    "concat('item ', CAST(pmod(xxhash64(id, 4), 5000) AS STRING)) AS item",
)


@dataclass(frozen=True)
class Table:
    """A table that is registered as the view ``demo``.

    Attributes:
        description: What it is, for the reader.
        key: Columns to group by.
        order: Columns to rank by.
        columns: All columns.
        comparable: Those whose values can be compared for equality.
    """

    description: str
    key: tuple[str, ...]
    order: tuple[str, ...]
    columns: tuple[str, ...]
    comparable: tuple[str, ...]


def register(spark: SparkSession, arguments: Arguments, cache: Path, work: Path) -> Table:
    """Make or read the table and register it as the view ``demo``.

    Args:
        spark: A running session.
        arguments: Rows of the made-up table, or folder and columns of the caller's.
        cache: Where to keep what is made up.
        work: Where to put a copy of the caller's table, if one is needed.

    Returns:
        The table, with its columns checked.

    Raises:
        DemoError: The folder cannot be read, or a column is missing or not named.
    """
    key: tuple[str, ...] = ("customer",)
    order: tuple[str, ...] = ("amount",)
    if arguments.data is None:
        rows = _made_up(spark, arguments.rows, cache)
        description = f"{arguments.rows:,} made-up orders of 1,000 customers"
    else:
        rows = _opened(spark, arguments.data, arguments.format)
        key, order = _chosen(rows, arguments)
        if arguments.format != "parquet":
            rows = _parsed_once(spark, rows, arguments, work)
        description = f"{rows.count():,} rows from {arguments.data}"
    rows.createOrReplaceTempView(VIEW)
    comparable = tuple(field.name for field in rows.schema if is_comparable(field.dataType))
    return Table(description, key, order, tuple(rows.columns), comparable)


def cache_folder() -> Path:
    """Where made-up tables stay, so that the next demo starts at once."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "firesteel" / "demo"


def check_columns(columns: Iterable[str], named: Iterable[str], option: str) -> tuple[str, ...]:
    """Make sure that columns named on the command line are there.

    Args:
        columns: The columns of the table.
        named: The names after ``option``.
        option: The option, for the message.

    Returns:
        The names as the table spells them, since Spark does not tell capitals apart.

    Raises:
        DemoError: None was named, or one does not exist.
    """
    there = {column.lower(): column for column in columns}
    names = tuple(named)
    available = f"the table has {', '.join(there.values())}"
    if not names:
        raise DemoError(f"name a column with {option}: {available}")
    for name in names:
        if name.lower() not in there:
            raise DemoError(f"{option} {name}: no such column; {available}")
    return tuple(there[name.lower()] for name in names)


def is_comparable(kind: DataType) -> bool:
    """Whether values of a type can be told equal; maps and variants cannot, wherever they sit."""
    if isinstance(kind, ArrayType):
        return is_comparable(kind.elementType)
    if isinstance(kind, StructType):
        return all(is_comparable(field.dataType) for field in kind)
    return not isinstance(kind, MapType | VariantType)


def _chosen(rows: DataFrame, arguments: Arguments) -> tuple[tuple[str, ...], tuple[str, ...]]:
    key = check_columns(rows.columns, arguments.key, "--key")
    order = check_columns(rows.columns, arguments.order, "--order")
    for name in (*key, *order):
        kind = rows.schema[name].dataType
        if not is_comparable(kind):
            raise DemoError(f"column {name} is a {kind.simpleString()}, which has no order")
    return key, order


def _made_up(spark: SparkSession, rows: int, cache: Path) -> DataFrame:
    version = hashlib.sha256("\n".join(_MADE_UP).encode()).hexdigest()[:8]
    folder = cache / f"orders-{rows}-{version}"
    if not folder.is_dir():
        # Eight files, so that the tasks of a few cores get equal shares.
        _write(spark.range(0, rows, 1, 8).selectExpr(*_MADE_UP), folder)
    return spark.read.parquet(str(folder))


def check_files(data: Path, kind: str) -> None:
    """Look at the first file of a folder before Spark does, whose answer would be a stack trace.

    Args:
        data: The folder.
        kind: The format named on the command line.

    Raises:
        DemoError: There is no file, or it is not Parquet although it should be.
    """
    hidden = ("_", ".")  # Spark passes over these too
    files = (file for file in sorted(data.rglob("*")) if not file.name.startswith(hidden))
    first = next((file for file in files if file.is_file()), None)
    if first is None:
        raise DemoError(f"no files in {data}")
    with first.open("rb") as start:
        if kind == "parquet" and start.read(4) != b"PAR1":
            raise DemoError(f"{first} is not Parquet: name the right --format")


def _opened(spark: SparkSession, data: Path, kind: str) -> DataFrame:
    check_files(data, kind)
    reader = spark.read.options(header=True, inferSchema=True) if kind == "csv" else spark.read
    try:
        rows = reader.format(kind).load(str(data))
    except PySparkException as error:
        raise _unreadable(data, kind, error) from error
    if rows.columns == ["_corrupt_record"]:  # the name that Spark gives to what it cannot parse
        raise DemoError(f"nothing in {data} is {kind}: name the right --format")
    return rows


def _parsed_once(
    spark: SparkSession, rows: DataFrame, arguments: Arguments, work: Path
) -> DataFrame:
    """Keep a Parquet copy of a table of text: otherwise the demo would time the parser."""
    folder = work / "own-table"
    try:
        _write(rows, folder)
    except PySparkException as error:
        raise _unreadable(arguments.data, arguments.format, error) from error
    return spark.read.parquet(str(folder))


def _unreadable(data: Path | None, kind: str, error: PySparkException) -> DemoError:
    cause = str(error).strip().splitlines()[0]
    return DemoError(f"cannot read {data} as {kind}: {cause}")


def _write(rows: DataFrame, folder: Path) -> None:
    """Write under another name, then rename: a folder of the right name is whole."""
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    rows.write.parquet(str(part))
    part.rename(folder)
