"""The session that docstring examples and unit tests share."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from firesteel import configure


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """Start a small local session with the extension; it ends with the process."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", False)
        .config("spark.ui.showConsoleProgress", False)
        .config("spark.sql.shuffle.partitions", 4)
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    )
    return configure(builder).getOrCreate()


@pytest.fixture(autouse=True)
def _examples_see_a_session(request: pytest.FixtureRequest) -> None:
    """Give docstring examples the name ``spark``; other tests ask for it themselves."""
    if isinstance(request.node, pytest.DoctestItem):
        names: dict[str, Any] = request.getfixturevalue("doctest_namespace")
        names["spark"] = request.getfixturevalue("spark")
