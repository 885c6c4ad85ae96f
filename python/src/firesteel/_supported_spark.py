"""Refuses another PySpark before an import fails that only the supported ones have."""

from __future__ import annotations

from pyspark.version import __version__ as _installed

from firesteel import _errors

SUPPORTED_SPARK = ("4.0", "4.1", "4.2", "4.3")
"""The minor versions of Spark that have a jar here; pyproject.toml pins the same."""


def minor(version: str) -> str:
    """Return the minor version, such as 4.1, of a version such as 4.1.4 or 4.1-SNAPSHOT."""
    return ".".join(version.split("-")[0].split(".")[:2])


def is_supported(version: str) -> bool:
    """Whether this package has a jar for a version of Spark."""
    return minor(version) in SUPPORTED_SPARK


if not is_supported(_installed):
    raise _errors.unsupported_pyspark(_installed, SUPPORTED_SPARK)

INSTALLED_SPARK = minor(_installed)
"""The minor version of the PySpark that is installed here."""
