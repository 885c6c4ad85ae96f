"""What the JVM says about one lookup join, in the JSON that comes with the keys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from firesteel.lookup._interfaces import LookupContext


@dataclass(frozen=True)
class LookupRequest:
    """One lookup join, as planned.

    Attributes:
        context: The part that a connector is told.
        private: Whether each task has a cache of its own after all.
        cached: Whether answers are kept.
        max_rows: Most keys in a cache.
        expire_after_write_ms: Longest life of an answer.
        expire_after_access_ms: Longest life of an answer that is not used.
        cache_missing_key: Whether it is kept, too, that a key has no rows.
        batch_size: Most keys in one question.
        timeout_ms: Longest time for a question, retries included; 0 for ever.
        in_flight: Questions asked at once.
        max_attempts: Tries in all for a key without rows.
        delay_ms: Time between two tries.
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
    """Read the JVM's JSON; names that it does not send have Flink's defaults."""
    said: dict[str, Any] = json.loads(text)
    return LookupRequest(
        context=LookupContext(
            keys=tuple(said["keys"]),
            columns=tuple(said["columns"]),
            filters=tuple(said.get("filters", ())),
            custom_shuffle=bool(said.get("custom_shuffle")),
            num_partitions=int(said.get("num_partitions") or 0),
        ),
        private=said.get("cache_scope") == "task",
        cached=str(said.get("cache", "NONE")).upper() == "PARTIAL",
        max_rows=said.get("max_rows"),
        expire_after_write_ms=said.get("expire_after_write_ms"),
        expire_after_access_ms=said.get("expire_after_access_ms"),
        cache_missing_key=said.get("cache_missing_key", True) is not False,
        batch_size=max(1, int(said.get("batch_size") or 1000)),
        timeout_ms=int(said.get("timeout_ms") or 0),
        in_flight=max(1, int(said.get("capacity") or 1)) if said.get("async") else 1,
        max_attempts=max(1, int(said.get("max_attempts") or 0)),
        delay_ms=int(said.get("fixed_delay_ms") or 0),
    )
