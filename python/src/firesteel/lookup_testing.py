"""A test kit for connectors: run it in a test of the connector that you write.

`check_connector` asks a connector as Spark's workers ask it, then joins with it in a session, and
compares both with the rows that its store holds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from firesteel import _lookup_shipping as shipping
from firesteel._lookup_worker.failures import LookupFailedError
from firesteel._lookup_worker.partitions import PartitionerSpec
from firesteel._lookup_worker.process import LookupProcess
from firesteel._lookup_worker.task import ConnectorSpec
from firesteel.lookup import lookup_join, register_lookup, unregister_lookup

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from firesteel.lookup import SupportsLookup

__all__ = ["check_connector"]

_PARTITION_COUNTS = (1, 2, 3, 7)
_LONGEST_WAIT_SECONDS = 3.0
Answer = dict[str, Any]
Key = tuple[Any, ...]


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
        connector: The connector, as for `register_lookup`.
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
        ...         known = [k for k in keys["id"].to_pylist() if k < 1000]
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
        store = _store(spark, connector, schema, rows, missing)
        copies = _Copies(name, connector, store, threads)
        _check_answers(copies, store)
        _check_copies(copies, store)
        _check_close(copies, store)
        _check_partitioner(name, connector, copies, store)
        _check_joins(spark, name, store, copies.partitioner is not None, threads)
    finally:
        unregister_lookup(spark, name)


@dataclass(frozen=True)
class _Store:
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


def _store(
    spark: SparkSession,
    connector: SupportsLookup,
    schema: StructType,
    rows: Sequence[Mapping[str, object]],
    missing: Sequence[Mapping[str, object]] | None,
) -> _Store:
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
    return _Store(schema, types, keys, held, absent)


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


class _Copies:
    """Asks copies of a connector, each opened as a worker opens one."""

    def __init__(self, name: str, connector: SupportsLookup, store: _Store, threads: int) -> None:
        others = bool(getattr(connector, "may_answer_other_keys", False))
        pickled = shipping.pickled(name, connector)
        self._spec = ConnectorSpec(name, uuid4().hex, pickled, store.types, others)
        self._store = store
        self.threads = threads
        self.partitioner = _partitioner_of(connector)

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
        with _naming(what):
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
def _naming(what: str) -> Iterator[None]:
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


def _check_answers(copies: _Copies, store: _Store) -> None:
    key_sets = [store.keys, *((key,) for key in store.keys if len(store.keys) > 1)]
    for keys in key_sets:
        by = ", ".join(keys)
        asked = store.asked(keys)
        wanted = store.rows_of(keys, asked)
        for size in (1000, 1, 2):
            what = f"lookup by {by} in calls of at most {size} keys"
            _compare(what, keys, asked, copies.ask(what, keys, asked, batch_size=size), wanted)
        what = f"lookup by {by} of rows that repeat keys"
        twice = copies.ask(what, keys, [*asked, *asked])
        _compare(what, keys, [*asked, *asked], twice, [*wanted, *wanted])
        if copies.threads > 1:
            what = f"lookup by {by} from {copies.threads} threads"
            many: dict[str, Any] = {"async": True, "capacity": copies.threads, "batch_size": 1}
            _compare(what, keys, asked, copies.ask(what, keys, asked, **many), wanted)
        others = [name for name in store.types.names if name not in keys]
        for more in [[], *([name] for name in others)]:
            columns = [name for name in store.types.names if name in keys or name in more]
            what = f"lookup by {by} of the columns {', '.join(columns)}"
            got = copies.ask(what, keys, asked, columns=columns)
            cut = [[{name: row[name] for name in columns} for row in rows] for rows in wanted]
            _compare(what, keys, asked, got, cut)
        for name in others:
            _check_filter(copies, store, keys, name)


def _check_filter(copies: _Copies, store: _Store, keys: Sequence[str], column: str) -> None:
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
        _compare(what, keys, asked, got, least, most)


def _compare(
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


def _check_copies(copies: _Copies, store: _Store) -> None:
    """Two tasks of one process work at the same time, and one ends first."""
    asked = store.asked(store.keys)
    wanted = store.rows_of(store.keys, asked)
    columns = store.types.names
    batch = copies.batch(store.keys, asked, columns=columns)
    what = "lookup by a copy that stays open while another one is closed"
    with _naming(what):
        first, second = copies.opened(iter([batch])), copies.opened(iter([batch, batch]))
        got = _lists([next(second)], columns)
        _lists(first, columns)  # to the end, which closes it
        again = _lists(second, columns)
    _compare(what, store.keys, asked, got, wanted)
    _compare(what, store.keys, asked, again, wanted)


def _check_close(copies: _Copies, store: _Store) -> None:
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


def _partitioner_of(connector: object) -> Any:  # noqa: ANN401 - any object with the methods
    if callable(ask := getattr(connector, "get_partitioner", None)):
        return ask()
    own = any(hasattr(connector, way) for way in ("partition", "partition_batch"))
    return connector if own else None


def _check_partitioner(
    name: str, connector: SupportsLookup, copies: _Copies, store: _Store
) -> None:
    partitioner = copies.partitioner
    if partitioner is None:
        return
    needed = tuple(getattr(connector, "partition_keys", store.keys))
    spec = PartitionerSpec(
        name, shipping.pickled(name, partitioner), store.keys, needed, store.types
    )
    says = getattr(partitioner, "is_deterministic", None)
    deterministic = bool(says()) if callable(says) else True
    asked = store.asked(store.keys)
    for count in _PARTITION_COUNTS:
        what = f"the partitioner with {count} partitions"
        numbers = _numbers(what, spec, copies, store, [asked], count)
        for key, number in zip(asked, numbers, strict=True):
            if number is None or not 0 <= number < count:
                raise AssertionError(
                    f"{what} gave the key {_shown(store.keys, key)} the partition {number}: it "
                    f"must be from 0 to {count - 1}"
                )
        if deterministic:
            singly = _numbers(what, spec, copies, store, [[key] for key in reversed(asked)], count)
            _same_numbers(what, store, asked, numbers, singly[::-1], "in another call")
            _check_shards(copies, store, asked, numbers, count)
    if deterministic:
        what = "the partitioner with 7 partitions"
        others = _numbers_of_another_process(
            what, spec, copies.batch(store.keys, asked, columns=store.types.names, num_partitions=7)
        )
        _same_numbers(what, store, asked, numbers, others, "in another process")


def _same_numbers(
    what: str,
    store: _Store,
    asked: Sequence[Key],
    numbers: Sequence[int],
    others: Sequence[int],
    where: str,
) -> None:
    for key, number, other in zip(asked, numbers, others, strict=True):
        if number != other:
            raise AssertionError(
                f"{what} gave the key {_shown(store.keys, key)} the partition {number}, and "
                f"{other} {where}. Compute the number from the key alone (hash() of a text differs "
                "between processes), or return False from is_deterministic()"
            )


def _numbers(
    what: str,
    spec: PartitionerSpec,
    copies: _Copies,
    store: _Store,
    batches: Sequence[Sequence[Key]],
    count: int,
) -> list[int]:
    sent = [
        copies.batch(store.keys, keys, columns=store.types.names, num_partitions=count)
        for keys in batches
    ]
    with _naming(what):
        # Without the shard, which partitioners do not get.
        answers = LookupProcess().partition(spec, iter([(b[0], *b[2:]) for b in sent]))
        return [number for answer in answers for number in answer.to_pylist()]


_OTHER_PROCESS = """
import pickle, sys
spec, batch = pickle.load(sys.stdin.buffer)
from firesteel._lookup_worker.process import LookupProcess
print([n for answer in LookupProcess().partition(spec, iter([batch])) for n in answer.to_pylist()])
"""


def _numbers_of_another_process(
    what: str, spec: PartitionerSpec, batch: tuple[pa.Array, ...]
) -> list[int]:
    """Ask in a process with another seed of ``hash``: Spark's workers may have different ones."""
    import pickle

    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    path = os.pathsep.join(part or str(Path.cwd()) for part in sys.path)
    found = subprocess.run(
        [sys.executable, "-c", _OTHER_PROCESS],
        input=pickle.dumps((spec, (batch[0], *batch[2:]))),
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    if found.returncode:
        raise AssertionError(f"{what}, in another process: {found.stderr.decode().strip()}")
    numbers: list[int] = json.loads(found.stdout)
    return numbers


def _check_shards(
    copies: _Copies, store: _Store, asked: Sequence[Key], numbers: Sequence[int], count: int
) -> None:
    """Each shard is asked its keys alone; without a custom shuffle any task is asked any key."""
    for shard in sorted(set(numbers)):
        keys = [key for key, number in zip(asked, numbers, strict=True) if number == shard]
        what = f"lookup under custom shuffle in the partition {shard} of {count}"
        got = copies.ask(
            what, store.keys, keys, shard=shard, custom_shuffle=True, num_partitions=count
        )
        _compare(what, store.keys, keys, got, store.rows_of(store.keys, keys))


def _shown(keys: Sequence[str], key: Key) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in zip(keys, key, strict=True))


def _check_joins(
    spark: SparkSession, name: str, store: _Store, sharded: bool, threads: int
) -> None:
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


def _questions(spark: SparkSession, store: _Store) -> DataFrame:
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


def _a_condition(store: _Store) -> tuple[str, object] | None:
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
    store: _Store, asked: DataFrame, other: DataFrame, extra: tuple[str, object] | None
) -> Column:
    on = None
    for key in store.keys:
        equal = asked[f"asked_{key}"] == other[key]
        on = equal if on is None else on & equal
    assert on is not None
    return on if extra is None else on & (other[extra[0]] == extra[1])
