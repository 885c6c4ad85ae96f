"""Lookup joins: rows enriched by keyed reads of an outside store.

`register_lookup` makes a table of a connector written in Python; `lookup_join` joins with it, or
with any other table, by looking its rows up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from firesteel import _lookup_errors as errors
from firesteel._durations import Duration
from firesteel._lookup_options import Value, connector_options, flink_options
from firesteel._lookup_registration import functions_of, register
from firesteel._lookup_worker.interfaces import (
    InputDataBatchPartitioner,
    InputDataPartitioner,
    LookupContext,
    SupportsLookup,
    SupportsLookupCustomShuffle,
    TaskInfo,
)
from firesteel.session import require_extension

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = [
    "InputDataBatchPartitioner",
    "InputDataPartitioner",
    "LookupContext",
    "SupportsLookup",
    "SupportsLookupCustomShuffle",
    "TaskInfo",
    "lookup_join",
    "register_lookup",
    "unregister_lookup",
]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOW = {"inner": "inner", "left": "left", "left_outer": "left", "leftouter": "left"}


def register_lookup(
    spark: SparkSession,
    name: str,
    connector: SupportsLookup,
    *,
    cache: str = "NONE",
    max_rows: int | None = None,
    expire_after_write: Duration | None = None,
    expire_after_access: Duration | None = None,
    cache_missing_key: bool | None = None,
    batch_size: int | None = None,
    options: Mapping[str, str] | None = None,
) -> None:
    """Make a connector a table of this session, which queries can look up.

    The connector runs in Spark's Python workers, also on Spark Connect. It is pickled now: later
    changes to the object have no effect. Registering another under the same name replaces it for
    queries made from then on; what was made before goes on with its own (over Connect, where a
    query is its text, until it is run again), so that each registration is kept in the session
    until `unregister_lookup`. The table is a temporary view, which that drops.

    A cache belongs to a worker process. Spark runs each concurrent task in a process of its own
    and hands idle processes to later tasks, so an executor with four cores has up to four caches.

    Args:
        spark: The session, classic or Connect.
        name: Name of the table: letters, digits and _.
        connector: See `SupportsLookup`; any object with ``schema``, ``keys`` and ``lookup``. If
            it has ``get_partitioner``, ``partition`` or ``partition_batch`` as well, see
            `SupportsLookupCustomShuffle`.
        cache: ``NONE``, or ``PARTIAL`` to keep answers, within at least one of the next three.
        max_rows: Most keys in a cache; those used least recently go first.
        expire_after_write: How long an answer is kept: a timedelta, seconds, or text such as
            ``5 min``.
        expire_after_access: How long an answer is kept that nobody uses.
        cache_missing_key: Whether it is kept, too, that a key has no rows; by default it is.
        batch_size: Most keys in one call of ``lookup``; by default
            ``spark.firesteel.lookup.batchSize``.
        options: The same by Flink's names, such as ``lookup.partial-cache.max-rows``; they win.

    Raises:
        ValueError: An argument is not what it must be.
        InvalidConnectorError: The connector lacks something, or cannot be pickled.
        ExtensionNotLoadedError: The session runs without firesteel.

    Source:
        Flink's ``LookupTableSource``, and the cache options of FLIP-221.

    Example:
        >>> class Countries:
        ...     schema = "code STRING, country STRING"
        ...     keys = ("code",)
        ...
        ...     def lookup(self, keys):
        ...         import pyarrow
        ...
        ...         known = {"ch": "Switzerland", "is": "Iceland"}
        ...         asked = [code for code in keys["code"].to_pylist() if code in known]
        ...         found = {"code": asked, "country": [known[code] for code in asked]}
        ...         types = pyarrow.schema({"code": "string", "country": "string"})
        ...         return pyarrow.table(found, types)
        >>> register_lookup(spark, "countries", Countries(), cache="PARTIAL", max_rows=1000)
        >>> spark.sql('''
        ...     SELECT o.id, c.country FROM VALUES (1, 'ch'), (2, 'xx') AS o(id, code)
        ...     LEFT JOIN countries AS c ON o.code = c.code ORDER BY id''').collect()
        [Row(id=1, country='Switzerland'), Row(id=2, country=None)]
    """
    _check_session(spark)
    _check_name(name)
    written = flink_options(
        {
            "cache": cache,
            "max_rows": max_rows,
            "expire_after_write": expire_after_write,
            "expire_after_access": expire_after_access,
            "cache_missing_key": cache_missing_key,
            "batch_size": batch_size,
        }
    )
    checked = connector_options(written, {} if options is None else options)
    require_extension(spark)
    register(spark, name, connector, checked)


def unregister_lookup(spark: SparkSession, name: str) -> None:
    """Drop a table made by `register_lookup`; nothing happens if there is none.

    Args:
        spark: The session, classic or Connect.
        name: Name of the table.

    Raises:
        ValueError: Not a name.

    Source:
        Spark's ``DROP VIEW`` and ``DROP TEMPORARY FUNCTION``.

    Example:
        >>> unregister_lookup(spark, "countries_of_nowhere")
    """
    _check_session(spark)
    _check_name(name)
    functions = _registered(spark, name)
    if functions:  # else a view of this name is the user's own
        spark.catalog.dropTempView(name)
    for function in functions:
        spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {function}")


def _registered(spark: SparkSession, name: str) -> list[str]:
    # Spark keeps names of functions in lower case. The current catalog need not know functions.
    return [
        function
        for start in map(str.lower, functions_of(name))
        for (function,) in spark.sql(
            f"SHOW USER FUNCTIONS IN spark_catalog.default LIKE '{start}*'"
        ).collect()
        # Not those of a table whose name goes on where this one ends.
        if re.fullmatch("[0-9a-f]{32}", function.removeprefix(start))
    ]


def lookup_join(
    left: DataFrame,
    table: str | DataFrame,
    on: str | Sequence[str] | Column | Sequence[Column] | None = None,
    how: str = "inner",
    *,
    shuffle: bool | None = None,
    async_: bool | None = None,
    output_mode: str | None = None,
    capacity: int | None = None,
    timeout: Duration | None = None,
    retry_predicate: str | None = None,
    retry_strategy: str | None = None,
    fixed_delay: Duration | None = None,
    max_attempts: int | None = None,
    cache: str | None = None,
    max_rows: int | None = None,
    expire_after_write: Duration | None = None,
    expire_after_access: Duration | None = None,
    cache_missing_key: bool | None = None,
    batch_size: int | None = None,
    reload_strategy: str | None = None,
    reload_interval: Duration | None = None,
    reload_schedule_mode: str | None = None,
    reload_iso_time: str | None = None,
    reload_interval_in_days: int | None = None,
) -> DataFrame:
    r"""Join a DataFrame, batch or streaming, with a table whose rows are looked up by key.

    What is not given is as the connector was registered, or else as the settings
    ``spark.firesteel.lookup.*`` say. Times are timedeltas, seconds, or text such as ``10 s``.

    Args:
        left: The rows to enrich.
        table: Name of a registered connector, or of any table or view, or a DataFrame. One that
            has no connector is loaded whole, as with ``cache="FULL"``.
        on: The key, as for ``DataFrame.join``: a column name, a list of names, or a condition.
        how: ``inner`` or ``left`` (``left_outer``).
        shuffle: Whether rows are sent to the task that their key belongs to: by the connector's
            partitioner, or by the hash of the key.
        async_: Whether a task has several questions under way at once.
        output_mode: ``ordered`` or ``allow_unordered``.
        capacity: Most questions under way at once in a task.
        timeout: Longest time for a question, retries included.
        retry_predicate: ``lookup_miss``: ask again for keys without rows. The four retry options
            go together.
        retry_strategy: ``fixed_delay``.
        fixed_delay: Time between two tries.
        max_attempts: Tries in all.
        cache: ``NONE``, ``PARTIAL`` or ``FULL``.
        max_rows: See `register_lookup`, as for the next four.
        expire_after_write: See `register_lookup`.
        expire_after_access: See `register_lookup`.
        cache_missing_key: See `register_lookup`.
        batch_size: See `register_lookup`.
        reload_strategy: When a FULL cache is loaded again: ``PERIODIC`` or ``TIMED``.
        reload_interval: For ``PERIODIC``, how often.
        reload_schedule_mode: For ``PERIODIC``: ``FIXED_DELAY`` counts from the end of a load,
            ``FIXED_RATE`` from its start.
        reload_iso_time: For ``TIMED``, the time of day: ``10:15``, ``10:15Z``, ``10:15+07:00``.
        reload_interval_in_days: For ``TIMED``, every so many days.

    Returns:
        The joined rows, as ``left.join(table, on, how)`` would have them.

    Raises:
        ValueError: Another kind of join, no key, or an argument that is not what it must be.

    Source:
        Flink's ``LOOKUP`` hint; the arguments are its options.

    Example:
        >>> spark.createDataFrame([("ch", 41), ("is", 354)], ["code", "prefix"]) \
        ...     .createOrReplaceTempView("prefixes")
        >>> calls = spark.createDataFrame([(1, "is"), (2, "xx")], ["call", "code"])
        >>> lookup_join(calls, "prefixes", on="code", how="left").orderBy("call").collect()
        [Row(code='is', call=1, prefix=354), Row(code='xx', call=2, prefix=None)]
    """
    if not hasattr(left, "sparkSession"):
        raise errors.no_rows(left)
    if not isinstance(table, str) and not hasattr(table, "hint"):
        raise errors.no_table(table)
    kind = _HOW.get(how.lower()) if isinstance(how, str) else None
    if kind is None:
        raise errors.unsupported_join(how)
    if isinstance(on, tuple):
        on = list(on)  # PySpark takes lists alone
    if on is None or (isinstance(on, list) and not on):
        raise errors.no_condition()
    if not all(
        isinstance(part, str | _column()) for part in (on if isinstance(on, list) else [on])
    ):
        raise errors.bad_condition(on)
    arguments: dict[str, Value] = {
        "shuffle": shuffle,
        "async_": async_,
        "output_mode": output_mode,
        "capacity": capacity,
        "timeout": timeout,
        "retry_predicate": retry_predicate,
        "retry_strategy": retry_strategy,
        "fixed_delay": fixed_delay,
        "max_attempts": max_attempts,
        "cache": cache,
        "max_rows": max_rows,
        "expire_after_write": expire_after_write,
        "expire_after_access": expire_after_access,
        "cache_missing_key": cache_missing_key,
        "batch_size": batch_size,
        "reload_strategy": reload_strategy,
        "reload_interval": reload_interval,
        "reload_schedule_mode": reload_schedule_mode,
        "reload_iso_time": reload_iso_time,
        "reload_interval_in_days": reload_interval_in_days,
    }
    hints = [f"{name}={value}" for name, value in flink_options(arguments).items()]
    require_extension(left.sparkSession)  # Spark would ignore the hint, with a warning in its log
    dimension = left.sparkSession.table(table) if isinstance(table, str) else table
    return left.join(dimension.hint("LOOKUP", *hints), on, kind)  # type: ignore[arg-type]


def _column() -> type:
    from pyspark.sql import Column

    return Column


def _check_session(spark: object) -> None:
    if not callable(getattr(spark, "sql", None)):
        raise errors.no_session(spark)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise errors.bad_name(name)
