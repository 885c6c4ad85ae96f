"""Statement sets: several statements as one streaming query, which computes what they share once."""

from __future__ import annotations

from firesteel.statements._statement_set import StatementSet, statement_set

__all__ = ["StatementSet", "statement_set"]
