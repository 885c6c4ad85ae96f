"""Asks a connector in this process as Spark's workers do, and compares its answers."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from firesteel.lookup import _shipping as shipping
from firesteel.lookup._worker.failures import LookupFailedError
from firesteel.lookup._worker.process import LookupProcess
from firesteel.lookup._worker.task import ConnectorSpec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from firesteel.lookup import SupportsLookup

_LONGEST_WAIT_SECONDS = 3.0
Answer = dict[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Store:
    """The rows that a connector should have.

    Attributes:
        schema: Spark's types of all columns.
        types: Arrow's types of the same.
        keys: The columns that it can be asked by, in the order of the schema.
        rows: The rows.
        missing: Keys that no row has.
    """

    schema: StructType
    types: pa.Schema
    keys: tuple[str, ...]
    rows: list[Answer]
    missing: list[Answer]

    def asked(self, keys: Sequence[str]) -> list[Key]:
        """Distinct keys of the rows, then those without rows; none with a null."""
        every = [tuple(row[key] for key in keys) for row in (*self.rows, *self.missing)]
        known = {repr(key): key for key in every if None not in key}
        return list(known.values())

    def rows_of(self, keys: Sequence[str], asked: Iterable[Key]) -> list[list[Answer]]:
        """The rows of each key."""
        found: dict[str, list[Answer]] = {}
        for row in self.rows:
            found.setdefault(repr(tuple(row[key] for key in keys)), []).append(row)
        return [found.get(repr(key), []) for key in asked]


def store_of(
    spark: SparkSession,
    connector: SupportsLookup,
    schema: StructType,
    rows: Sequence[Mapping[str, object]],
    missing: Sequence[Mapping[str, object]] | None,
) -> Store:
    types = shipping.arrow_schema(schema)
    keys = tuple(name for name in schema.names if name in connector.keys)
    held = _as_workers_see(spark, schema, rows)
    if missing is None:
        absent = _absent_key(schema, keys, held)
    else:
        for key in missing:
            if set(key) != set(keys):
                raise ValueError(
                    f"missing = {dict(key)!r}: must have the columns {', '.join(keys)}"
                )
        absent = _as_workers_see(spark, schema, missing, keys) if missing else []
    return Store(schema, types, keys, held, absent)


def _as_workers_see(
    spark: SparkSession,
    schema: StructType,
    rows: Sequence[Mapping[str, object]],
    only: Sequence[str] | None = None,
) -> list[Answer]:
    """Rows with the values that a worker reads off Arrow, of the types of the schema."""
    from pyspark.sql.types import StructField, StructType

    wanted = schema if only is None else StructType([schema[name] for name in only])
    for row in rows:
        if unknown := [name for name in row if name not in schema.names]:
            raise ValueError(
                f"row {dict(row)!r}: no column is named {', '.join(unknown)}. The schema has "
                f"{', '.join(schema.names)}"
            )
    # Nullable here: the connector's own check of nulls comes later.
    free = StructType([StructField(field.name, field.dataType) for field in wanted])
    values = [tuple(row.get(name) for name in free.names) for row in rows]
    table = spark.createDataFrame(values, free).toArrow()
    columns = [
        column.cast(field.type)
        for column, field in zip(table.columns, shipping.arrow_schema(free), strict=True)
    ]
    answers: list[Answer] = pa.table(columns, names=free.names).to_pylist()
    return answers


def _absent_key(schema: StructType, keys: Sequence[str], rows: Sequence[Answer]) -> list[Answer]:
    """A key that no row has, if its types are whole numbers and texts."""
    key: Answer = {}
    for name in keys:
        known = [row[name] for row in rows]
        candidates: Iterator[object] = iter(())
        kind = schema[name].dataType.typeName()
        if kind in ("byte", "short", "integer", "long"):
            candidates = iter(range(100, 100 + len(rows) + 1))
        elif kind == "string":
            candidates = (f"missing {number}" for number in range(len(rows) + 1))
        value = next((value for value in candidates if value not in known), None)
        if value is None:
            return []
        key[name] = value
    return [key]


class Copies:
    """Asks copies of a connector, each opened as a worker opens one."""

    def __init__(self, name: str, connector: SupportsLookup, store: Store, threads: int) -> None:
        others = bool(getattr(connector, "may_answer_other_keys", False))
        pickled = shipping.pickled(name, connector)
        self._spec = ConnectorSpec(name, uuid4().hex, pickled, store.types, others)
        self._store = store
        self.threads = threads
        self.partitioner = partitioner_of(connector)

    def ask(
        self,
        what: str,
        keys: Sequence[str],
        asked: Sequence[Key],
        *,
        columns: Sequence[str] | None = None,
        shard: int | None = None,
        **said: object,
    ) -> list[list[Answer]]:
        """Ask one new copy, in one batch; the answers of each key."""
        columns = self._store.types.names if columns is None else columns
        with naming(what):
            batch = self.batch(keys, asked, columns=columns, shard=shard, **said)
            return _lists(LookupProcess().lookup(self._spec, iter([batch])), columns)

    def opened(self, batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        """Ask one new copy, batch by batch."""
        return LookupProcess().lookup(self._spec, batches)

    def batch(
        self,
        keys: Sequence[str],
        asked: Sequence[Key],
        *,
        columns: Sequence[str],
        shard: int | None = None,
        **said: object,
    ) -> tuple[pa.Array, ...]:
        """A batch as Spark sends it: the request, the shard, the keys."""
        text = json.dumps({"keys": list(keys), "columns": list(columns), **said})
        arrays = [
            pa.array([key[place] for key in asked], self._store.types.field(name).type)
            for place, name in enumerate(keys)
        ]
        rows = len(asked)
        return pa.array([text] * rows), pa.array([shard] * rows, pa.int32()), *arrays


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Turn an error of a worker into a failed check that says what was asked."""
    try:
        yield
    except LookupFailedError as error:
        raise AssertionError(f"{what}: {error}") from (error.__cause__ or error)


def _lists(answers: Iterable[pa.Array], columns: Sequence[str]) -> list[list[Answer]]:
    return [
        [{name: row[name] for name in columns} for row in rows]
        for answer in answers
        for rows in answer.field("rows").to_pylist()
    ]


def check_answers(copies: Copies, store: Store) -> None:
    key_sets = [store.keys, *((key,) for key in store.keys if len(store.keys) > 1)]
    for keys in key_sets:
        by = ", ".join(keys)
        asked = store.asked(keys)
        wanted = store.rows_of(keys, asked)
        for size in (1000, 1, 2):
            what = f"lookup by {by} in calls of at most {size} keys"
            compare(what, keys, asked, copies.ask(what, keys, asked, batch_size=size), wanted)
        what = f"lookup by {by} of rows that repeat keys"
        twice = copies.ask(what, keys, [*asked, *asked])
        compare(what, keys, [*asked, *asked], twice, [*wanted, *wanted])
        if copies.threads > 1:
            what = f"lookup by {by} from {copies.threads} threads"
            many: dict[str, Any] = {"async": True, "capacity": copies.threads, "batch_size": 1}
            compare(what, keys, asked, copies.ask(what, keys, asked, **many), wanted)
        others = [name for name in store.types.names if name not in keys]
        for more in [[], *([name] for name in others)]:
            columns = [name for name in store.types.names if name in keys or name in more]
            what = f"lookup by {by} of the columns {', '.join(columns)}"
            got = copies.ask(what, keys, asked, columns=columns)
            cut = [[{name: row[name] for name in columns} for row in rows] for rows in wanted]
            compare(what, keys, asked, got, cut)
        for name in others:
            _check_filter(copies, store, keys, name)


def _check_filter(copies: Copies, store: Store, keys: Sequence[str], column: str) -> None:
    """A connector may use filters or ignore them, and must not lose rows that meet them."""
    asked = store.asked(keys)
    most = store.rows_of(keys, asked)
    filters: list[tuple[str, Callable[[Any], bool]]] = [
        (f"{column} IS NOT NULL", lambda value: value is not None)
    ]
    kinds = {"string", "byte", "short", "integer", "long"}
    example = next((row[column] for row in store.rows if row[column] is not None), None)
    if example is not None and store.schema[column].dataType.typeName() in kinds:
        shown = "'{}'".format(example.replace("'", "''")) if isinstance(example, str) else example
        filters += [
            (f"{column} = {shown}", lambda value: value == example),
            (f"NOT {column} = {shown}", lambda value: value not in (None, example)),
        ]
    for text, holds in filters:
        what = f"lookup by {', '.join(keys)} with the filter {text}"
        got = copies.ask(what, keys, asked, filters=[text])
        least = [[row for row in rows if holds(row[column])] for rows in most]
        compare(what, keys, asked, got, least, most)


def compare(
    what: str,
    keys: Sequence[str],
    asked: Sequence[Key],
    got: Sequence[Sequence[Answer]],
    least: Sequence[Sequence[Answer]],
    most: Sequence[Sequence[Answer]] | None = None,
) -> None:
    """Compare the answers to each key: all of ``least``, and nothing outside of ``most``."""
    for key, found, must, may in zip(asked, got, least, most or least, strict=True):
        counted, needed, allowed = (Counter(map(repr, rows)) for rows in (found, must, may))
        named = ", ".join(f"{name} = {value!r}" for name, value in zip(keys, key, strict=True))
        for row in needed - counted:
            raise AssertionError(f"{what}: the row {row} of the key {named} is not in the answer")
        for row in counted - allowed:
            why = "more often than in the store" if row in allowed else "which is not in the store"
            if not may:
                why = "and the store has no row for this key"
            raise AssertionError(f"{what}: the answer for the key {named} has the row {row}, {why}")


def check_copies(copies: Copies, store: Store) -> None:
    """Two tasks of one process work at the same time, and one ends first."""
    asked = store.asked(store.keys)
    wanted = store.rows_of(store.keys, asked)
    columns = store.types.names
    batch = copies.batch(store.keys, asked, columns=columns)
    what = "lookup by a copy that stays open while another one is closed"
    with naming(what):
        first, second = copies.opened(iter([batch])), copies.opened(iter([batch, batch]))
        got = _lists([next(second)], columns)
        _lists(first, columns)  # to the end, which closes it
        again = _lists(second, columns)
    compare(what, store.keys, asked, got, wanted)
    compare(what, store.keys, asked, again, wanted)


def check_close(copies: Copies, store: Store) -> None:
    before = set(threading.enumerate())
    copies.ask("lookup, then close", store.keys, store.asked(store.keys))
    deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
    while left := [t for t in threading.enumerate() if t not in before and not t.daemon]:
        if time.monotonic() > deadline:
            raise AssertionError(
                f"close() leaves the thread {left[0].name!r} running, so that the worker process "
                "cannot end. End the connector's threads in close()"
            )
        time.sleep(0.02)


def partitioner_of(connector: object) -> Any:  # noqa: ANN401 - any object with the methods
    if callable(ask := getattr(connector, "get_partitioner", None)):
        return ask()
    own = any(hasattr(connector, way) for way in ("partition", "partition_batch"))
    return connector if own else None
