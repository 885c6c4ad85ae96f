"""The worker's side of tests/contracts/python_lookup.json; PythonContractSuite is the engine's."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import StructType

from firesteel._supported_spark import INSTALLED_SPARK
from firesteel.lookup import LookupContext, register_lookup
from firesteel.lookup._shipping import lookup_function, pickled
from firesteel.lookup._worker.process import Results
from firesteel.lookup._worker.request import LookupRequest, request_of
from firesteel.lookup._worker.task import BatchStats, ConnectorSpec

pytestmark = pytest.mark.skipif(
    INSTALLED_SPARK == "4.0", reason="PySpark 4.0 has no Arrow functions for connectors in Python"
)

CONTRACT: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "tests/contracts/python_lookup.json").read_text()
)
SCHEMA = StructType.fromJson(CONTRACT["registration"]["schema"])


class Customers:
    schema = SCHEMA
    keys = ("id", "type")
    partition_keys = ("id",)

    def lookup(self, keys: object) -> object:
        return keys

    def partition(self, join_keys: object, num_partitions: int) -> int:
        return 0


def test_a_registration_has_every_field_and_no_other() -> None:
    statements: list[str] = []

    class Session:
        udf: Any
        catalog: Any

        def sql(self, text: str) -> None:
            statements.append(text)

    session: Any = Session()
    session.udf = type("Udf", (), {"register": lambda *_: None})()
    session.catalog = type("Catalog", (), {"functionExists": lambda *_: True})()
    connector: Any = Customers()
    register_lookup(session, "customers", connector, cache="PARTIAL", max_rows=1000)
    ((_, text, _),) = [statement.split("'") for statement in statements]
    written = json.loads(text)
    expected = dict(CONTRACT["registration"])
    for function in ("udf", "partition_udf"):  # names end in a number of their own
        assert written.pop(function).startswith(expected.pop(function).removesuffix("1"))
    assert written == expected


def test_every_field_of_a_request_is_read_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    read: set[str] = set()

    class Recorded(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - JSON
            read.add(name)
            return super().__getitem__(name)

        def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - JSON
            read.add(name)
            return super().get(name, default)

    monkeypatch.setattr(json, "loads", lambda _: Recorded(CONTRACT["request"]))
    found = request_of("")
    monkeypatch.undo()
    assert found == LookupRequest(
        context=LookupContext(
            keys=("id", "type"),
            columns=("id", "type", "country"),
            filters=("(country = 'ch')",),
            custom_shuffle=True,
            num_partitions=4,
        ),
        private=True,
        cached=True,
        max_rows=1000,
        expire_after_write_ms=60_000,
        expire_after_access_ms=None,
        cache_missing_key=False,
        batch_size=500,
        timeout_ms=30_000,
        in_flight=8,
        max_attempts=3,
        delay_ms=10,
    )
    assert read == set(CONTRACT["request"])


def test_an_answer_has_the_fields_and_counts_in_the_engines_order() -> None:
    assert [field.name for field in fields(BatchStats)] == CONTRACT["stats"]
    assert list(Results.names) == CONTRACT["answer"]
    schema = pa.schema({"id": pa.int64(), "type": pa.string(), "country": pa.string()})
    spec = ConnectorSpec("customers", "r", pickled("customers", Customers()), schema, False)
    function: Any = lookup_function(spec, SCHEMA)
    assert function.returnType.names == CONTRACT["answer"]
    assert function.returnType["stats"].dataType.names == CONTRACT["stats"]
