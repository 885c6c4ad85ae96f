"""One opened connector of one task: finds the rows of the keys of a batch."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from firesteel.lookup._worker import failures
from firesteel.lookup._worker.answers import ROWS_AT_ONCE, AnswerReader, Found
from firesteel.lookup._worker.arrays import Ints, runs, spread
from firesteel.lookup._worker.asking import Asked, Asker
from firesteel.lookup._worker.cache import CacheBounds, LookupCache
from firesteel.lookup._worker.crew import Crew
from firesteel.lookup._worker.keys import DistinctKeys, distinct, normalized

if TYPE_CHECKING:
    from firesteel.lookup._interfaces import TaskInfo
    from firesteel.lookup._worker.request import LookupRequest


@dataclass(frozen=True)
class ConnectorSpec:
    """A registered connector, in the form that is sent to the workers.

    Attributes:
        name: The name of its table.
        registration: An id per registration: a later registration does not use these caches.
        pickled: The connector, pickled.
        schema: Its columns.
        drop_others: Its ``may_answer_other_keys``.
    """

    name: str
    registration: str
    pickled: bytes
    schema: pa.Schema
    drop_others: bool


@dataclass(frozen=True)
class BatchStats:
    """Counts of one batch.

    Attributes:
        hits: Rows whose key was in the cache.
        misses: Keys looked up in the store.
        loads: Keys that the store has answered.
        load_ms: Milliseconds in the connector, the sum of all threads.
        failures: Always 0: a failed lookup fails the task, whose counts are lost.
        cached_rows: Keys put into the cache.
        requests: Calls of ``lookup``.
    """

    hits: int
    misses: int
    loads: int
    load_ms: int
    failures: int
    cached_rows: int
    requests: int


def bounds_of(request: LookupRequest) -> CacheBounds:
    """Return the cache bounds of a query."""

    def seconds(millis: int | None) -> float | None:
        return None if millis is None else millis / 1000

    return CacheBounds(
        request.max_rows,
        seconds(request.expire_after_write_ms),
        seconds(request.expire_after_access_ms),
        request.cache_missing_key,
    )


class LookupTask:
    """Looks up batches of keys for one task.

    Args:
        spec: The connector. The first lookup unpickles and opens it.
        request: The lookup join.
        info: The task, for the connector.
        cache: The cache; None for no cache.
    """

    def __init__(
        self, spec: ConnectorSpec, request: LookupRequest, info: TaskInfo, cache: LookupCache | None
    ) -> None:
        self._spec = spec
        self._request = request
        self._info = info
        self._cache = cache
        context = request.context
        self._key_types = [spec.schema.field(name).type for name in context.keys]
        self._reader = AnswerReader(
            spec.name, spec.schema, context.keys, context.columns, spec.drop_others
        )
        self._crew = Crew(request.in_flight, info.name)
        self._asker: Asker | None = None
        self._connector: Any = None
        self._hangs = False

    @property
    def row_type(self) -> pa.StructType:
        """The type of the rows that `rows_of` returns: the columns that the query reads."""
        return self._reader.row_type

    def rows_of(self, columns: Sequence[pa.Array]) -> tuple[Found, BatchStats]:
        """Look up the keys of a batch.

        Args:
            columns: One array of n values per key column.

        Returns:
            The matches of the n rows, and counts.
        """
        typed = [
            normalized(column if column.type == wanted else column.cast(wanted))
            for column, wanted in zip(columns, self._key_types, strict=True)
        ]
        keys = distinct(typed)
        if self._cache is None:
            found = _per_row(self._ask(typed, keys, None), keys)
            return found, self._stats(keys, len(keys.values), 0)
        cache = self._cache
        with cache.lock:
            slots = cache.find(keys.values)
            absent = np.flatnonzero(slots < 0)
            starts, lengths = cache.runs_of(slots)
            if not len(absent):
                return _taken(cache, starts, lengths, keys), self._stats(keys, 0, 0)
            # Before `put`, which may move or evict them.
            present = np.flatnonzero(slots >= 0)
            known = cache.take(spread(starts[present], lengths[present]))
        fresh = self._ask(typed, keys, absent)
        with cache.lock:
            asked = [keys.values[index] for index in absent.tolist()]
            kept = cache.put(asked, fresh.lengths, fresh.rows)
        lengths[absent] = fresh.lengths
        starts[present] = np.cumsum(lengths[present]) - lengths[present]
        starts[absent] = fresh.starts + len(known)
        both = Found(pa.concat_arrays([known, fresh.rows]), starts, lengths)
        return _per_row(both, keys), self._stats(keys, len(absent), kept)

    def close(self) -> None:
        """Close the connector, if it was opened, and its threads."""
        connector, self._connector = self._connector, None
        hangs = self._hangs or (self._asker is not None and self._asker.hangs)
        try:
            # If the connector hangs, its thread cannot close it.
            if not hangs and callable(getattr(connector, "close", None)):
                self._run("close", connector.close)
        finally:
            self._crew.close()

    def _ask(self, typed: Sequence[pa.Array], keys: DistinctKeys, only: Ints | None) -> Found:
        """Look up all keys, or ``only`` the keys with these indexes."""
        first, values = keys.first, keys.values
        if only is not None:
            first, values = first[only], [values[index] for index in only.tolist()]
        table = pa.table(
            [column.take(pa.array(first)) for column in typed], names=self._request.context.keys
        )
        if not values:
            return Found(pa.array([], self.row_type), np.zeros(0, np.int64), np.zeros(0, np.int64))
        if self._asker is None:
            self._asker = self._open()
        return self._asker.ask(table, values)

    def _open(self) -> Asker:
        name = self._spec.name
        try:
            connector = pickle.loads(self._spec.pickled)
        except Exception as error:
            raise failures.not_loaded(name, error) from error
        self._connector = connector
        if callable(getattr(connector, "open", None)):
            with_context = takes_context(connector.open)
            given = (self._info, self._request.context) if with_context else (self._info,)
            self._run("open", lambda: connector.open(*given))
        return Asker(name, connector.lookup, self._crew, self._request, self._reader)

    def _run(self, step: str, call: Any) -> None:  # noqa: ANN401 - the connector's own method
        """Run a step of the connector in its thread, within the timeout of a batch of keys."""
        future: Future[Any] = self._crew.submit(call)
        millis = self._request.timeout_ms
        try:
            future.result(timeout=millis / 1000 if millis else None)
        except TimeoutError as error:
            if future.done():  # its own error
                raise failures.raised(self._spec.name, step, self._info.name, error) from error
            self._hangs = True
            raise failures.too_slow(self._spec.name, step, millis) from None
        except Exception as error:
            raise failures.raised(self._spec.name, step, self._info.name, error) from error

    def _stats(self, keys: DistinctKeys, misses: int, kept: int) -> BatchStats:
        hits = int(np.count_nonzero(keys.codes >= 0)) - misses
        cost = Asked() if self._asker is None else self._asker.cost()
        millis = round(cost.seconds * 1000)
        return BatchStats(hits, misses, cost.loads, millis, 0, kept, cost.requests)


def takes_context(method: Any) -> bool:  # noqa: ANN401 - any callable
    """Whether ``open`` takes a second argument."""
    try:
        inspect.signature(method).bind(None, None)
    except TypeError:
        return False
    return True


def _of_rows(per_key: Ints, codes: Ints) -> Ints:
    """Return the number of each row's key; 0 for rows without one."""
    if not len(per_key):
        return np.zeros(len(codes), dtype=np.int64)
    return np.where(codes >= 0, per_key[codes], 0)


def _per_row(found: Found, keys: DistinctKeys) -> Found:
    starts, lengths = (_of_rows(of, keys.codes) for of in (found.starts, found.lengths))
    return Found(found.rows, starts, lengths)


def _taken(cache: LookupCache, starts: Ints, lengths: Ints, keys: DistinctKeys) -> Found:
    """Take the rows of cached keys: few of them as they will leave, many of them once for all."""
    row_lengths = _of_rows(lengths, keys.codes)
    if int(row_lengths.sum()) <= ROWS_AT_ONCE:
        rows = cache.take(spread(_of_rows(starts, keys.codes), row_lengths))
        return Found(rows, runs(row_lengths), row_lengths)
    return _per_row(Found(cache.take(spread(starts, lengths)), runs(lengths), lengths), keys)
