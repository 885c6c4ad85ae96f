"""`live_table`: a function for foreachBatch that shows a result and updates it in place."""

from __future__ import annotations

import atexit
import re
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from pickle import PickleError
from typing import TYPE_CHECKING, Any, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pyspark.sql import Row, SparkSession
from pyspark.sql.types import TimestampType

from firesteel import _display, _errors, _live
from firesteel.errors import UnsupportedOnConnectError
from firesteel.sinks._arguments import names_of
from firesteel.sinks._batches import query_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame

_Rows: TypeAlias = "dict[str, list[Row]]"  # rows by the text of their keys

MAX_ROWS = 10_000
"""Rows that a live table keeps; a table for the eye has fewer."""

_OPS = ("op", "row_kind()", "row_kind")
_KINDS = {"+I", "-U", "+U", "-D"}


def live_table(
    keys: str | Sequence[str] | None = None,
    *,
    order: str | Sequence[str] | None = None,
    op: str | None = None,
    complete: bool = False,
    title: str = "result",
) -> LiveTable:
    """Show a streaming query's result as a table that changes in place.

    Pass the returned object to ``foreachBatch``, or give it to a statement set as a target. A
    notebook updates one table, in the output of the cell that showed it or of the first
    micro-batch. So does a terminal with rich. Elsewhere each micro-batch prints the table::

        changes = spark.sql("SELECT *, row_kind() AS op FROM trending")
        query = changes.writeStream.foreachBatch(firesteel.live_table("item")).start()

    The rows are in the driver, at most 10,000. A query that starts again in a new program shows
    what comes from then on, and in complete mode everything. Another query empties the table.

    Args:
        keys: The columns that identify a row: one name or several. A row replaces the one with the
            same keys. Without keys, a change is found by all of its columns.
        order: The columns by which rows are shown, the smallest first, nulls last; by default the
            keys.
        op: The column with ``+I``, ``-U``, ``+U`` and ``-D``; by default ``op``, ``row_kind()``
            or ``row_kind``, if there is one. Without it rows only come.
        complete: Whether each micro-batch has the whole result, as in complete mode.
        title: What is above the table.

    Returns:
        A function that takes a DataFrame and a batch number, and that a notebook shows.

    Raises:
        TypeError: ``keys`` or ``order`` are not names.
        ValueError: An argument has a value that is not allowed.

    Source:
        The table mode of Flink's SQL client; ``foreachBatch`` of Spark's Structured Streaming.

    Example:
        >>> table = live_table("word", title="words")
        >>> table(spark.sql("SELECT 'a' AS word, 1 AS n, '+I' AS op"), 0)
        words, micro-batch 0
        <BLANKLINE>
        Rows
        word  n
        a     1
    """
    if op is not None and (not isinstance(op, str) or not op):
        raise _errors.bad_value("op", op, "text that is not empty")
    if not isinstance(complete, bool):
        raise _errors.bad_value("complete", complete, "True or False")
    columns = [] if keys is None else names_of("keys", keys)
    by = columns if order is None else names_of("order", order)
    return LiveTable(columns, by, op, complete, title)


@dataclass(frozen=True)
class _Columns:
    """The columns of a micro-batch.

    Attributes:
        names: Their names.
        zones: The session's time zone for each column of type ``TIMESTAMP``.
        is_exact: Whether upper and lower case count in names.
    """

    names: list[str] = field(default_factory=list)
    zones: list[str | None] = field(default_factory=list)
    is_exact: bool = False

    @classmethod
    def of(cls, df: DataFrame) -> _Columns:
        conf = df.sparkSession.conf
        zone = conf.get("spark.sql.session.timeZone")
        zones = [zone if isinstance(its.dataType, TimestampType) else None for its in df.schema]
        return cls(df.columns, zones, conf.get("spark.sql.caseSensitive") == "true")

    def without(self, at: int) -> _Columns:
        names, zones = (
            [its for i, its in enumerate(all_of) if i != at] for all_of in (self.names, self.zones)
        )
        return _Columns(names, zones, self.is_exact)  # type: ignore[arg-type]

    def find(self, name: str) -> int:
        """The place of a column; -1 if there is none."""
        if name in self.names:
            return self.names.index(name)
        same = [its if self.is_exact else its.lower() for its in self.names]
        known = name if self.is_exact else name.lower()
        return same.index(known) if known in same else -1

    def place(self, name: str) -> int:
        at = self.find(name)
        if at < 0:
            raise _errors.no_column(name, self.names)
        return at


@dataclass(frozen=True)
class _Now:
    """Rows at one moment.

    Attributes:
        columns: The columns, without the one of kinds.
        rows: The rows by key.
        order: The places of the columns by which rows are shown.
    """

    columns: _Columns = field(default_factory=_Columns)
    rows: _Rows = field(default_factory=dict)
    order: list[int] = field(default_factory=list)

    def sorted(self) -> list[Row]:
        shown = Row(*self.columns.names)
        all_rows = [shown(*row) for same in self.rows.values() for row in same]
        return sorted(all_rows, key=lambda row: [_sortable(row[at]) for at in self.order])


class LiveTable(_display.Shown):
    """Rows of a streaming query, as they are now; `live_table` returns it."""

    def __init__(
        self, keys: list[str], order: list[str], op: str | None, complete: bool, title: str
    ) -> None:
        self._keys = keys
        self._order = order
        self._op = op
        self._complete = complete
        self._title = title
        # Replaced as one, because rows are read in other threads than the stream's.
        self._now = _Now()
        self._query: str | None = None
        self._batch_id = -1
        self._open = ExitStack()
        self._show: Callable[[_display.Shown], None] | None = None

    def __call__(self, df: DataFrame, batch_id: int) -> None:
        """Apply one micro-batch and show the table.

        Args:
            df: The micro-batch that ``foreachBatch`` passes.
            batch_id: The batch number that ``foreachBatch`` passes.

        Raises:
            ValueError: A key, an order or the kind is not a column, a kind is unknown, or there are
                too many rows.
            UnsupportedOnConnectError: The query runs on a Connect server.
        """
        if not isinstance(df.sparkSession, SparkSession):
            raise _errors.live_table_on_connect()
        if query_id(df) != self._query:
            self._query, self._batch_id = query_id(df), -1
            self._now = _Now()
        # All partitions in one job: a part of them would leave state of the others behind.
        self._apply(_Columns.of(df), df.collect(), batch_id)
        if self._show is None:
            self._show = self._open.enter_context(_live.shown(print))
            atexit.register(self.close)
        self._show(self)

    @property
    def rows(self) -> list[Row]:
        """The rows as they are now, without kinds, in the order in which they are shown."""
        return self._now.sorted()

    def close(self) -> None:
        """Stop showing the table in place, so that a terminal writes below it."""
        self._open.close()
        self._show = None
        atexit.unregister(self.close)

    def _apply(self, columns: _Columns, rows: Sequence[Row], batch_id: int) -> None:
        at = self._kind_at(columns)
        shown = columns.without(at)
        keys_at, order_at = ([*map(shown.place, its)] for its in (self._keys, self._order))
        if batch_id == self._batch_id and not self._complete:
            return  # a repeated micro-batch
        before = {} if self._complete else self._now.rows
        now = {key: list(same) for key, same in before.items()}
        come: list[Row] = []
        go: list[Row] = []
        # A row may come and go within a micro-batch: what is left of both counts.
        net: Counter[str] = Counter()
        for row in rows:
            kind = "+I" if at < 0 else row[at]
            if kind not in _KINDS:
                raise _errors.unknown_kind(kind, columns.names[at])
            values = Row(*(value for i, value in enumerate(row) if i != at))
            is_new = kind.startswith("+")
            (come if is_new else go).append(values)
            net[repr(values)] += 1 if is_new else -1
        # Rows that go first: a row may take the keys of another one.
        for row in go:
            if net[repr(row)] < 0:
                net[repr(row)] += 1
                _remove(now, _key(row, keys_at))
        for row in come:
            if net[repr(row)] > 0:
                same = now.setdefault(_key(row, keys_at), [])
                same[:] = [row] if self._keys else [*same, row]
                if not self._keys:  # of rows with the same keys the last one stays
                    net[repr(row)] -= 1
        if sum(map(len, now.values())) > MAX_ROWS:
            raise _errors.too_many_rows(MAX_ROWS)
        self._now, self._batch_id = _Now(shown, now, order_at), batch_id

    def _kind_at(self, columns: _Columns) -> int:
        """The place of the column of kinds; -1 if rows only come."""
        if self._op is not None:
            return columns.place(self._op)
        exact = [columns.names.index(name) for name in _OPS if name in columns.names]
        return next((at for at in (*exact, *map(columns.find, _OPS)) if at >= 0), -1)

    def _page(self) -> _display.Page:
        now, rows = self._now, self._now.sorted()
        zones = now.columns.zones
        cells = [[_cell(*its) for its in zip(row, zones, strict=True)] for row in rows]
        title = (
            self._title if self._batch_id < 0 else f"{self._title}, micro-batch {self._batch_id}"
        )
        return _display.Page(
            title, [_display.Table("Rows", now.columns.names, cells, empty="No row has come yet.")]
        )

    def _ipython_display_(self) -> None:
        """Show the table here; later micro-batches update it."""
        if _live.in_notebook():
            self._show = _live.updating(self)
        else:
            print(self)

    def __reduce__(self) -> str:
        raise _NotPicklableError(*_errors.live_table_on_connect().args)


def _cell(value: object, zone: str | None) -> str:
    """A value as Spark shows it: numbers without separators, times in the session's zone."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case datetime() if zone is not None:
            return str(_in_zone(value, zone))
        case _:
            return str(value)


def _in_zone(value: datetime, zone: str) -> datetime:
    """A time in the session's zone; PySpark gives it in the machine's, which stays if need be."""
    try:
        return value.astimezone(_zone(zone)).replace(tzinfo=None)
    except (OverflowError, ValueError):  # at either end of time, or in no zone that is known
        return value


def _zone(text: str) -> tzinfo:
    """A time zone as Spark writes it.

    Raises:
        ValueError: It is not known.
    """
    offset = re.fullmatch(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?", text)
    if offset:
        hours, minutes, seconds = (int(its or 0) for its in offset.groups()[1:])
        ahead = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return timezone(-ahead if offset[1] == "-" else ahead)
    try:
        return UTC if text == "Z" else ZoneInfo(text)
    except (ZoneInfoNotFoundError, OSError) as unknown:
        raise ValueError(text) from unknown


class _NotPicklableError(UnsupportedOnConnectError, PickleError):
    """Spark Connect pickles the function of ``foreachBatch``, and passes on errors of this kind."""


def _key(row: Row, keys_at: Sequence[int]) -> str:
    return repr([row[at] for at in keys_at]) if keys_at else repr(row)


def _remove(rows: _Rows, key: str) -> None:
    """Remove a row with this key; one that came before the query started again is not there."""
    same = rows.get(key)
    if same:
        same.pop()
        if not same:
            del rows[key]


def _sortable(value: Any) -> Any:  # noqa: ANN401 - a value of any type
    """A value that can be compared with others of its column; NaN and nulls are last."""
    match value:
        case None:
            return (3, "")
        case float() if value != value:
            return (1, "")
        case tuple() | list():  # structs and arrays
            return (0, [_sortable(its) for its in value])
        case bool() | int() | float() | str() | bytes() | bytearray() | Decimal():
            return (0, value)
        case date() | time() | timedelta():
            return (0, value)
        case _:  # a map, a variant
            return (2, repr(value))
