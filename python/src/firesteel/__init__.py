"""What Flink's SQL planner does, for stock Apache Spark: a Catalyst extension and its jar."""

from __future__ import annotations

from firesteel._version import __version__
from firesteel.errors import (
    ExtensionNotLoadedError,
    FiresteelError,
    UnsupportedOnConnectError,
    UnsupportedSparkError,
    VersionMismatchError,
)
from firesteel.explain import Declined, Explanation, Fired, explain
from firesteel.session import CheckResult, check, configure

__all__ = [
    "CheckResult",
    "Declined",
    "Explanation",
    "ExtensionNotLoadedError",
    "Fired",
    "FiresteelError",
    "UnsupportedOnConnectError",
    "UnsupportedSparkError",
    "VersionMismatchError",
    "__version__",
    "check",
    "configure",
    "explain",
]
