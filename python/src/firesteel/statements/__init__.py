"""Statement sets: several statements as one streaming query, and shared parts computed once."""

from __future__ import annotations

from firesteel.statements._explained import ExplainedStatement, SetExplanation
from firesteel.statements._statement_set import StatementSet, statement_set

__all__ = ["ExplainedStatement", "SetExplanation", "StatementSet", "statement_set"]
