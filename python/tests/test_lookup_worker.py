"""What runs in Spark's Python workers, called on Arrow arrays; no JVM is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql.types import LongType, StringType, StructField, StructType

from firesteel import LookupContext, TaskInfo
from firesteel._supported_spark import INSTALLED_SPARK
from firesteel.lookup import _shipping
from firesteel.lookup._worker import answers as worker_answers
from firesteel.lookup._worker import process as worker_process
from firesteel.lookup._worker.failures import LookupFailedError
from firesteel.lookup._worker.partitions import PartitionerSpec
from firesteel.lookup._worker.process import LookupProcess
from firesteel.lookup._worker.task import ConnectorSpec

needs_arrow_functions = pytest.mark.skipif(
    INSTALLED_SPARK == "4.0", reason="PySpark 4.0 has no Arrow functions for connectors in Python"
)

SCHEMA = pa.schema([pa.field("id", pa.int64()), pa.field("name", pa.string())])

LOG: list[Any] = []


def record(entry: object) -> None:
    """Write into the `LOG` of this process; a connector made in a test has a copy of it."""
    LOG.append(entry)


class Names:
    """Knows n names for the key n, if n is under 100; asked calls are in `LOG`."""

    def __init__(self, **flags: object) -> None:
        self.flags = flags

    def open(self, task: TaskInfo, context: LookupContext) -> None:
        record(("open", task, context))

    def close(self) -> None:
        record(("close",))

    def lookup(self, keys: pa.Table) -> pa.Table:
        asked = keys["id"].to_pylist()
        record(("lookup", asked))
        rows = [{"id": n, "name": f"{n}.{i}"} for n in asked if n < 100 for i in range(n)]
        return pa.Table.from_pylist(rows[::-1], SCHEMA)


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    LOG.clear()


def calls() -> list[list[Any]]:
    return [entry[1] for entry in LOG if entry[0] == "lookup"]


def spec_of(
    connector: object, schema: pa.Schema = SCHEMA, drop_others: bool = False
) -> ConnectorSpec:
    pickled = _shipping.pickled("names", connector)
    return ConnectorSpec("names", uuid4().hex, pickled, schema, drop_others)


def request(**said: object) -> str:
    plain = {
        "name": "names", "keys": ["id"], "columns": ["id", "name"], "filters": [],
        "custom_shuffle": False, "num_partitions": 0, "cache": "NONE",
        "max_rows": None, "expire_after_write_ms": None, "expire_after_access_ms": None,
        "cache_missing_key": True, "batch_size": 1000, "timeout_ms": 10_000, "async": False,
        "capacity": 4, "output_mode": "ordered", "max_attempts": 0, "fixed_delay_ms": 0,
    }  # fmt: skip
    return json.dumps(plain | said)


def batch(
    text: str | None, *keys: pa.Array, shards: list[int] | None = None
) -> tuple[pa.Array, ...]:
    rows = len(keys[0])
    shard = pa.nulls(rows, pa.int32()) if shards is None else pa.array(shards, pa.int32())
    return (pa.array([text] * rows, pa.string()), shard, *keys)


def ids(*values: int | None) -> pa.Array:
    return pa.array(values, pa.int64())


def look_up(
    connector: object, *batches: tuple[pa.Array, ...], process: LookupProcess | None = None
) -> list[list[dict[str, Any]]]:
    """Answer batches in one task; return the rows of each row of all batches."""
    spec = connector if isinstance(connector, ConnectorSpec) else spec_of(connector)
    answers = (process or LookupProcess()).lookup(spec, iter(batches))
    return [row for answer in answers for row in answer.field("rows").to_pylist()]


def stats_of(
    spec: ConnectorSpec, process: LookupProcess, *batches: tuple[pa.Array, ...]
) -> list[list[dict[str, int]]]:
    return [answer.field("stats").to_pylist() for answer in process.lookup(spec, iter(batches))]


def names(rows: Sequence[Sequence[dict[str, Any]]]) -> list[list[str]]:
    return [sorted(row["name"] for row in some) for some in rows]


def test_gives_each_row_all_matches_of_its_key() -> None:
    found = look_up(Names(), batch(request(), ids(2, 0, 1, 2, 777)))
    assert names(found) == [["2.0", "2.1"], [], ["1.0"], ["2.0", "2.1"], []]


def test_asks_distinct_keys_once_and_never_null() -> None:
    found = look_up(Names(), batch(request(), ids(1, None, 2, 1, None)))
    assert [len(rows) for rows in found] == [1, 0, 2, 1, 0]
    assert calls() == [[1, 2]]


def test_asks_nothing_when_all_keys_are_null() -> None:
    assert look_up(Names(), batch(request(), ids(None, None))) == [[], []]
    assert LOG == []


def test_answers_a_batch_without_rows() -> None:
    assert look_up(Names(), batch(request(), ids())) == []


def test_asks_in_batches_of_the_given_size() -> None:
    look_up(Names(), batch(request(batch_size=2), ids(1, 2, 3, 4, 5)))
    assert calls() == [[1, 2], [3, 4], [5]]


def test_a_null_request_is_the_one_before() -> None:
    first = batch(request(), ids(1))
    again = (pa.array([None, None], pa.string()), pa.array([None, None], pa.int32()), ids(2, 3))
    assert [len(rows) for rows in look_up(Names(), first, again)] == [1, 2, 3]


def test_opens_once_per_task_and_closes_at_its_end() -> None:
    look_up(Names(), batch(request(), ids(1)), batch(request(), ids(2)))
    assert [entry[0] for entry in LOG] == ["open", "lookup", "lookup", "close"]
    _, task, context = LOG[0]
    assert (task.index, task.count, task.attempt) == (0, 0, 0)
    assert context == LookupContext(("id",), ("id", "name"), (), False, 0)


def test_closes_when_a_lookup_fails() -> None:
    class Failing(Names):
        def lookup(self, keys: pa.Table) -> pa.Table:
            raise ValueError("no such store")

    with pytest.raises(LookupFailedError, match=r"'names' failed in lookup for id = 5: ValueErr"):
        look_up(Failing(), batch(request(), ids(5)))
    assert [entry[0] for entry in LOG] == ["open", "close"]


def test_closes_when_spark_stops_reading() -> None:
    answers = LookupProcess().lookup(spec_of(Names()), iter([batch(request(), ids(1))] * 3))
    next(answers)
    answers.close()
    assert LOG[-1] == ("close",)


def test_open_may_take_the_task_alone() -> None:
    class OpenedByTask(Names):
        def open(self, task: TaskInfo) -> None:  # type: ignore[override]
            record(("open", task))

    look_up(OpenedByTask(), batch(request(), ids(1)))
    assert LOG[0][0] == "open"


def test_open_and_close_are_optional() -> None:
    class Bare:
        def lookup(self, keys: pa.Table) -> pa.Table:
            return keys.append_column("name", pa.array(["x"] * len(keys)))

    assert names(look_up(Bare(), batch(request(), ids(3)))) == [["x"]]


class TestLargeAnswers:
    """Answers that do not fit into one batch."""

    @staticmethod
    def sizes(*batches: tuple[pa.Array, ...]) -> list[list[int]]:
        """Of each array, how many matches each row has."""
        found = LookupProcess().lookup(spec_of(Names()), iter(batches))
        return [[len(row) for row in answer.field("rows").to_pylist()] for answer in found]

    @pytest.mark.parametrize("cache", ["NONE", "PARTIAL"])
    def test_are_cut_between_rows(self, cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(worker_answers, "ROWS_AT_ONCE", 10)
        text = request(cache=cache, max_rows=99)
        asked = batch(text, ids(4, 6, 0, 1, 30, None, 5, 5, 1))
        cut = [[4, 6, 0], [1], [30], [0, 5, 5], [1]]
        assert self.sizes(asked, asked) == cut + cut

    def test_are_cut_by_bytes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(worker_answers, "BYTES_AT_ONCE", 200)
        arrays = self.sizes(batch(request(), ids(*[9] * 20)))
        assert len(arrays) > 1
        assert [size for sizes in arrays for size in sizes] == [9] * 20

    def test_have_their_counts_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(worker_answers, "ROWS_AT_ONCE", 3)
        stats = stats_of(spec_of(Names()), LookupProcess(), batch(request(), ids(3, 3, 2)))
        assert [[row and row["misses"] for row in some] for some in stats] == [[2], [None], [None]]

    def test_hold_once_what_many_rows_ask_for(self) -> None:
        """Two hundred rows with a hundred thousand matches each."""

        def many(keys: pa.Table) -> pa.Table:
            return pa.table({"id": [1] * 100_000, "name": ["x"] * 100_000}, SCHEMA)

        spec = spec_of(make_connector(many))
        before = pa.total_allocated_bytes()
        found = LookupProcess().lookup(spec, iter([batch(request(), ids(*[1] * 200))]))
        for _ in range(3):
            assert len(next(found)) == 1
            assert pa.total_allocated_bytes() - before < 100 << 20
        found.close()


def test_columns_that_are_not_wanted_are_null() -> None:
    text = request(columns=["name"])
    assert look_up(Names(), batch(text, ids(1))) == [[{"id": None, "name": "1.0"}]]


def test_under_custom_shuffle_the_task_is_the_shard() -> None:
    text = request(custom_shuffle=True, num_partitions=4)
    found = look_up(Names(), batch(text, ids(1, 2, 1), shards=[3, 0, 3]))
    assert [len(rows) for rows in found] == [1, 2, 1]
    opened = [(e[1].index, e[1].count, e[2].custom_shuffle) for e in LOG if e[0] == "open"]
    assert sorted(opened) == [(0, 4, True), (3, 4, True)]
    assert sorted(calls()) == [[1], [2]]


class TestCache:
    """PARTIAL caches, over the tasks of one process."""

    def test_is_used_by_later_batches_and_tasks(self) -> None:
        spec, process, text = (
            spec_of(Names()),
            LookupProcess(),
            request(cache="PARTIAL", max_rows=9),
        )
        look_up(spec, batch(text, ids(1, 2)), batch(text, ids(2, 3)), process=process)
        assert names(look_up(spec, batch(text, ids(3, 1)), process=process))[1] == ["1.0"]
        assert calls() == [[1, 2], [3]]
        assert [entry[0] for entry in LOG].count("open") == 1  # the second task asked nothing

    def test_counts_of_each_batch(self) -> None:
        spec, process = spec_of(Names()), LookupProcess()
        text = request(cache="PARTIAL", max_rows=9, batch_size=2)
        first, second = stats_of(
            spec, process, batch(text, ids(1, 1, 2, 3)), batch(text, ids(1, 1, None))
        )
        assert {k: first[0][k] for k in ("hits", "misses", "loads", "requests", "cached_rows")} == {
            "hits": 1, "misses": 3, "loads": 3, "requests": 2, "cached_rows": 3
        }  # fmt: skip
        assert first[1:] == [None, None, None]
        assert (second[0]["hits"], second[0]["misses"], second[0]["requests"]) == (2, 0, 0)

    def test_drops_the_keys_used_least_recently(self) -> None:
        spec, process, text = (
            spec_of(Names()),
            LookupProcess(),
            request(cache="PARTIAL", max_rows=2),
        )
        for key in (1, 2, 1, 3, 1, 2):
            look_up(spec, batch(text, ids(key)), process=process)
        assert calls() == [[1], [2], [3], [2]]

    def test_keeps_that_a_key_has_no_rows_or_not(self) -> None:
        for kept, asked in ((True, [[500]]), (False, [[500], [500]])):
            LOG.clear()
            text = request(cache="PARTIAL", max_rows=2, cache_missing_key=kept)
            assert look_up(Names(), *[batch(text, ids(500))] * 2) == [[], []]
            assert calls() == asked

    def test_belongs_to_query_join_shard_and_registration(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec, process = spec_of(Names()), LookupProcess()
        bounded: dict[str, Any] = {"cache": "PARTIAL", "max_rows": 9}
        for text in (request(**bounded), request(**bounded, filters=["id > 0"])):
            look_up(spec, batch(text, ids(1)), process=process)
        with monkeypatch.context() as other:
            other.setattr(worker_process, "running_query", lambda: "another run")
            look_up(spec, batch(request(**bounded), ids(1)), process=process)
        shuffled = request(**bounded, custom_shuffle=True, num_partitions=2)
        look_up(spec, batch(shuffled, ids(1, 1), shards=[0, 1]), process=process)
        look_up(spec_of(Names()), batch(request(**bounded), ids(1)), process=process)
        assert calls() == [[1]] * 6

    def test_is_not_shared_by_joins_that_retry_differently(self) -> None:
        spec, process = spec_of(TestRetry.Late()), LookupProcess()
        bounded: dict[str, Any] = {"cache": "PARTIAL", "max_rows": 9}
        assert names(look_up(spec, batch(request(**bounded), ids(2)), process=process)) == [[]]
        again = request(**bounded, max_attempts=3, fixed_delay_ms=1)
        assert names(look_up(spec, batch(again, ids(2)), process=process)) == [["2!"]]
        slower = request(**bounded, max_attempts=3, fixed_delay_ms=2)
        look_up(spec, batch(slower, ids(2)), process=process)
        assert calls() == [[2], [2], [2], [2], [2]]

    def test_is_dropped_when_nobody_has_used_it_for_long(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec, process = spec_of(Names()), LookupProcess()
        bounded: dict[str, Any] = {"cache": "PARTIAL", "max_rows": 9}
        look_up(spec, batch(request(**bounded), ids(1)), process=process)
        monkeypatch.setattr(worker_process, "MAX_IDLE_SECONDS", -1)
        look_up(spec, batch(request(**bounded, filters=["id > 0"]), ids(1)), process=process)
        monkeypatch.undo()
        assert len(process._caches) == 1
        look_up(spec, batch(request(**bounded), ids(1)), process=process)
        assert calls() == [[1]] * 3

    def test_may_be_private_to_a_task(self) -> None:
        spec, process = spec_of(Names()), LookupProcess()
        text = request(cache="PARTIAL", max_rows=9, cache_scope="task")
        for _ in range(2):
            look_up(spec, batch(text, ids(1)), batch(text, ids(1)), process=process)
        assert calls() == [[1], [1]]


class TestKeys:
    """Keys of every type, equal when Spark says so."""

    @pytest.mark.parametrize(
        ("kind", "values"),
        [
            (pa.int8(), [1, 2]),
            (pa.int32(), [1, -2]),
            (pa.string(), ["a", "ä", ""]),
            (pa.large_string(), ["a", "b"]),
            (pa.binary(), [b"\x00", b"\xff", b""]),
            (pa.bool_(), [True, False]),
            (pa.date32(), [date(2020, 1, 1), date(1900, 1, 1)]),
            (pa.timestamp("us", "UTC"), [datetime(2020, 1, 1, tzinfo=UTC)]),
            (pa.timestamp("us"), [datetime(2020, 1, 1), datetime(1900, 1, 1)]),
            (pa.decimal128(10, 2), [Decimal("1.20"), Decimal("-1.20")]),
            (pa.decimal128(38, 0), [Decimal(10**37), Decimal(1)]),
            (pa.float32(), [1.5, -1.5]),
            (pa.duration("us"), [5, 6]),
            (
                pa.struct({"a": pa.int32(), "b": pa.string()}),
                [{"a": 1, "b": None}, {"a": 1, "b": "x"}],
            ),
        ],
        ids=str,
    )
    def test_of_every_type(self, kind: pa.DataType, values: list[Any]) -> None:
        column = pa.array([*values, None, *values[::-1]], kind)
        schema = pa.schema([pa.field("id", kind), pa.field("name", pa.string())])
        found = look_up(spec_of(Echo(), schema), batch(request(), column))
        expected = column.to_pylist()
        assert [[row["id"] for row in rows] for rows in found] == [
            [] if value is None else [value] for value in expected
        ]
        assert [len(asked) for asked in LOG] == [len(values)]

    def test_one_nan_and_one_zero(self) -> None:
        schema = pa.schema([pa.field("id", pa.float64()), pa.field("name", pa.string())])
        keys = pa.array([nan, -nan, 0.0, -0.0, 1.0], pa.float64())
        found = look_up(spec_of(Echo(), schema), batch(request(), keys))
        assert [len(rows) for rows in found] == [1, 1, 1, 1, 1]
        assert [len(asked) for asked in LOG] == [3]

    def test_an_answer_may_have_the_other_zero(self) -> None:
        class MinusZero:
            def lookup(self, keys: pa.Table) -> pa.Table:
                return pa.table({"id": [-0.0, nan], "name": ["zero", "nan"]})

        schema = pa.schema([pa.field("id", pa.float64()), pa.field("name", pa.string())])
        found = look_up(spec_of(MinusZero(), schema), batch(request(), pa.array([0.0, -nan])))
        assert names(found) == [["zero"], ["nan"]]

    def test_several_columns(self) -> None:
        class Pairs:
            def lookup(self, keys: pa.Table) -> pa.Table:
                record(keys.to_pylist())
                return keys

        schema = pa.schema([("id", pa.int64()), ("name", pa.string()), ("other", pa.int8())])
        columns = ids(1, 1, 2, None, 1), pa.array(["a", "b", "a", "a", "a"])
        text = request(keys=["id", "name"])
        found = look_up(spec_of(Pairs(), schema), batch(text, *columns))
        assert [[(r["id"], r["name"]) for r in rows] for rows in found] == [
            [(1, "a")], [(1, "b")], [(2, "a")], [], [(1, "a")]
        ]  # fmt: skip
        assert LOG == [[{"id": 1, "name": "a"}, {"id": 1, "name": "b"}, {"id": 2, "name": "a"}]]

    def test_are_cast_to_the_schemas_type(self) -> None:
        assert names(look_up(Names(), batch(request(), pa.array([1], pa.int16())))) == [["1.0"]]


class Echo:
    """Answers every key with itself."""

    def lookup(self, keys: pa.Table) -> pa.Table:
        record(keys["id"].to_pylist())
        return keys.append_column("name", pa.nulls(len(keys), pa.string()))


class Answering:
    """Answers whatever it is given."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def lookup(self, keys: pa.Table) -> object:
        return self.answer


class TestWrongAnswers:
    """What a connector must not answer."""

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            ([{"id": 1}], r"'names' returned builtins\.list: .* must return a pyarrow\.Table"),
            (pa.table({"id": [1]}), r"no column 'name'.*table has id"),
            (pa.table([[1], ["a"], ["b"]], ["id", "name", "name"]), "several of that name"),
            (pa.table({"id": [1], "name": [5]}), r"'name' as int64, .* schema has string"),
            (pa.table({"id": ["1"], "name": ["x"]}), r"'id' as string, .* schema has int64"),
            (pa.table({"id": [1.0], "name": ["x"]}), r"'id' as double"),
            (pa.table({"id": pa.array([2**63], pa.uint64()), "name": ["x"]}), r"'id' as uint64"),
            (pa.table({"id": [2], "name": ["x"]}), r"'names' returned a row for id = 2, a key"),
            (pa.table({"id": [1, None], "name": ["x", "y"]}), r"a row for id = None"),
        ],
        ids=str,
    )
    def test_are_refused_by_name(self, answer: object, message: str) -> None:
        with pytest.raises(LookupFailedError, match=message):
            look_up(Answering(answer), batch(request(), ids(1)))

    def test_nulls_where_the_schema_has_none(self) -> None:
        schema = pa.schema([SCHEMA.field("id"), pa.field("name", pa.string(), nullable=False)])
        answer = Answering(pa.table({"id": [1], "name": pa.nulls(1, pa.string())}))
        with pytest.raises(LookupFailedError, match=r"null in column 'name'"):
            look_up(spec_of(answer, schema), batch(request(), ids(1)))

    def test_keys_not_asked_are_dropped_when_the_connector_says_so(self) -> None:
        answer = Answering(pa.table({"id": [2, 1], "name": ["x", "y"]}))
        found = look_up(spec_of(answer, drop_others=True), batch(request(), ids(1)))
        assert names(found) == [["y"]]

    def test_a_time_without_a_zone_is_not_one_with(self) -> None:
        schema = pa.schema([SCHEMA.field("id"), pa.field("name", pa.timestamp("us", "UTC"))])
        answer = Answering(pa.table({"id": [1], "name": [datetime(2020, 1, 1)]}))
        with pytest.raises(LookupFailedError, match=r"'name' as timestamp\[us\]"):
            look_up(spec_of(answer, schema), batch(request(), ids(1)))

    def test_a_number_beyond_a_short_float(self) -> None:
        schema = pa.schema([SCHEMA.field("id"), pa.field("name", pa.float32())])
        within = Answering(pa.table({"id": [1, 1], "name": [1.5, inf]}))
        (rows,) = look_up(spec_of(within, schema), batch(request(), ids(1)))
        assert [row["name"] for row in rows] == [1.5, inf]
        beyond = Answering(pa.table({"id": [1], "name": [1e300]}))
        with pytest.raises(LookupFailedError, match="out of range"):
            look_up(spec_of(beyond, schema), batch(request(), ids(1)))


def test_fitting_types_are_cast() -> None:
    wide = pa.struct({"a": pa.int64(), "b": pa.list_(pa.float64())})
    narrow = pa.struct({"a": pa.int8(), "b": pa.list_(pa.float32())})
    schema = pa.schema([("id", pa.int64()), ("name", pa.string()), ("more", wide)])
    answer = pa.table(
        {
            "name": pa.array(["x"]).dictionary_encode(),
            "more": pa.array([{"a": 1, "b": [1.5]}], narrow),
            "id": pa.array([1], pa.int8()),
            "unknown": [None],
        }
    )
    text = request(columns=["id", "name", "more"])
    found = look_up(spec_of(Answering(answer), schema), batch(text, ids(1)))
    assert found == [[{"id": 1, "name": "x", "more": {"a": 1, "b": [1.5]}}]]


class TestRetry:
    """lookup_miss, fixed_delay."""

    class Late:
        """Knows key n from the n-th question on."""

        def __init__(self) -> None:
            self.tries = 0

        def lookup(self, keys: pa.Table) -> pa.Table:
            self.tries += 1
            record(("lookup", keys["id"].to_pylist()))
            known = [n for n in keys["id"].to_pylist() if n <= self.tries]
            return pa.table({"id": known, "name": [f"{n}!" for n in known]}, SCHEMA)

    def test_asks_only_for_the_missing_keys_up_to_the_bound(self) -> None:
        text = request(max_attempts=3, fixed_delay_ms=1, cache="PARTIAL", max_rows=9)
        found = look_up(self.Late(), batch(text, ids(4, 3, 2, 1)), batch(text, ids(3)))
        assert names(found) == [[], ["3!"], ["2!"], ["1!"], ["3!"]]
        assert calls() == [[4, 3, 2, 1], [4, 3, 2], [4, 3]]

    def test_waits_between_tries(self) -> None:
        start = time.monotonic()
        look_up(self.Late(), batch(request(max_attempts=3, fixed_delay_ms=50), ids(9)))
        assert time.monotonic() - start >= 0.1


class TestTime:
    """Threads and timeouts."""

    class Slow:
        """Takes its time, and says how many questions were under way at once."""

        def __init__(self, seconds: float) -> None:
            self.seconds = seconds
            self.at_once = 0

        def lookup(self, keys: pa.Table) -> pa.Table:
            self.at_once += 1
            record((self.at_once, threading.current_thread().name))
            time.sleep(self.seconds)
            self.at_once -= 1
            return pa.table({"id": keys["id"], "name": keys["id"].cast("string")})

    def test_a_connector_that_hangs_is_an_error_that_names_it(self) -> None:
        with pytest.raises(
            LookupFailedError, match=r"'names' did not answer within 50 ms.*2 keys.*id = 7.*timeout"
        ):
            look_up(self.Slow(30), batch(request(timeout_ms=50), ids(7, 8)))

    def test_the_time_includes_retries(self) -> None:
        text = request(timeout_ms=50, max_attempts=9, fixed_delay_ms=20)
        nothing = Answering(SCHEMA.empty_table())
        with pytest.raises(LookupFailedError, match="retries included"):
            look_up(nothing, batch(text, ids(500)))

    def test_a_hanging_open_is_an_error(self) -> None:
        class Opening(Names):
            def open(self, task: TaskInfo) -> None:  # type: ignore[override]
                time.sleep(30)

        with pytest.raises(LookupFailedError, match=r"did not end open within 50 ms"):
            look_up(Opening(), batch(request(timeout_ms=50), ids(1)))

    def test_async_asks_several_at_once_and_no_more_than_capacity(self) -> None:
        text = request(batch_size=1, capacity=3, **{"async": True})
        found = look_up(self.Slow(0.02), batch(text, ids(*range(9))))
        assert names(found) == [[str(n)] for n in range(9)]
        assert max(entry[0] for entry in LOG) == 3

    def test_otherwise_all_is_in_one_thread(self) -> None:
        look_up(self.Slow(0), batch(request(batch_size=1), ids(*range(5))))
        assert len({thread for _, thread in LOG}) == 1
        assert threading.current_thread().name not in {thread for _, thread in LOG}

    def test_they_end_with_the_task(self) -> None:
        before = set(threading.enumerate())
        look_up(self.Slow(0), batch(request(batch_size=1, **{"async": True}), ids(*range(9))))
        ours = set(threading.enumerate()) - before
        for thread in ours:
            thread.join(timeout=5)
        assert not any(thread.is_alive() for thread in ours)

    def test_one_failure_among_several_under_way_is_the_error(self) -> None:
        class Fails(Names):
            def lookup(self, keys: pa.Table) -> pa.Table:
                if keys["id"][0].as_py() == 2:
                    raise TimeoutError("its own")
                return super().lookup(keys)

        text = request(batch_size=1, **{"async": True})
        with pytest.raises(LookupFailedError, match=r"id = 2: TimeoutError: its own"):
            look_up(Fails(), batch(text, ids(1, 2, 3)))
        assert LOG[-1] == ("close",)


def test_what_close_raises_names_the_task() -> None:
    class Failing(Names):
        def close(self) -> None:
            raise OSError("still busy")

    message = "'names' failed in close for lookup names, partition 0: OSError: still busy"
    with pytest.raises(LookupFailedError, match=message):
        look_up(Failing(), batch(request(), ids(1)))


def test_the_cause_is_chained() -> None:
    class Failing(Names):
        def open(self, task: TaskInfo) -> None:  # type: ignore[override]
            raise OSError("connection refused")

    with pytest.raises(
        LookupFailedError,
        match="failed in open for lookup names, partition 0: OSError: connection re",
    ) as error:
        look_up(Failing(), batch(request(), ids(1)))
    assert isinstance(error.value.__cause__, OSError)


def test_a_connector_that_cannot_be_loaded_says_what_to_install() -> None:
    spec = ConnectorSpec("names", "r", b"cno_such_package\nThing\n.", SCHEMA, False)
    with pytest.raises(LookupFailedError, match=r"could not be loaded.*no_such_package.*addArtif"):
        look_up(spec, batch(request(), ids(1)))


class TestPartitions:
    """The partitioner's side."""

    def partition(
        self,
        partitioner: object,
        count: pa.Array,
        *columns: pa.Array,
        keys: tuple[str, ...] = ("id",),
    ) -> list[int | None]:
        pickled = _shipping.pickled("names", partitioner)
        spec = PartitionerSpec("names", pickled, keys, keys[:1], SCHEMA)
        (answer,) = LookupProcess().partition(spec, iter([(count, *columns)]))
        return answer.to_pylist()  # type: ignore[no-any-return]

    class ByRemainder:
        def partition(self, join_keys: Row, num_partitions: int) -> int:
            record(join_keys)
            return int(join_keys.id % num_partitions)

    def test_is_asked_once_per_distinct_key(self) -> None:
        count = pa.array([4] * 5)
        assert self.partition(self.ByRemainder(), count, ids(5, 6, 5, None, 7)) == [1, 2, 1, 0, 3]
        assert [row.asDict() for row in LOG] == [{"id": 5}, {"id": 6}, {"id": 7}]

    def test_takes_the_names_of_the_keys_from_the_request(self) -> None:
        text = pa.array([request(keys=["id", "name"], num_partitions=3), None])
        columns, both = (ids(4, 5), pa.array(["a", "b"])), ("id", "name")
        assert self.partition(self.ByRemainder(), text, *columns, keys=both) == [1, 2]
        assert LOG[0].name == "a"

    @pytest.mark.parametrize("columns", [(ids(4, 5), pa.array(["a", "b"])), (ids(4, 5),)])
    def test_takes_all_keys_or_those_it_needs_without_names(self, columns: list[pa.Array]) -> None:
        both = ("id", "name")
        count = pa.array([3, 3])
        assert self.partition(self.ByRemainder(), count, *columns, keys=both) == [1, 2]

    def test_out_of_range_and_none_are_left_for_the_engine_to_refuse(self) -> None:
        class Odd:
            def partition(self, join_keys: Row, num_partitions: int) -> int | None:
                return {1: -1, 2: 99, 3: None}[join_keys.id]

        assert self.partition(Odd(), pa.array([4] * 3), ids(1, 2, 3)) == [-1, 99, None]

    @pytest.mark.parametrize("number", ["1", 1.5, True, 2**63])
    def test_what_is_no_int_is_an_error(self, number: object) -> None:
        class Odd:
            def partition(self, join_keys: Row, num_partitions: int) -> object:
                return number

        with pytest.raises(LookupFailedError, match=r"partitioner of .*'names' returned .* id = 1"):
            self.partition(Odd(), pa.array([4]), ids(1))

    def test_its_exception_names_the_key(self) -> None:
        class Failing:
            def partition(self, join_keys: Row, num_partitions: int) -> int:
                raise KeyError("shard")

        with pytest.raises(LookupFailedError, match=r"failed in partition for id = 1: KeyError"):
            self.partition(Failing(), pa.array([4]), ids(1))

    class ByTable:
        """Asked for many keys at once, also where it could be asked for each."""

        def __init__(self, form: Callable[[pa.Array], object] = lambda numbers: numbers) -> None:
            self.form = form

        def partition_batch(self, join_keys: pa.Table, num_partitions: int) -> object:
            record(join_keys.to_pydict())
            numbers = [key % num_partitions for key in join_keys["id"].to_pylist()]
            return self.form(pa.array(numbers, pa.int32()))

        def partition(self, join_keys: Row, num_partitions: int) -> int:
            raise AssertionError("asked for a single key")

    @pytest.mark.parametrize(
        "form",
        [
            lambda numbers: numbers,
            lambda numbers: pa.chunked_array([numbers[:1], numbers[1:]]),
            lambda numbers: numbers.to_numpy(),
            lambda numbers: numbers.to_pylist(),
            lambda numbers: numbers.cast(pa.uint64()),
        ],
    )
    def test_one_that_takes_batches_gets_a_table_of_distinct_keys(
        self, form: Callable[[pa.Array], object]
    ) -> None:
        count = pa.array([4] * 5)
        given = self.partition(self.ByTable(form), count, ids(5, 6, 5, None, 7))
        assert given == [1, 2, 1, 0, 3]
        assert LOG == [{"id": [5, 6, 7]}]

    def test_one_that_takes_batches_is_not_asked_about_nulls_alone(self) -> None:
        assert self.partition(self.ByTable(), pa.array([4, 4]), ids(None, None)) == [0, 0]
        assert LOG == []

    def test_out_of_range_and_null_of_a_batch_are_left_for_the_engine_to_refuse(self) -> None:
        odd = self.ByTable(lambda _: [-1, 99, None])
        assert self.partition(odd, pa.array([4] * 3), ids(1, 2, 3)) == [-1, 99, None]

    @pytest.mark.parametrize(
        ("answer", "told"),
        [
            ([1], "returned 1 numbers"),
            ([1, 2, 3], "returned 3 numbers"),
            (["1", "2"], r"returned \['1', '2'\]"),
            ([True, False], r"returned \[True, False\]"),
            ([1.5, 2.0], r"returned \[1.5, 2.0\]"),
            (None, "returned None"),
            (7, "returned 7"),
        ],
        ids=str,
    )
    def test_a_batch_that_is_not_numbered_is_an_error(self, answer: object, told: str) -> None:
        message = f"'names' received 2 keys, and partition_batch {told}. It must"
        with pytest.raises(LookupFailedError, match=message):
            self.partition(self.ByTable(lambda _: answer), pa.array([4, 4]), ids(1, 2))

    def test_the_exception_of_a_batch_names_its_keys(self) -> None:
        def fail(_: pa.Array) -> object:
            raise KeyError("shard")

        message = r"failed in partition_batch for 2 keys, first key id = 1: KeyError: 'shard'"
        with pytest.raises(LookupFailedError, match=message):
            self.partition(self.ByTable(fail), pa.array([4, 4]), ids(1, 2))


@settings(max_examples=150, deadline=None)
@given(
    batches=st.lists(st.lists(st.none() | st.integers(0, 30), max_size=40), max_size=6),
    batch_size=st.integers(1, 8),
    cache=st.sampled_from(["NONE", "PARTIAL"]),
    max_rows=st.integers(1, 20),
    missing=st.booleans(),
    at_once=st.booleans(),
    private=st.booleans(),
    shards=st.booleans(),
    at_most=st.sampled_from([1, 7, 100_000]),
)
def test_always_the_rows_of_a_plain_join(
    batches: list[list[int | None]],
    batch_size: int,
    cache: str,
    max_rows: int,
    missing: bool,
    at_once: bool,
    private: bool,
    shards: bool,
    at_most: int,
) -> None:
    text = request(
        batch_size=batch_size, cache=cache, max_rows=max_rows, cache_missing_key=missing,
        cache_scope="task" if private else "executor", **{"async": at_once},
    )  # fmt: skip
    sent = [
        batch(text, ids(*keys), shards=[(k or 0) % 3 for k in keys] if shards else None)
        for keys in batches
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker_answers, "ROWS_AT_ONCE", at_most)
        found = look_up(Names(), *sent)
    expected = [[f"{k}.{i}" for i in range(k or 0)] for keys in batches for k in keys]
    assert names(found) == [sorted(some) for some in expected]


@needs_arrow_functions
def test_runs_in_a_process_that_has_no_firesteel(tmp_path: Path) -> None:
    schema = StructType([StructField("id", LongType()), StructField("name", StringType())])

    def named(keys: pa.Table) -> pa.Table:
        return keys.append_column("name", keys["id"].cast("string"))

    connector = make_connector(named)
    spec = ConnectorSpec("names", "r", _shipping.pickled("names", connector), SCHEMA, False)
    function = _shipping.lookup_function(spec, schema).func
    (tmp_path / "function").write_bytes(_shipping.cloudpickle.dumps(function))
    program = f"""
import pickle, sys
sys.modules["firesteel"] = None  # any import of it fails
import pyarrow as pa
for _ in range(2):
    function = pickle.load(open("function", "rb"))
    batch = pa.array(['''{request()}''']), pa.nulls(1, pa.int32()), pa.array([7])
    print(next(function(iter([batch])))[0].as_py()["rows"])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "[{'id': 7, 'name': '7'}]\n" * 2, done.stderr


@needs_arrow_functions
def test_an_error_shows_its_sentence_then_the_stack_of_the_connector(tmp_path: Path) -> None:
    def fail(keys: pa.Table) -> pa.Table:
        raise ValueError("the store is away")

    schema = StructType([StructField("id", LongType()), StructField("name", StringType())])
    shipped = _shipping.pickled("names", make_connector(fail))
    spec = ConnectorSpec("names", "r", shipped, SCHEMA, False)
    function = _shipping.lookup_function(spec, schema).func
    (tmp_path / "function").write_bytes(_shipping.cloudpickle.dumps(function))
    program = f"""
import io, pickle
import pyarrow as pa
from pyspark.util import handle_worker_exception
batch = pa.array(['''{request()}''']), pa.nulls(1, pa.int32()), pa.array([7])
try:
    list(pickle.load(open("function", "rb"))(iter([batch])))
except Exception as error:
    out = io.BytesIO()
    handle_worker_exception(error, out)
    print(out.getvalue()[8:].decode())
"""

    def shown(**environment: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    sentence, *below = shown()
    assert sentence == (
        "firesteel.LookupFailedError: Lookup connector 'names' failed in lookup for id = 7: "
        "ValueError: the store is away"
    )
    assert below[:3] == ["", "The stack in the worker:", "Traceback (most recent call last):"]
    files = [line for line in below if line.startswith("  File ")]
    assert len(files) == 2, below  # the connector's lookup, and the function that it calls
    assert all(__file__ in line for line in files), below
    assert "ValueError: the store is away" in below
    assert shown(SPARK_HIDE_TRACEBACK="1") == [sentence, ""]


def make_connector(answer: Callable[[pa.Table], pa.Table]) -> object:
    class Local:
        def open(self, task: TaskInfo, context: LookupContext) -> None:
            assert isinstance(task, TaskInfo)
            assert context.keys == ("id",)

        def lookup(self, keys: pa.Table) -> pa.Table:
            return answer(keys)

    return Local()
