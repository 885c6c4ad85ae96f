"""Sinks: tables that follow a streaming query's result, each micro-batch applied exactly once."""

from __future__ import annotations

from firesteel.sinks._apply_changes import ApplyChanges, apply_changes

__all__ = ["ApplyChanges", "apply_changes"]
