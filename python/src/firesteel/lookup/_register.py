"""`register_lookup` and `unregister_lookup`: tables of connectors written in Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from firesteel._durations import Duration
from firesteel.lookup import _errors as errors
from firesteel.lookup._interfaces import AnyConnector
from firesteel.lookup._options import connector_options, flink_options
from firesteel.lookup._registration import functions_of, register
from firesteel.session import require_extension

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def register_lookup(
    spark: SparkSession,
    name: str,
    connector: AnyConnector,
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


def _check_session(spark: object) -> None:
    if not callable(getattr(spark, "sql", None)):
        raise errors.no_session(spark)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise errors.bad_name(name)
