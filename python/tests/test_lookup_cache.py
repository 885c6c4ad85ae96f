"""The cache of lookups: bounds, expiry and the rows it holds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.lookup._worker import cache as cache_module
from firesteel.lookup._worker.arrays import spread
from firesteel.lookup._worker.cache import CacheBounds, LookupCache
from firesteel.lookup._worker.store import RowStore

ROW = pa.struct({"v": pa.int64()})


class Clock:
    """Stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def array(*values: int) -> npt.NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def rows(*values: int) -> pa.StructArray:
    return pa.array([{"v": value} for value in values], ROW)


def bounded(
    keys: int | None = None,
    write: float | None = None,
    access: float | None = None,
    clock: Clock | None = None,
    missing: bool = True,
) -> LookupCache:
    return LookupCache(CacheBounds(keys, write, access, missing), ROW, clock or Clock())


def put(cache: LookupCache, *keys: int, each: int = 1) -> None:
    """Each key has ``each`` rows, all with the key as their value."""
    lengths = array(*[each] * len(keys))
    cache.put(keys, lengths, rows(*(key for key in keys for _ in range(each))))


def cached(cache: LookupCache, *keys: int) -> list[list[int] | None]:
    slots = cache.find(keys)
    found: list[list[int] | None] = []
    for slot in slots.tolist():
        starts, lengths = cache.runs_of(array(slot))
        values = cache.take(spread(starts, lengths)).field("v").to_pylist() if slot >= 0 else None
        found.append(values)
    return found


def test_expires_after_write_even_when_used() -> None:
    clock = Clock()
    cache = bounded(write=10, clock=clock)
    put(cache, 1)
    for clock.now in (4, 8):
        assert cached(cache, 1) == [[1]]
    clock.now = 10
    assert cached(cache, 1, 2) == [None, None]
    assert len(cache) == 0


def test_expires_after_access_unless_used() -> None:
    clock = Clock()
    cache = bounded(access=10, clock=clock)
    put(cache, 1, 2)
    clock.now = 9
    assert cached(cache, 1) == [[1]]
    clock.now = 18
    assert cached(cache, 1, 2) == [[1], None]


def test_knows_how_long_nobody_has_asked() -> None:
    clock = Clock()
    cache = bounded(9, clock=clock)
    put(cache, 1)
    clock.now = 10
    assert cache.idle_seconds() == 10
    assert cached(cache, 1) == [[1]]
    assert cache.idle_seconds() == 0


def test_purges_what_nobody_asks_for() -> None:
    clock = Clock()
    cache = bounded(write=10, clock=clock)
    put(cache, 1, 2)
    clock.now = 5
    put(cache, 3)
    clock.now = 12
    cache.purge()
    assert len(cache) == 1
    assert cached(cache, 3) == [[3]]


def test_evicts_the_keys_used_least_recently() -> None:
    cache = bounded(keys=3)
    for key in (1, 2, 3):
        cached(cache, key)
        put(cache, key)
    assert cached(cache, 1) == [[1]]
    cached(cache, 4)
    put(cache, 4)
    assert cached(cache, 1, 2, 3, 4) == [[1], None, [3], [4]]


def test_a_batch_larger_than_the_cache_fills_it() -> None:
    cache = bounded(keys=3)
    put(cache, *range(10))
    assert len(cache) == 3


@pytest.mark.parametrize("missing", [True, False])
def test_keys_without_rows(missing: bool) -> None:
    cache = bounded(keys=3, missing=missing)
    kept = cache.put([1, 2, 3], array(0, 2, 0), rows(7, 8))
    assert kept == (3 if missing else 1)
    assert cached(cache, 1, 2) == [[] if missing else None, [7, 8]]


def test_putting_a_key_again_replaces_its_rows() -> None:
    cache = bounded(keys=3)
    put(cache, 1, each=2)
    put(cache, 1, 2, each=1)
    assert cached(cache, 1, 2) == [[1], [2]]
    assert len(cache) == 2


@settings(max_examples=200, deadline=None)
@given(
    puts=st.lists(st.lists(st.integers(0, 15), unique=True, max_size=8), max_size=25),
    limit=st.integers(1, 10),
)
def test_holds_what_was_put_last_or_nothing(puts: list[list[int]], limit: int) -> None:
    cache, latest = bounded(keys=limit), {}
    before = cache_module.SMALLEST_GARBAGE
    cache_module.SMALLEST_GARBAGE = 4  # so that rows are moved all the time
    try:
        for number, keys in enumerate(puts):
            cache.find(keys)
            for key in keys:
                latest[key] = [number * 100 + i for i in range(key % 3)]
            values = [value for key in keys for value in latest[key]]
            cache.put(keys, array(*(key % 3 for key in keys)), rows(*values))
            assert len(cache) <= limit
            for key, found in zip(latest, cached(cache, *latest), strict=True):
                assert found in (None, latest[key])
            assert sum(found is not None for found in cached(cache, *latest)) == len(cache)
            assert len(cache._store) <= 2 * max(int(cache._lengths.sum()), 4)
    finally:
        cache_module.SMALLEST_GARBAGE = before


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 20), max_size=30), st.randoms(use_true_random=False))
def test_a_store_gives_rows_by_position(sizes: list[int], random: object) -> None:
    store, total = RowStore(ROW), 0
    for size in sizes:
        assert store.append(rows(*range(total, total + size))) == total
        total += size
    wanted = [random.randrange(total) for _ in range(50)] if total else []  # type: ignore[attr-defined]
    assert store.take(array(*wanted)).field("v").to_pylist() == wanted
    assert len(store._chunks) <= max(1, total).bit_length() + 1


def test_a_store_does_not_merge_beyond_what_arrow_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firesteel.lookup._worker.store.MAX_MERGED_BYTES", 100)
    store = RowStore(ROW)
    for value in range(40):
        store.append(rows(value))
    assert len(store._chunks) > 2
    assert store.take(array(39, 0, 20)).field("v").to_pylist() == [39, 0, 20]
