"""The rows of a cache, in Arrow chunks, by position."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from firesteel.lookup._worker.arrays import Ints

MAX_MERGED_BYTES = 1 << 30
"""Chunks are not merged beyond this: Arrow's strings have 32-bit offsets, up to 2 GiB."""


class RowStore:
    """Rows in order of arrival; a row keeps its position until `keep_only`.

    Chunks are merged when the last is at least half as long as the one before, so n rows are
    copied O(log n) times and lie in O(log n) chunks. Memory: the rows, twice while merging.
    """

    def __init__(self, row_type: pa.StructType) -> None:
        self._chunks: list[pa.StructArray] = [pa.array([], row_type)]
        self._starts: Ints = np.zeros(1, dtype=np.int64)
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, rows: pa.StructArray) -> int:
        """Add rows; return the position of the first."""
        start = self._rows
        if len(rows):
            self._rows += len(rows)
            self._chunks.append(rows)
            self._merge()
        return start

    def _merge(self) -> None:
        chunks = self._chunks
        while len(chunks) > 1 and len(chunks[-2]) <= 2 * len(chunks[-1]):
            if chunks[-2].nbytes + chunks[-1].nbytes > MAX_MERGED_BYTES:
                break
            last = chunks.pop()
            chunks[-1] = pa.concat_arrays([chunks[-1], last])
        lengths = [len(chunk) for chunk in chunks]
        self._starts = np.cumsum([0, *lengths[:-1]], dtype=np.int64)

    def take(self, positions: Ints) -> pa.StructArray:
        """Return the rows at these positions, in this order."""
        if len(self._chunks) == 1:
            return _take(self._chunks[0], positions)
        chunk_of = np.searchsorted(self._starts, positions, side="right") - 1
        used = np.flatnonzero(np.bincount(chunk_of, minlength=len(self._chunks)))
        if len(used) == 1:
            only = int(used[0])
            return _take(self._chunks[only], positions - self._starts[only])
        order = np.argsort(chunk_of, kind="stable")
        pieces = [pa.array([], self._chunks[0].type)]
        for index in used.tolist():
            within = positions[chunk_of == index] - self._starts[index]
            pieces.append(_take(self._chunks[index], within))
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order), dtype=np.int64)
        return _take(pa.concat_arrays(pieces), back)

    def keep_only(self, positions: Ints) -> None:
        """Drop all other rows; those at ``positions`` then have positions 0, 1, 2..."""
        kept = self.take(positions)
        self._chunks = [kept]
        self._starts = np.zeros(1, dtype=np.int64)
        self._rows = len(kept)


def _take(rows: pa.StructArray, positions: Ints) -> pa.StructArray:
    return pc.take(rows, pa.array(positions), boundscheck=False)
