"""The example connectors, asked by the worker as Spark would; no JVM is started."""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row

from firesteel import SupportsLookup
from firesteel.lookup import _shipping
from firesteel.lookup._worker.process import LookupProcess
from firesteel.lookup._worker.task import ConnectorSpec

EXAMPLES = Path(__file__).parents[2] / "examples" / "lookup"


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def look_up(
    connector: object, schema: pa.Schema, ids: list[int], shard: int | None = None, **said: object
) -> list[list[dict[str, Any]]]:
    spec = ConnectorSpec("customers", "r", _shipping.pickled("customers", connector), schema, False)
    request = {"keys": ["id"], "columns": schema.names, "batch_size": 100, **said}
    rows = len(ids)
    batch = pa.array([json.dumps(request)] * rows), pa.array([shard] * rows, pa.int32())
    (answer,) = LookupProcess().lookup(spec, iter([(*batch, pa.array(ids, pa.int64()))]))
    return answer.field("rows").to_pylist()  # type: ignore[no-any-return]


SQLITE = pa.schema([("id", pa.int64()), ("name", pa.string()), ("country", pa.string())])


def test_sqlite_answers_from_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = example("sqlite_connector", monkeypatch)
    module.write_customers(str(tmp_path), 3)
    connector = module.SqliteCustomers(str(tmp_path), 3)
    assert isinstance(connector, SupportsLookup)
    found = look_up(connector, SQLITE, [*range(990, 1010)])
    assert found[0] == [{"id": 990, "name": "customer 990", "country": "ch"}]
    assert [len(rows) for rows in found] == [1] * 10 + [0] * 10


def test_sqlite_opens_only_the_files_of_its_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = example("sqlite_connector", monkeypatch)
    module.write_customers(str(tmp_path), 4)
    connector = module.SqliteCustomers(str(tmp_path), 4)
    mine = [n for n in range(40) if connector.partition(Row(id=n), 2) == 1]
    for file in (0, 2):
        (tmp_path / f"customers-{file}.db").unlink()  # it would fail if it opened these
    found = look_up(connector, SQLITE, mine, shard=1, custom_shuffle=True, num_partitions=2)
    assert [rows[0]["id"] for rows in found] == mine


@pytest.mark.parametrize("at_once", [True, False])
def test_http_asks_in_batches(monkeypatch: pytest.MonkeyPatch, at_once: bool) -> None:
    module = example("http_connector", monkeypatch)
    server = module.start_server()
    try:
        connector = module.HttpCustomers("127.0.0.1", server.server_port)
        schema = pa.schema([("id", pa.int64()), ("country", pa.string())])
        found = look_up(connector, schema, [*range(500)], capacity=4, **{"async": at_once})
        assert [len(rows) for rows in found] == [1, 0] * 250
        assert [rows[0]["country"] for rows in found[::2]] == ["ch", "is"] * 125
    finally:
        server.shutdown()
        server.server_close()
