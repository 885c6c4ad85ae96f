"""`lookup_join`: a join whose right side is read by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firesteel._durations import Duration
from firesteel.lookup import _errors as errors
from firesteel.lookup._options import Value, flink_options
from firesteel.session import require_extension

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_HOW = {"inner": "inner", "left": "left", "left_outer": "left", "leftouter": "left"}


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

    An argument that is None has the value of the connector's registration. Without one, the
    settings ``spark.firesteel.lookup.*`` apply. A time is a timedelta, seconds, or text such as
    ``10 s``.

    Args:
        left: The rows to enrich.
        table: The name of a registered connector, table or view, or a DataFrame. A table without
            a connector is loaded whole, as with ``cache="FULL"``.
        on: The key, as in ``DataFrame.join``: a column name, a list of names, a condition, or a
            list of conditions.
        how: ``inner`` or ``left`` (``left_outer``).
        shuffle: Whether Spark shuffles each row to the task of its key: by the connector's
            partitioner, or by hash of the key.
        async_: Whether a task may have several batches of keys under way at the same time.
        output_mode: ``ordered``, or ``allow_unordered`` to emit each row when its key is answered;
            a connector in Python always answers in order.
        capacity: The most batches of keys under way at the same time in a task.
        timeout: The longest time for a batch of keys, retries included.
        retry_predicate: ``lookup_miss``: look a key without rows up again. The four retry
            arguments must be given together.
        retry_strategy: ``fixed_delay``.
        fixed_delay: The time between two attempts.
        max_attempts: The number of attempts in all.
        cache: ``NONE``, ``PARTIAL`` or ``FULL``.
        max_rows: The most keys in a PARTIAL cache.
        expire_after_write: How long a PARTIAL cache keeps an answer.
        expire_after_access: How long a PARTIAL cache keeps an answer that no row uses.
        cache_missing_key: Whether a PARTIAL cache keeps that a key has no rows.
        batch_size: The most keys in one batch.
        reload_strategy: When a FULL cache is loaded again: ``PERIODIC`` or ``TIMED``.
        reload_interval: For ``PERIODIC``, the time between two loads.
        reload_schedule_mode: For ``PERIODIC``, ``FIXED_DELAY`` counts from the end of a load and
            ``FIXED_RATE`` from its start.
        reload_iso_time: For ``TIMED``, the time of day: ``10:15``, ``10:15Z``, ``10:15+07:00``.
        reload_interval_in_days: For ``TIMED``, the number of days between two loads.

    Returns:
        The joined rows, with the columns of ``left.join(table, on, how)``.

    Raises:
        ValueError: The kind of join is not supported, there is no key, or an argument has a value
            that is not allowed.
        ExtensionNotLoadedError: The session runs without firesteel.

    Source:
        Flink's ``LOOKUP`` hint. The arguments are its options.

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
    key = _key(on)
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
    require_extension(left.sparkSession)  # Spark would log a warning and ignore the hint
    dimension = left.sparkSession.table(table) if isinstance(table, str) else table
    return left.join(dimension.hint("LOOKUP", *hints), key, kind)


def _key(on: object) -> Any:  # noqa: ANN401 - what `DataFrame.join` takes
    from pyspark.sql import Column

    key = list(on) if isinstance(on, tuple) else on  # PySpark takes no tuple
    if key is None or (isinstance(key, list) and not key):
        raise errors.no_condition()
    parts = key if isinstance(key, list) else [key]
    if not any(all(isinstance(part, kind) for part in parts) for kind in (str, Column)):
        raise errors.bad_condition(on)
    return key
