"""Streaming SQL, lookup joins and faster batch queries for stock Apache Spark.

Start with `configure`, which adds the extension to a session.
"""

from __future__ import annotations

import firesteel._supported_spark  # noqa: F401 - first, since it refuses another PySpark
from firesteel._version import __version__
from firesteel.changelog import (
    Repartitioned,
    from_changelog,
    from_debezium,
    from_upsert,
    repartition_state,
    row_kind,
    to_upsert,
)
from firesteel.errors import (
    ExtensionNotLoadedError,
    FiresteelError,
    InvalidConnectorError,
    UnsupportedOnConnectError,
    UnsupportedSparkError,
    VersionMismatchError,
)
from firesteel.explain import Declined, Explanation, Fired, explain
from firesteel.lookup import (
    InputDataBatchPartitioner,
    InputDataPartitioner,
    LookupContext,
    SupportsLookup,
    SupportsLookupCustomShuffle,
    TaskInfo,
    lookup_join,
    register_lookup,
    unregister_lookup,
)
from firesteel.metrics import LookupJoinMetrics, LookupMetrics, lookup_metrics
from firesteel.session import CheckResult, check, configure
from firesteel.sinks import ApplyChanges, LiveTable, apply_changes, live_table
from firesteel.statements import ExplainedStatement, SetExplanation, StatementSet, statement_set
from firesteel.watch import QueryWatch, watch

__all__ = [
    "ApplyChanges",
    "CheckResult",
    "Declined",
    "ExplainedStatement",
    "Explanation",
    "ExtensionNotLoadedError",
    "Fired",
    "FiresteelError",
    "InputDataBatchPartitioner",
    "InputDataPartitioner",
    "InvalidConnectorError",
    "LiveTable",
    "LookupContext",
    "LookupJoinMetrics",
    "LookupMetrics",
    "QueryWatch",
    "Repartitioned",
    "SetExplanation",
    "StatementSet",
    "SupportsLookup",
    "SupportsLookupCustomShuffle",
    "TaskInfo",
    "UnsupportedOnConnectError",
    "UnsupportedSparkError",
    "VersionMismatchError",
    "__version__",
    "apply_changes",
    "check",
    "configure",
    "explain",
    "from_changelog",
    "from_debezium",
    "from_upsert",
    "live_table",
    "lookup_join",
    "lookup_metrics",
    "register_lookup",
    "repartition_state",
    "row_kind",
    "statement_set",
    "to_upsert",
    "unregister_lookup",
    "watch",
]
