"""`register_lookup` and `unregister_lookup`: tables of connectors written in Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from firesteel._durations import Duration
from firesteel.lookup import _errors as errors
from firesteel.lookup._options import connector_options, flink_options
from firesteel.lookup._registration import functions_of, register
from firesteel.session import require_extension

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    # The same with types that checkers accept of any connector.
    from firesteel.lookup._interfaces import AnyConnector as SupportsLookup

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


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
    changes to the object have no effect. The table is a temporary view.

    A second registration under the same name replaces the first for new queries. A query that
    exists already keeps the first connector; on Spark Connect, where a query is its text, only
    until it runs again. So the session keeps every registration until `unregister_lookup`.

    A cache belongs to a worker process. Spark runs each concurrent task in a process of its own
    and reuses idle processes, so an executor with four cores has up to four caches. It ends
    processes that are idle for a minute.

    Args:
        spark: The session, classic or Connect.
        name: The table's name: letters, digits and _.
        connector: An object with ``schema``, ``keys`` and ``lookup``; see `SupportsLookup`. If it
            also has ``get_partitioner``, ``partition`` or ``partition_batch``, see
            `SupportsLookupCustomShuffle`.
        cache: ``NONE``, or ``PARTIAL`` to cache answers. ``PARTIAL`` needs at least one of the
            next three arguments.
        max_rows: The most keys in a cache. A full cache evicts the least recently used key. With
            a partitioner each partition has a cache of its own.
        expire_after_write: How long the cache keeps an answer: a timedelta, seconds, or text such
            as ``5 min``.
        expire_after_access: How long the cache keeps an answer that no row uses: a timedelta,
            seconds, or text.
        cache_missing_key: Whether the cache also keeps that a key has no rows; by default true.
        batch_size: The most keys in one call of ``lookup``; by default the setting
            ``spark.firesteel.lookup.batchSize``.
        options: The same options by Flink's names, such as ``lookup.partial-cache.max-rows``.
            They override the arguments.

    Raises:
        ValueError: An argument has a value that is not allowed.
        InvalidConnectorError: The connector lacks a member or cannot be pickled.
        ImportError: pyarrow or numpy is not installed.
        NotImplementedError: PySpark is older than 4.1.
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
    """Drop a table made by `register_lookup`. Without such a table, do nothing.

    Args:
        spark: The session, classic or Connect.
        name: The table's name.

    Raises:
        ValueError: ``name`` cannot name a table.

    Source:
        Spark's ``DROP VIEW`` and ``DROP TEMPORARY FUNCTION``.

    Example:
        >>> unregister_lookup(spark, "countries_of_nowhere")
    """
    _check_session(spark)
    _check_name(name)
    functions = _registered(spark, name)
    if functions:  # without them, a view of this name belongs to the user
        spark.catalog.dropTempView(name)
    for function in functions:
        spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {function}")


def _registered(spark: SparkSession, name: str) -> list[str]:
    # Spark keeps function names in lower case. The current catalog may not support functions.
    return [
        function
        for start in map(str.lower, functions_of(name))
        for (function,) in spark.sql(
            f"SHOW USER FUNCTIONS IN spark_catalog.default LIKE '{start}*'"
        ).collect()
        # Leaves out a longer name that begins with this one.
        if re.fullmatch("[0-9a-f]{32}", function.removeprefix(start))
    ]


def _check_session(spark: object) -> None:
    if not callable(getattr(spark, "sql", None)):
        raise errors.no_session(spark)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise errors.bad_name(name)
