"""Sinks: tables that follow a streaming query's result, each micro-batch applied exactly once."""

from __future__ import annotations

from firesteel.sinks._apply_changes import ApplyChanges, apply_changes
from firesteel.sinks._live_table import LiveTable, live_table

__all__ = ["ApplyChanges", "LiveTable", "apply_changes", "live_table"]
