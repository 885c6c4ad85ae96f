"""Lookup joins: rows enriched by keyed reads of an outside store.

`register_lookup` makes a table of a connector written in Python. `lookup_join` joins rows with that
table, or with any other table, by key.
"""

from __future__ import annotations

from firesteel.lookup._interfaces import (
    InputDataBatchPartitioner,
    InputDataPartitioner,
    LookupContext,
    SupportsLookup,
    SupportsLookupCustomShuffle,
    TaskInfo,
)
from firesteel.lookup._join import lookup_join
from firesteel.lookup._register import register_lookup, unregister_lookup

__all__ = [
    "InputDataBatchPartitioner",
    "InputDataPartitioner",
    "LookupContext",
    "SupportsLookup",
    "SupportsLookupCustomShuffle",
    "TaskInfo",
    "lookup_join",
    "register_lookup",
    "unregister_lookup",
]
