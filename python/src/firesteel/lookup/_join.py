"""`lookup_join`: a join whose right side is read by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
