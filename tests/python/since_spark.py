"""Which Spark is installed, for tests of what came with a version."""

from __future__ import annotations

import pytest

from firesteel._supported_spark import INSTALLED_SPARK


def is_since(minor: str) -> bool:
    """Whether the installed Spark is of a minor version, such as 4.2, or of a later one."""
    return _numbers(INSTALLED_SPARK) >= _numbers(minor)


def _numbers(minor: str) -> list[int]:
    return [int(number) for number in minor.split(".")]


needs_arrow_functions = pytest.mark.skipif(
    not is_since("4.1"), reason="PySpark 4.0 has no Arrow functions for connectors in Python"
)
