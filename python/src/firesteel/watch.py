"""Shows a running streaming query: rows, late rows, state and lag of each micro-batch."""

from __future__ import annotations

import time
from datetime import datetime
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.query import StreamingQuery

from firesteel import _display, _errors, _live

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MICRO_BATCHES = 10
"""Micro-batches that are shown, the newest first."""

_KINDS = {
    "numInsertRows": "+I",
    "numUpdateBeforeRows": "-U",
    "numUpdateAfterRows": "+U",
    "numDeleteRows": "-D",
}
"""Metrics of rows emitted by firesteel's state operators, and their kinds."""

_NAMES = {
    "numLateRetractions": "late retractions",
    "numRowsOutOfSequence": "late by sequence",
    "numExpiredStateRows": "expired",
    **_KINDS,
}
"""All metrics of firesteel's state operators, and their columns."""


class QueryWatch(_display.Shown):
    """A streaming query as a table. `watch` makes it.

    A notebook shows it as the last expression of a cell, and updates the table in place until the
    query ends, `stop` is called or the object is shown again. ``print`` and ``rich.print`` show the
    query as it is at that moment.
    """

    def __init__(self, query: StreamingQuery, interval: float) -> None:
        self._query = query
        self._interval = interval
        self._stopped = Event()

    @property
    def query(self) -> StreamingQuery:
        """The streaming query."""
        return self._query

    def awaitTermination(self, timeout: float | None = None) -> bool:
        """Show the query until it ends or the time is over.

        The table is updated in place in a notebook, and in a terminal when rich is installed.
        Otherwise each micro-batch is printed as a line.

        Args:
            timeout: Seconds to wait at most; None to wait until the query ends.

        Returns:
            Whether the query has ended.

        Raises:
            StreamingQueryException: The query has failed.

        Source:
            ``StreamingQuery.awaitTermination``, which waits and shows nothing.
        """
        self.stop()
        give_up = None if timeout is None else time.monotonic() + timeout
        with _live.shown(_Lines()) as show:
            while True:
                active = self._query.isActive
                show(self)
                if not active or (give_up is not None and time.monotonic() >= give_up):
                    break
                left = self._interval if give_up is None else give_up - time.monotonic()
                time.sleep(max(0.0, min(self._interval, left)))
        failure = None if active else self._query.exception()
        if failure is not None:
            raise failure
        return not active

    def stop(self) -> None:
        """Stop the updates in a notebook. The query keeps running."""
        self._stopped.set()

    def _ipython_display_(self) -> None:
        """Show the table, and update it from a thread until the query ends."""
        if not _live.in_notebook():
            print(self)
            return
        self.stop()  # a table that was shown before
        stopped = self._stopped = Event()
        was_active = self._query.isActive
        show = _live.updating(self)

        def update() -> None:
            active = was_active
            while active and not stopped.wait(self._interval):
                active = self._query.isActive
                show(self)

        # A daemon, since a query that runs for ever must not keep Python from ending.
        Thread(target=update, name="firesteel.watch", daemon=True).start()

    def _page(self) -> _display.Page:
        query = self._query
        active = query.isActive
        failure = None if active else query.exception()
        state = "running" if active else "stopped" if failure is None else "failed"
        recent = list(reversed(_ended(query)))
        parts: list[_display.Table | _display.Fold] = [_micro_batches(recent)]
        if recent:
            parts += [_state(recent[0]), _sources(recent[0])]
        if failure is not None:
            parts.append(_display.Fold("Error", str(failure)))
        return _display.Page(f"{query.name or query.id}: {state}", parts)


def _ended(query: StreamingQuery) -> list[Any]:
    """The progress of micro-batches. A trigger without data has one with the next one's number."""
    return [its for its in query.recentProgress if "addBatch" in its["durationMs"]]


def watch(query: StreamingQuery, interval: float = 1.0) -> QueryWatch:
    """Show a streaming query while it runs.

    Each micro-batch has a row: rows read, rows per second, duration, late rows, rows of state, lag.
    Late rows are rows behind the watermark, retractions of unknown rows and rows older than their
    key's by the sequence. The lag is the time from the newest event of a micro-batch to the start
    of that micro-batch, and needs a watermark. A changelog has the rows that its last state
    operator emitted, by row kind. Metrics observed by ``DataFrame.observe`` follow. State operators
    and sources of the last micro-batch have tables of their own.

    Args:
        query: A streaming query, of Spark or of firesteel, classic or Connect.
        interval: Seconds between two updates.

    Returns:
        An object that a notebook shows; call its ``awaitTermination`` in a terminal.

    Raises:
        TypeError: Not a streaming query.
        ValueError: The interval is not positive.

    Source:
        The progress that Spark reports: ``StreamingQuery.recentProgress``.

    Example:
        >>> numbers = spark.readStream.format("rate").load().writeStream.format("noop").start()
        >>> watch(numbers).query.isActive
        True
        >>> numbers.stop()
    """
    connect = type(query).__module__ == "pyspark.sql.connect.streaming.query"
    if not (isinstance(query, StreamingQuery) or connect):
        raise TypeError(f"watch takes a StreamingQuery, not {type(query).__name__}")
    if not interval > 0:
        raise _errors.bad_value("interval", interval, "a positive number of seconds")
    return QueryWatch(query, interval)


def _micro_batches(recent: Sequence[Mapping[str, Any]]) -> _display.Table:
    shown = recent[:MICRO_BATCHES]
    observed = dict.fromkeys(name for progress in shown for name in _observed(progress))
    kinds = [name for name in _KINDS if any(name in _emitted(progress) for progress in shown)]
    rows: list[list[_display.Cell]] = []
    for progress in shown:
        metrics = _observed(progress)
        rows.append(
            [
                str(progress["batchId"]),
                _of_sources(progress, "numInputRows"),
                _of_sources(progress, "processedRowsPerSecond"),
                progress["batchDuration"],
                sum(map(_late, progress["stateOperators"])),
                sum(operator["numRowsTotal"] for operator in progress["stateOperators"]),
                _lag(progress),
                *(_emitted(progress).get(name) for name in kinds),
                *(metrics.get(name) for name in observed),
            ]
        )
    return _display.Table(
        "Micro-batches" + (f", the last {MICRO_BATCHES}" if len(recent) > MICRO_BATCHES else ""),
        [
            "batch",
            "rows",
            "rows/s",
            "ms",
            "late rows",
            "state rows",
            "lag (s)",
            *(_KINDS[name] for name in kinds),
            *observed,
        ],
        rows,
        empty="No micro-batch has ended yet.",
        kind="micro-batches",
    )


def _state(progress: Mapping[str, Any]) -> _display.Table:
    operators = progress["stateOperators"]
    present = {name for operator in operators for name in operator["customMetrics"]}
    own = {name: text for name, text in _NAMES.items() if name in present}
    return _display.Table(
        f"State operators in micro-batch {progress['batchId']}",
        ["operator", "state rows", "written", "removed", "late rows", *own.values(), "MiB"],
        [
            [
                o["operatorName"],
                o["numRowsTotal"],
                o["numRowsUpdated"],
                o["numRowsRemoved"],
                o["numRowsDroppedByWatermark"],
                *(o["customMetrics"].get(name) for name in own),
                o["memoryUsedBytes"] / 2**20,
            ]
            for o in operators
        ],
        empty="The query keeps no state.",
        kind="operators",
    )


def _sources(progress: Mapping[str, Any]) -> _display.Table:
    return _display.Table(
        f"Sources in micro-batch {progress['batchId']}",
        ["source", "rows", "rows/s", "metrics"],
        [
            [
                source["description"],
                source["numInputRows"],
                source["processedRowsPerSecond"],
                ", ".join(f"{name} = {value}" for name, value in (source["metrics"] or {}).items())
                or None,
            ]
            for source in progress["sources"]
        ],
        empty="The query has no source.",
        kind="sources",
    )


def _of_sources(progress: Mapping[str, Any], name: str) -> _display.Cell:
    """A metric of all sources; a Connect server sends it for each source alone."""
    total: _display.Cell = progress[name]
    of_each = [source[name] for source in progress["sources"] if source[name] is not None]
    return total if total is not None or not of_each else sum(of_each)


def _observed(progress: Mapping[str, Any]) -> dict[str, _display.Cell]:
    """Observed metrics by name and field; a Connect server sends values and a schema."""
    found: dict[str, _display.Cell] = {}
    for name, row in progress["observedMetrics"].items():
        fields = row.asDict()
        if fields.keys() == {"values", "schema"}:
            names = [field["name"] for field in fields["schema"]["fields"]]
            fields = dict(zip(names, fields["values"], strict=True))
        found |= {f"{name}: {field}": _cell(value) for field, value in fields.items()}
    return found


def _emitted(progress: Mapping[str, Any]) -> Mapping[str, int]:
    """The metrics of the state operator next to the sink, which emits the result's changes."""
    return next((operator["customMetrics"] for operator in progress["stateOperators"]), {})


def _late(operator: Mapping[str, Any]) -> int:
    custom = operator["customMetrics"]
    late = (custom.get(name, 0) for name in ("numLateRetractions", "numRowsOutOfSequence"))
    return int(operator["numRowsDroppedByWatermark"] + sum(late))


def _lag(progress: Mapping[str, Any]) -> float | None:
    """Seconds from the newest event to the start of the micro-batch."""
    newest = progress["eventTime"].get("max")
    if newest is None:
        return None
    started = datetime.fromisoformat(progress["timestamp"])
    try:
        return (started - datetime.fromisoformat(newest)).total_seconds()
    except ValueError:  # a year after 9999, as of milliseconds read as seconds
        return None


def _cell(value: object) -> _display.Cell:
    """A value of the user's, with its digits."""
    match value:
        case bool():
            return str(value).lower()
        case float():
            return repr(value)
        case int() | None:
            return value
        case _:
            return str(value)


class _Lines:
    """Prints each micro-batch once, as a line."""

    def __init__(self) -> None:
        self._last = -1

    def __call__(self, watched: QueryWatch) -> None:
        new = [its for its in _ended(watched.query) if its["batchId"] > self._last]
        for progress in new:
            print(_display.to_line(_micro_batches([progress])))
            self._last = progress["batchId"]
