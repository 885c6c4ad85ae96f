"""Refuses another PySpark, before anything is imported from it that it may not have."""

from __future__ import annotations

from pyspark.version import __version__ as _installed

from firesteel import _errors

SUPPORTED_SPARK = "4.3"
"""What this package's jar was built for; the pin in pyproject.toml and the jar say the same."""


def is_supported(actual: str, supported: str) -> bool:
    """Whether a version is of the minor version that is supported."""
    return actual == supported or actual.startswith(f"{supported}.")


if not is_supported(_installed, SUPPORTED_SPARK):
    raise _errors.unsupported_pyspark(_installed, SUPPORTED_SPARK)
