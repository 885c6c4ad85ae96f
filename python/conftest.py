"""The session that docstring examples and unit tests share."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from firesteel import configure
from firesteel._supported_spark import INSTALLED_SPARK

# Their examples have connectors in Python.
NEED_ARROW_FUNCTIONS = (".register_lookup", ".check_connector")


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
        if INSTALLED_SPARK == "4.0" and request.node.name.endswith(NEED_ARROW_FUNCTIONS):
            pytest.skip("PySpark 4.0 has no Arrow functions for connectors in Python")
        names: dict[str, Any] = request.getfixturevalue("doctest_namespace")
        names["spark"] = request.getfixturevalue("spark")
