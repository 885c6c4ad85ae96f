"""A test kit for connectors: run it in a test of the connector that you write.

`check_connector` asks a connector as Spark's workers ask it, then joins with it in a session, and
compares both with the rows that its store holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from firesteel.lookup import _errors as errors

try:
    import numpy as np  # noqa: F401 - the worker's code needs it
    import pyarrow as pa
except ImportError as cause:
    raise errors.no_arrow(cause) from cause

from firesteel.lookup import _shipping as shipping
from firesteel.lookup import lookup_join, register_lookup, unregister_lookup
from firesteel.lookup._check_answers import (
    Copies,
    Key,
    Store,
    check_answers,
    check_close,
    check_copies,
    store_of,
)
from firesteel.lookup._check_partitions import check_partitioner

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from firesteel.lookup import SupportsLookup

__all__ = ["check_connector"]


def check_connector(
    spark: SparkSession,
    connector: SupportsLookup,
    rows: Sequence[Mapping[str, object]],
    *,
    missing: Sequence[Mapping[str, object]] | None = None,
    threads: int = 1,
) -> None:
    """Check a connector against the rows that its store holds.

    It asks the connector in this process as a worker does, and checks that

    - it can be pickled, and copies are open at the same time;
    - it answers hits, misses, several rows of a key, nulls, and the types of the schema;
    - it answers batches of one key and of many, by all keys and by each key alone, with all columns
      and with some, with and without filters;
    - ``close`` raises nothing and leaves no thread behind;
    - the partitioner gives numbers in range, and equal keys equal numbers, in another call and in
      another process; and each partition's task answers its keys.

    Then it runs lookup joins in the session and compares them with plain joins: keys that are null,
    missing or repeated, with and without cache, shuffle and a condition on the dimension.

    Args:
        spark: A session with the extension, classic or Connect.
        connector: The connector, as for `firesteel.register_lookup`.
        rows: Rows of the store by column name; a column that is left out is null. For each key that
            occurs, give all rows with that key. Give several rows for one key and a null where the
            store allows it.
        missing: Keys without rows, by column name. Without it, numbers and texts that no row has
            are used.
        threads: How many threads may call ``lookup`` at the same time. With more than 1 the check
            also asks as joins with ``async_=True`` do.

    Raises:
        AssertionError: The connector does something wrong; the message names it.
        InvalidConnectorError: The connector cannot be registered.
        ValueError: An argument is not what it must be.
        ExtensionNotLoadedError: The session runs without firesteel.

    Example:
        >>> class Squares:
        ...     schema = "id BIGINT, square BIGINT"
        ...     keys = ("id",)
        ...
        ...     def lookup(self, keys):
        ...         import pyarrow
        ...
        ...         known = [k for k in keys["id"].to_pylist() if k in (2, 3)]
        ...         types = pyarrow.schema([("id", "int64"), ("square", "int64")])
        ...         return pyarrow.table([known, [k * k for k in known]], schema=types)
        >>> check_connector(spark, Squares(), [{"id": 2, "square": 4}, {"id": 3, "square": 9}])
    """
    if not rows:
        raise ValueError("rows is empty: give rows that the store holds")
    name = f"checked_{uuid4().hex}"
    register_lookup(spark, name, connector)
    try:
        schema = spark.table(name).schema
        store = store_of(spark, connector, schema, rows, missing)
        copies = Copies(name, connector, store, threads)
        check_answers(copies, store)
        check_copies(copies, store)
        check_close(copies, store)
        check_partitioner(name, connector, copies, store)
        _check_joins(spark, name, store, copies.partitioner is not None, threads)
    finally:
        unregister_lookup(spark, name)


def _check_joins(spark: SparkSession, name: str, store: Store, sharded: bool, threads: int) -> None:
    asked = _questions(spark, store)
    plain = _frame(spark, [tuple(row.values()) for row in store.rows], store.schema)
    cases: list[dict[str, Any]] = [
        {"how": "left"},
        {"how": "inner", "cache": "PARTIAL", "max_rows": 1000},
        {"how": "left", "shuffle": True},
    ]
    if sharded:
        cases.append({"how": "left", "shuffle": True, "cache": "PARTIAL", "max_rows": 1000})
    if threads > 1:
        cases.append({"how": "left", "async_": True, "capacity": threads, "batch_size": 1})
    conditions: list[tuple[str, object] | None] = [None] * len(cases)
    if (condition := _a_condition(store)) is not None:
        cases.append({"how": "left"})
        conditions.append(condition)
    for options, extra in zip(cases, conditions, strict=True):
        shown = ", ".join(f"{name}={value!r}" for name, value in options.items())
        what = f"lookup_join({shown})" + (f" with the condition {extra}" if extra else "")
        looked = spark.table(name)
        ours = lookup_join(asked, looked, _on(store, asked, looked, extra), **options)
        theirs = asked.join(plain, _on(store, asked, plain, extra), options["how"])
        try:
            got = _counted(ours)
        except Exception as error:
            raise AssertionError(f"{what} failed: {error}") from error
        wanted = _counted(theirs)
        for row in wanted - got:
            raise AssertionError(f"{what}: the row {row} is not in the result")
        for row in got - wanted:
            raise AssertionError(
                f"{what}: the result has the row {row}, which a plain join has not"
            )


def _counted(frame: DataFrame) -> Counter[str]:
    return Counter(repr(row) for row in frame.collect())


def _questions(spark: SparkSession, store: Store) -> DataFrame:
    """Each key twice, keys without rows, and for each key column a key in which it is null."""
    from pyspark.sql.types import LongType, StructField, StructType

    fields = [StructField(f"asked_{key}", store.schema[key].dataType) for key in store.keys]
    keys = store.asked(store.keys)
    nulls = [
        tuple(None if here == place else value for here, value in enumerate(keys[0]))
        for place in range(len(store.keys))
    ]
    rows = [(number, *key) for number, key in enumerate([*keys, *keys, *nulls])]
    return _frame(spark, rows, StructType([StructField("asked_row", LongType()), *fields]))


def _frame(spark: SparkSession, rows: Sequence[Key], schema: StructType) -> DataFrame:
    types = shipping.arrow_schema(schema)
    columns = list(zip(*rows, strict=True))
    arrays = [pa.array(column, field.type) for column, field in zip(columns, types, strict=True)]
    return spark.createDataFrame(pa.table(arrays, schema=types), schema)


def _a_condition(store: Store) -> tuple[str, object] | None:
    """A column that is no key, and a value of it that can be written as a literal."""
    for name in store.types.names:
        kind = store.schema[name].dataType.typeName()
        if name in store.keys or kind not in ("string", "integer", "long"):
            continue
        value = next((row[name] for row in store.rows if row[name] is not None), None)
        if value is not None:
            return name, value
    return None


def _on(
    store: Store, asked: DataFrame, other: DataFrame, extra: tuple[str, object] | None
) -> Column:
    on = None
    for key in store.keys:
        equal = asked[f"asked_{key}"] == other[key]
        on = equal if on is None else on & equal
    assert on is not None
    return on if extra is None else on & (other[extra[0]] == extra[1])
