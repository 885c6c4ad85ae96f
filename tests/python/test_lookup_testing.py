"""The test kit passes right connectors, and names the fault of each wrong one."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from pyspark import TaskContext, cloudpickle
from pyspark.sql import Row, SparkSession

from firesteel import InvalidConnectorError, LookupContext, TaskInfo
from firesteel._supported_spark import INSTALLED_SPARK
from firesteel.lookup.testing import check_connector

pytestmark = pytest.mark.skipif(
    INSTALLED_SPARK == "4.0", reason="PySpark 4.0 has no Arrow functions for connectors in Python"
)

# Workers do not have this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

ROWS: list[dict[str, Any]] = [
    {"id": 1, "kind": "a", "name": "bread"},
    {"id": 1, "kind": "b", "name": None},
    {"id": 1, "kind": "b", "name": "salt"},
    {"id": 2, "kind": "a", "name": "salt"},
]
TYPES = pa.schema([("id", pa.int64()), ("kind", pa.string()), ("name", pa.string())])


class Shops:
    """What shops sell, by number of the shop and kind; a right connector."""

    schema = "id BIGINT NOT NULL, kind STRING, name STRING"
    keys: Sequence[str] = ("id", "kind")

    def __init__(self) -> None:
        self.context: LookupContext | None = None
        self.task: TaskInfo | None = None

    def open(self, task: TaskInfo, context: LookupContext) -> None:
        self.task, self.context = task, context

    def found(self, keys: pa.Table) -> list[dict[str, Any]]:
        asked = [tuple(key.values()) for key in keys.to_pylist()]
        return [row for row in ROWS if tuple(row[name] for name in keys.column_names) in asked]

    def lookup(self, keys: pa.Table) -> pa.Table:
        return pa.Table.from_pylist(self.found(keys), TYPES)

    def partition(self, join_keys: Row, num_partitions: int) -> int:
        return int(join_keys.id % num_partitions)


class UsesFilters(Shops):
    def found(self, keys: pa.Table) -> list[dict[str, Any]]:
        assert self.context
        rows = super().found(keys)
        named = any("name" in condition for condition in self.context.filters)
        return [r for r in rows if r["name"]] if named else rows


class InBatches(Shops):
    def partition_batch(self, join_keys: pa.Table, num_partitions: int) -> list[int]:
        return [key % num_partitions for key in join_keys["id"].to_pylist()]


class OtherKeys(Shops):
    may_answer_other_keys = True

    def found(self, keys: pa.Table) -> list[dict[str, Any]]:
        return ROWS


class OnlyLookup:
    schema = "id BIGINT, kind STRING, name STRING"
    keys = ("id",)

    def lookup(self, keys: pa.Table) -> pa.Table:
        return pa.Table.from_pylist([r for r in ROWS if r["id"] in keys["id"].to_pylist()], TYPES)


@pytest.mark.parametrize("kind", [Shops, UsesFilters, InBatches, OtherKeys, OnlyLookup])
def test_a_right_connector_passes(session: SparkSession, kind: type[Any]) -> None:
    check_connector(session, kind(), ROWS, threads=2 if kind is Shops else 1)
    assert not session.catalog.listTables("default", "checked_*")


class MissesAKey(Shops):
    def found(self, keys: pa.Table) -> list[dict[str, Any]]:
        return [row for row in super().found(keys) if row["id"] != 2]


class OneRowAKey(Shops):
    def found(self, keys: pa.Table) -> list[dict[str, Any]]:
        return list({(row["id"], row["kind"]): row for row in super().found(keys)}.values())


class RepeatsRows(Shops):
    def found(self, keys: pa.Table) -> list[dict[str, Any]]:
        return super().found(keys) * 2


class InventsRows(Shops):
    def found(self, keys: pa.Table) -> list[dict[str, Any]]:
        rows = super().found(keys)
        missing = [key for key in keys.to_pylist() if key == {"id": 100, "kind": "missing 0"}]
        return [*rows, *({**key, "name": "new"} for key in missing)]


class AnswersAll(Shops):
    def found(self, keys: pa.Table) -> list[dict[str, Any]]:
        return ROWS


class NeedsAllKeys(Shops):
    def found(self, keys: pa.Table) -> list[dict[str, Any]]:
        asked = list(zip(keys["id"].to_pylist(), keys["kind"].to_pylist(), strict=True))
        return [row for row in ROWS if (row["id"], row["kind"]) in asked]


class OneAtATime(Shops):
    def lookup(self, keys: pa.Table) -> pa.Table:
        if len(keys) > 1:
            raise ValueError("one at a time")
        return super().lookup(keys)


class ForgetsColumns(Shops):
    def lookup(self, keys: pa.Table) -> pa.Table:
        return super().lookup(keys).drop_columns(["name"])


class TextForNumbers(Shops):
    def lookup(self, keys: pa.Table) -> pa.Table:
        answer = super().lookup(keys)
        return answer.set_column(0, "id", answer["id"].cast("string"))


class AnswersRows(Shops):
    def lookup(self, keys: pa.Table) -> pa.Table:
        return self.found(keys)  # the fault


class FiltersTooMuch(Shops):
    def found(self, keys: pa.Table) -> list[dict[str, Any]]:
        assert self.context
        negated = any(text.startswith("NOT") for text in self.context.filters)
        return [] if negated else super().found(keys)


class NotPickled(Shops):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Shared(Shops):
    def open(self, task: TaskInfo, context: LookupContext) -> None:
        super().open(task, context)
        os.environ["SHOPS_ARE_OPEN"] = "yes"

    def lookup(self, keys: pa.Table) -> pa.Table:
        if "SHOPS_ARE_OPEN" not in os.environ:
            raise ValueError("closed")
        return super().lookup(keys)

    def close(self) -> None:
        os.environ.pop("SHOPS_ARE_OPEN", None)


class CloseRaises(Shops):
    def close(self) -> None:
        raise ValueError("not open")


class LeavesAThread(Shops):
    def open(self, task: TaskInfo, context: LookupContext) -> None:
        super().open(task, context)
        threading.Thread(target=time.sleep, args=(5,), name="of shops", daemon=False).start()


class NotForThreads(Shops):
    def open(self, task: TaskInfo, context: LookupContext) -> None:
        super().open(task, context)
        self.thread = threading.get_ident()

    def lookup(self, keys: pa.Table) -> pa.Table:
        time.sleep(0.05)
        if threading.get_ident() != self.thread:
            raise ValueError("another thread")
        return super().lookup(keys)


class OutOfRange(Shops):
    def partition(self, join_keys: Row, num_partitions: int) -> int:
        return num_partitions


class Negative(InBatches):
    def partition_batch(self, join_keys: pa.Table, num_partitions: int) -> list[int]:
        return [-1] * len(join_keys)


class TooFew(InBatches):
    def partition_batch(self, join_keys: pa.Table, num_partitions: int) -> list[int]:
        return [0]


class ByPlace(InBatches):
    def partition_batch(self, join_keys: pa.Table, num_partitions: int) -> list[int]:
        return [place % num_partitions for place in range(len(join_keys))]


class ByHash(Shops):
    def partition(self, join_keys: Row, num_partitions: int) -> int:
        return hash(f"{join_keys.kind} {join_keys.id} {'x' * 10}") % num_partitions


class WrongShard(Shops):
    def found(self, keys: pa.Table) -> list[dict[str, Any]]:
        assert self.task
        assert self.context
        rows = super().found(keys)
        return [r for r in rows if self.task.index != 1] if self.context.custom_shuffle else rows


WRONG = [
    (MissesAKey, "the row {'id': 2, 'kind': 'a', 'name': 'salt'} of the key id = 2, kind = 'a' is"),
    (OneRowAKey, "'name': None} of the key id = 1, kind = 'b' is not in the answer"),
    (RepeatsRows, "more often than in the store"),
    (InventsRows, "for the key id = 100, kind = 'missing 0' has the row"),
    (AnswersAll, "a key that it was not asked"),
    (NeedsAllKeys, "lookup by id in calls of at most 1000 keys: "),
    (OneAtATime, "lookup by id, kind in calls of at most 1000 keys: "),
    (ForgetsColumns, "a table with no column 'name'"),
    (TextForNumbers, "returned column 'id' as string"),
    (AnswersRows, "lookup(keys) must return a pyarrow.Table"),
    (FiltersTooMuch, "with the filter NOT name = 'bread'"),
    (Shared, "lookup by a copy that stays open while another one is closed"),
    (CloseRaises, "failed in close"),
    (LeavesAThread, "close() leaves the thread 'of shops' running"),
    (NotForThreads, "from 2 threads: "),
    (OutOfRange, "gave the key id = 1, kind = 'a' the partition 1: it must be from 0 to 0"),
    (Negative, "the partition -1: it must be from 0 to 0"),
    (TooFew, "partition_batch returned 1 numbers"),
    (ByPlace, "in another call"),
    (ByHash, "in another process"),
    (WrongShard, "lookup under custom shuffle in the partition 1 of"),
]


@pytest.mark.parametrize(("kind", "fault"), WRONG, ids=[kind.__name__ for kind, _ in WRONG])
def test_a_wrong_connector_is_found(session: SparkSession, kind: type[Any], fault: str) -> None:
    threads = 2 if kind is NotForThreads else 1
    with pytest.raises(AssertionError) as raised:
        check_connector(session, kind(), ROWS, threads=threads)
    assert fault in str(raised.value)


def test_a_connector_that_cannot_be_registered_is_found(session: SparkSession) -> None:
    with pytest.raises(InvalidConnectorError, match="cannot be pickled"):
        check_connector(session, NotPickled(), ROWS)


def test_a_fault_that_only_workers_show_is_found(session: SparkSession) -> None:
    class OnlyHere(Shops):
        def found(self, keys: pa.Table) -> list[dict[str, Any]]:
            return super().found(keys) if TaskContext.get() is None else []

    with pytest.raises(AssertionError, match=r"lookup_join\(how='left'\): the row"):
        check_connector(session, OnlyHere(), ROWS)


def test_rows_and_missing_keys_are_checked(session: SparkSession) -> None:
    with pytest.raises(ValueError, match="rows is empty"):
        check_connector(session, Shops(), [])
    with pytest.raises(ValueError, match="no column is named colour"):
        check_connector(session, Shops(), [{"colour": 1}])
    with pytest.raises(ValueError, match="must have the columns id, kind"):
        check_connector(session, Shops(), ROWS, missing=[{"id": 5}])
