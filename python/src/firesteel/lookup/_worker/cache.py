"""A bounded cache of answers by key: Flink's PARTIAL cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import repeat
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from firesteel.lookup._worker.arrays import runs, spread
from firesteel.lookup._worker.store import RowStore

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from firesteel.lookup._worker.arrays import Ints

SMALLEST_GARBAGE = 4096
"""The most unused rows that are not worth removing."""


@dataclass(frozen=True)
class CacheBounds:
    """The bounds of a cache: the most keys, and times in seconds; None for no bound."""

    max_keys: int | None
    seconds_after_write: float | None
    seconds_after_access: float | None
    missing_keys: bool


class LookupCache:
    """Rows by key, with the least recently used keys evicted first.

    Use is counted in batches: among keys last used in the same batch, any may be evicted. Hold
    ``lock`` over all steps that belong together, because `put` changes positions.

    Memory: ``max_keys`` keys and their rows, plus at most as many unused rows (or 4096).
    """

    def __init__(
        self,
        bounds: CacheBounds,
        row_type: pa.StructType,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lock = RLock()
        self._bounds = bounds
        self._clock = clock
        self._slots: dict[Hashable, int] = {}
        self._store = RowStore(row_type)
        self._free: list[int] = []
        self._keys: list[Hashable] = []  # by slot, as are the arrays
        self._starts: Ints = np.zeros(0, dtype=np.int64)
        self._lengths: Ints = np.zeros(0, dtype=np.int64)
        self._used: Ints = np.zeros(0, dtype=np.int64)  # batch that used it last; -1: free slot
        self._written: npt.NDArray[np.float64] = np.zeros(0)
        self._accessed: npt.NDArray[np.float64] = np.zeros(0)
        self._batch = 0
        self._last_used = clock()
        self._grow(1)  # then -1 is a valid index, with any content

    def __len__(self) -> int:
        """Number of keys, those without rows included."""
        return len(self._slots)

    def find(self, keys: Sequence[Hashable]) -> Ints:
        """Return for each key its slot, or -1 if it is not cached or has expired."""
        self._batch += 1
        slots = np.fromiter(map(self._slots.get, keys, repeat(-1)), np.int64, len(keys))
        found = slots[slots >= 0]
        now = self._last_used = self._clock()
        old = self._expired(found, now)
        if old.any():
            self._remove(found[old])
            slots[np.isin(slots, found[old])] = -1
            found = found[~old]
        self._used[found] = self._batch
        self._accessed[found] = now
        return slots

    def idle_seconds(self) -> float:
        """Return the seconds since the last `find`."""
        return self._clock() - self._last_used

    def runs_of(self, slots: Ints) -> tuple[Ints, Ints]:
        """Return the start and the number of rows of each slot; any numbers for slot -1."""
        return self._starts[slots], self._lengths[slots]

    def take(self, positions: Ints) -> pa.StructArray:
        """Return the rows at these positions."""
        return self._store.take(positions)

    def put(self, keys: Sequence[Hashable], lengths: Ints, rows: pa.StructArray) -> int:
        """Add answers.

        Args:
            keys: n distinct keys.
            lengths: The number of rows of each key.
            rows: The rows of all keys, in the order of the keys.

        Returns:
            The number of keys added.
        """
        starts = self._store.append(rows) + runs(lengths)
        if not self._bounds.missing_keys:
            some = lengths > 0
            keys = [key for key, kept in zip(keys, some.tolist(), strict=True) if kept]
            starts, lengths = starts[some], lengths[some]
        slots = self._slots_for(keys)
        self._starts[slots], self._lengths[slots] = starts, lengths
        self._used[slots] = self._batch
        self._written[slots] = self._accessed[slots] = self._clock()
        self._evict()
        self._compact()
        return len(keys)

    def purge(self) -> None:
        """Remove expired keys."""
        taken = np.flatnonzero(self._used >= 0)
        old = self._expired(taken, self._clock())
        if old.any():
            self._remove(taken[old])
            self._compact()

    def _expired(self, slots: Ints, now: float) -> npt.NDArray[np.bool_]:
        old = np.zeros(len(slots), dtype=np.bool_)
        if self._bounds.seconds_after_write is not None:
            old |= now - self._written[slots] >= self._bounds.seconds_after_write
        if self._bounds.seconds_after_access is not None:
            old |= now - self._accessed[slots] >= self._bounds.seconds_after_access
        return old

    def _slots_for(self, keys: Sequence[Hashable]) -> Ints:
        self._grow(len(keys))
        slots = np.empty(len(keys), dtype=np.int64)
        for index, key in enumerate(keys):
            slot = self._slots.get(key)
            if slot is None:
                slot = self._slots[key] = self._free.pop()
                self._keys[slot] = key
            slots[index] = slot
        return slots

    def _grow(self, wanted: int) -> None:
        if len(self._free) >= wanted:
            return
        size = len(self._keys)
        more = max(wanted, size, 64)
        self._free.extend(range(size + more - 1, size - 1, -1))
        self._keys.extend([None] * more)
        self._starts = np.concatenate([self._starts, np.zeros(more, dtype=np.int64)])
        self._lengths = np.concatenate([self._lengths, np.zeros(more, dtype=np.int64)])
        self._used = np.concatenate([self._used, np.full(more, -1, dtype=np.int64)])
        self._written = np.concatenate([self._written, np.zeros(more)])
        self._accessed = np.concatenate([self._accessed, np.zeros(more)])

    def _evict(self) -> None:
        limit = self._bounds.max_keys
        surplus = len(self._slots) - limit if limit is not None else 0
        if surplus > 0:
            taken = np.flatnonzero(self._used >= 0)
            oldest = np.argpartition(self._used[taken], surplus - 1)[:surplus]
            self._remove(taken[oldest])

    def _remove(self, slots: Ints) -> None:
        for slot in slots.tolist():
            del self._slots[self._keys[slot]]
            self._keys[slot] = None
            self._free.append(slot)
        self._lengths[slots] = 0
        self._used[slots] = -1

    def _compact(self) -> None:
        live = int(self._lengths.sum())
        if len(self._store) - live <= max(live, SMALLEST_GARBAGE):
            return
        taken = np.flatnonzero(self._used >= 0)
        lengths = self._lengths[taken]
        self._store.keep_only(spread(self._starts[taken], lengths))
        self._starts[taken] = runs(lengths)
