"""Refuses another PySpark before an import fails that only the supported one has."""

from __future__ import annotations

from pyspark.version import __version__ as _installed

from firesteel import _errors

SUPPORTED_SPARK = "4.3"
"""The Spark that the jar is built for; the pin in pyproject.toml and the jar have the same."""


def is_supported(actual: str, supported: str) -> bool:
    """Whether a version is of the minor version that is supported."""
    return actual == supported or actual.startswith(f"{supported}.")


if not is_supported(_installed, SUPPORTED_SPARK):
    raise _errors.unsupported_pyspark(_installed, SUPPORTED_SPARK)
