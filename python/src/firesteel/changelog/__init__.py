"""Changelogs: streaming queries whose results change, and tables that a changelog describes."""

from __future__ import annotations

from firesteel.changelog._repartition import Repartitioned, repartition_state
from firesteel.changelog._row_kind import row_kind
from firesteel.changelog._sources import from_changelog, from_debezium
from firesteel.changelog._upserts import from_upsert, to_upsert

__all__ = [
    "Repartitioned",
    "from_changelog",
    "from_debezium",
    "from_upsert",
    "repartition_state",
    "row_kind",
    "to_upsert",
]
