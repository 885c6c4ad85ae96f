"""The request of one lookup join: JSON that the engine sends with the keys.

`tests/contracts/python_lookup.json` has every field. The engine's side is `WorkerRequest.scala`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from firesteel.lookup._interfaces import LookupContext


@dataclass(frozen=True)
class LookupRequest:
    """One lookup join, as planned.

    Attributes:
        context: The part that a connector receives.
        private: Whether each task has a cache of its own.
        cached: Whether answers are cached.
        max_rows: The most keys in a cache.
        expire_after_write_ms: How long an answer stays in the cache, in milliseconds.
        expire_after_access_ms: How long an unused answer stays in the cache, in milliseconds.
        cache_missing_key: Whether the cache keeps that a key has no rows.
        batch_size: The most keys in one call of ``lookup``.
        timeout_ms: The longest time for a batch of keys, retries included, in milliseconds; 0 for
            no limit.
        in_flight: The most batches under way at the same time.
        max_attempts: How many times a key without rows is looked up in all.
        delay_ms: The time between two attempts, in milliseconds.
    """

    context: LookupContext
    private: bool
    cached: bool
    max_rows: int | None
    expire_after_write_ms: int | None
    expire_after_access_ms: int | None
    cache_missing_key: bool
    batch_size: int
    timeout_ms: int
    in_flight: int
    max_attempts: int
    delay_ms: int


def request_of(text: str) -> LookupRequest:
    """Read a request.

    Args:
        text: JSON; a missing field has Flink's default.
    """
    sent: dict[str, Any] = json.loads(text)
    return LookupRequest(
        context=LookupContext(
            keys=tuple(sent["keys"]),
            columns=tuple(sent["columns"]),
            filters=tuple(sent.get("filters", ())),
            custom_shuffle=bool(sent.get("custom_shuffle")),
            num_partitions=int(sent.get("num_partitions") or 0),
        ),
        private=sent.get("cache_scope") == "task",
        cached=str(sent.get("cache", "NONE")).upper() == "PARTIAL",
        max_rows=sent.get("max_rows"),
        expire_after_write_ms=sent.get("expire_after_write_ms"),
        expire_after_access_ms=sent.get("expire_after_access_ms"),
        cache_missing_key=sent.get("cache_missing_key", True) is not False,
        batch_size=max(1, int(sent.get("batch_size") or 1000)),
        timeout_ms=int(sent.get("timeout_ms") or 0),
        in_flight=max(1, int(sent.get("capacity") or 1)) if sent.get("async") else 1,
        max_attempts=max(1, int(sent.get("max_attempts") or 0)),
        delay_ms=int(sent.get("fixed_delay_ms") or 0),
    )
