"""Registering connectors and joining with them, as far as no JVM is needed."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from threading import Lock
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType
from pyspark.util import PythonEvalType

import firesteel
from firesteel import InvalidConnectorError, lookup_join, register_lookup, unregister_lookup
from firesteel._durations import milliseconds
from firesteel._supported_spark import INSTALLED_SPARK
from firesteel.lookup._options import flink_options

needs_arrow_functions = pytest.mark.skipif(
    INSTALLED_SPARK == "4.0", reason="PySpark 4.0 has no Arrow functions for connectors in Python"
)

SCHEMA = StructType(
    [
        StructField("id", LongType(), nullable=False),
        StructField("kind", StringType()),
        StructField("name", StringType()),
    ]
)


class Connector:
    """A store that is empty."""

    def __init__(self, **attributes: object) -> None:
        self.schema: Any = SCHEMA
        self.keys: Any = ("kind", "id")
        vars(self).update(attributes)

    def lookup(self, keys: pa.Table) -> pa.Table:
        return keys.slice(0, 0)


class Partitioned(Connector):
    """Partitions by itself."""

    def partition(self, join_keys: Row, num_partitions: int) -> int:
        return 0


class Session:
    """Notes what it is told; nothing of Spark runs."""

    def __init__(self, has_extension: bool = True) -> None:
        self.has_extension = has_extension
        self.version = "4.3.0"
        self.functions: dict[str, Any] = {}
        self.statements: list[str] = []
        self.dropped: list[str] = []
        self.catalog = self.udf = self.conf = self
        self.sparkSession = self
        self.hints: tuple[object, ...] = ()
        self.joined: tuple[object, ...] = ()

    def functionExists(self, _: str) -> bool:
        return self.has_extension

    def get(self, _: str, default: str) -> str:
        return default

    def register(self, name: str, function: object) -> None:
        self.functions[name] = function

    def sql(self, text: str) -> Session:
        self.statements.append(text)
        return self

    def collect(self) -> list[tuple[str]]:
        """What the last statement shows: functions, in lower case as Spark keeps them."""
        start = self.statements.pop().split("'")[1].removesuffix("*")
        names = [name.lower() for name in self.functions]
        return [(name,) for name in names if name.startswith(start)]

    def dropTempView(self, name: str) -> None:
        self.dropped.append(name)

    def table(self, name: str) -> Session:
        return self

    def hint(self, *parameters: object) -> str:
        self.hints = parameters
        return "hinted"

    def join(self, *arguments: object) -> Session:
        self.joined = arguments
        return self


def registered(
    connector: object,
    **arguments: Any,  # noqa: ANN401 - right ones and wrong ones
) -> tuple[Session, dict[str, Any]]:
    """Register a connector, and read the description that the JVM gets."""
    session = Session()
    register_lookup(session, "customers", connector, **arguments)  # type: ignore[arg-type]
    (statement,) = session.statements
    start = "CREATE OR REPLACE TEMPORARY VIEW customers AS SELECT * FROM firesteel_python_lookup('"
    assert statement.startswith(start)
    text = (
        statement.removeprefix(start).removesuffix("')").replace("\\'", "'").replace("\\\\", "\\")
    )
    return session, json.loads(text)


@needs_arrow_functions
def test_describes_the_connector_to_the_jvm() -> None:
    session, said = registered(Connector())
    assert said == {
        "name": "customers",
        "udf": said["udf"],
        "partition_udf": None,
        "deterministic": True,
        "schema": SCHEMA.jsonValue(),
        "keys": ["id", "kind"],  # in the schema's order
        "partition_keys": [],
        "options": {"lookup.cache": "NONE"},
    }
    assert re.fullmatch("__firesteel_lookup_customers_[0-9a-f]{32}", said["udf"])
    assert list(session.functions) == [said["udf"]]


@needs_arrow_functions
def test_the_function_answers_arrays_of_the_schemas_rows_and_counts() -> None:
    session, said = registered(Connector())
    function = session.functions[said["udf"]]
    assert function.evalType == PythonEvalType.SQL_SCALAR_ARROW_ITER_UDF
    assert function.returnType["rows"].dataType.elementType.names == SCHEMA.names
    assert function.returnType["stats"].dataType.names == [
        "hits", "misses", "loads", "load_ms", "failures", "cached_rows", "requests"
    ]  # fmt: skip


@needs_arrow_functions
def test_quotes_and_backslashes_survive_the_sql() -> None:
    odd = StructType([*SCHEMA, StructField('it\'s "so" \\ ä', StringType())])
    _, said = registered(Connector(schema=odd))
    assert StructType.fromJson(said["schema"]) == odd


@needs_arrow_functions
def test_cache_options_have_flinks_names() -> None:
    _, said = registered(
        Connector(),
        cache="partial",
        max_rows=1000,
        expire_after_write=timedelta(minutes=1),
        expire_after_access="5 min",
        cache_missing_key=False,
        batch_size=50,
        options={"lookup.partial-cache.max-rows": "7"},
    )
    assert said["options"] == {
        "lookup.cache": "PARTIAL",
        "lookup.partial-cache.max-rows": "7",
        "lookup.partial-cache.expire-after-write": "60000 ms",
        "lookup.partial-cache.expire-after-access": "300000 ms",
        "lookup.partial-cache.cache-missing-key": "false",
        "lookup.batch-size": "50",
    }


@needs_arrow_functions
class TestPartitioner:
    """Where a partitioner comes from."""

    def test_of_the_connector_itself(self) -> None:
        session, said = registered(Partitioned())
        assert said["partition_udf"].startswith("__firesteel_partition_customers_")
        assert said["partition_keys"] == ["id", "kind"]
        assert session.functions[said["partition_udf"]].returnType == LongType()

    def test_of_get_partitioner(self) -> None:
        class Random:
            def partition(self, join_keys: Row, num_partitions: int) -> int:
                return 0

            def is_deterministic(self) -> bool:
                return False

        class Asked(Partitioned):
            partition_keys = ("id",)

            def get_partitioner(self) -> object:
                return Random()

        _, said = registered(Asked())
        assert not said["deterministic"]
        assert said["partition_keys"] == ["id"]

    def test_none_leaves_the_input_as_it_is(self) -> None:
        class Asked(Partitioned):
            def get_partitioner(self) -> None:
                return None

        _, said = registered(Asked())
        assert said["partition_udf"] is None

    def test_what_is_no_partitioner_is_refused(self) -> None:
        class Asked(Connector):
            def get_partitioner(self) -> object:
                return 5

        with pytest.raises(InvalidConnectorError, match=r"'customers' returned builtins\.int"):
            registered(Asked())

    def test_one_for_batches_is_enough(self) -> None:
        class Batches(Connector):
            def partition_batch(self, join_keys: pa.Table, num_partitions: int) -> list[int]:
                return [0] * len(join_keys)

        _, said = registered(Batches())
        assert said["partition_udf"].startswith("__firesteel_partition_customers_")
        assert isinstance(Batches(), firesteel.InputDataBatchPartitioner)

    def test_what_its_methods_raise_is_told_with_the_connectors_name(self) -> None:
        class Failing(Partitioned):
            def get_partitioner(self) -> object:
                raise OSError("no shards known")

        message = "'customers' failed in get_partitioner: OSError: no shards known"
        with pytest.raises(InvalidConnectorError, match=message):
            registered(Failing())

        class Unsure(Partitioned):
            def is_deterministic(self) -> bool:
                raise OSError("who knows")

        message = "'customers' failed in is_deterministic: OSError: who knows"
        with pytest.raises(InvalidConnectorError, match=message):
            registered(Unsure())


@pytest.mark.parametrize(
    ("connector", "message"),
    [
        (object(), r"'customers' \(builtins\.object\) needs the attributes schema and keys"),
        (Connector(lookup=None), "a method lookup"),
        (Connector(schema=5), "schema 5 of lookup connector 'customers'.*StructType or DDL"),
        (Connector(keys="id"), "keys = 'id' of lookup connector 'customers'.*id, kind, name"),
        (Connector(keys=()), r"keys = \(\)"),
        (Connector(keys=("id", "id")), "different names"),
        (Connector(keys=(["id"],)), r"keys = \(\['id'\],\)"),
        (Connector(keys=("nope",)), r"keys = \('nope',\).*among id, kind, name"),
        (Partitioned(partition_keys=("name",)), r"partition_keys = \('name',\).*among id, kind"),
        (
            Connector(schema=StructType().add("a", ArrayType(LongType())), keys=["a"]),
            "column 'a' of type array<bigint>",
        ),
        (
            Connector(schema=StructType().add("a", StringType("UTF8_LCASE")), keys=["a"]),
            "column 'a' of type string collate UTF8_LCASE.*plain STRING",
        ),
        (
            Connector(lock=Lock()),
            r"'customers' .*Connector\) cannot be pickled.*lock.*open\(task\)",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
@needs_arrow_functions
def test_refuses_connectors_by_name(connector: object, message: str) -> None:
    with pytest.raises(InvalidConnectorError, match=message):
        registered(connector)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cache": "PARTIAL"}, "set max_rows, expire_after_write or expire_after_access"),
        ({"cache": "FULL"}, "reads only by key.*lookup_join"),
        ({"cache": "LRU"}, "'LRU': must be 'NONE' or 'PARTIAL'"),
        ({"max_rows": 5}, "max-rows without a cache"),
        ({"cache": "PARTIAL", "max_rows": 0}, "max_rows = 0: must be a positive whole number"),
        ({"cache": "PARTIAL", "max_rows": True}, "max_rows = True"),
        ({"cache": "PARTIAL", "expire_after_write": "soon"}, "expire_after_write = 'soon'"),
        ({"cache": "PARTIAL", "expire_after_write": 0}, "expire_after_write = 0"),
        ({"batch_size": "many"}, "batch_size = 'many'"),
        ({"options": {"lookup.cach": "NONE"}}, "'lookup.cach'; did you mean lookup.cache"),
        ({"options": {"shuffle": "true"}}, "unknown option 'shuffle'"),
        ({"options": {5: "true"}}, "unknown option '5'"),
        ({"options": {"lookup.batch-size": 5}}, "lookup.batch-size = 5: must be text, such as '5'"),
        ({"options": {"lookup.cache": None}}, "lookup.cache = None: must be text"),
        ({"options": "lookup.cache=NONE"}, "options = 'lookup.cache=NONE': must be a mapping"),
        ({"cache": 5}, "cache = 5: must be text"),
    ],
    ids=str,
)
def test_refuses_options_with_what_is_allowed(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        registered(Connector(), **arguments)


@pytest.mark.parametrize("name", ["", "a b", "1a", "a.b", "a'; DROP", 5, None])
def test_refuses_names_that_are_none(name: Any) -> None:  # noqa: ANN401 - whatever is given
    with pytest.raises(ValueError, match="cannot name a lookup table"):
        register_lookup(Session(), name, Connector())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cannot name a lookup table"):
        unregister_lookup(Session(), name)  # type: ignore[arg-type]


def test_refuses_what_is_no_session() -> None:
    with pytest.raises(ValueError, match="spark = 'customers': must be the SparkSession"):
        register_lookup("customers", Connector(), "x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="spark = 'customers': must be the SparkSession"):
        unregister_lookup("customers", "x")  # type: ignore[arg-type]


def test_a_session_without_the_extension_is_an_error() -> None:
    session = Session(has_extension=False)
    with pytest.raises(firesteel.ExtensionNotLoadedError):
        register_lookup(session, "customers", Connector())  # type: ignore[arg-type]
    with pytest.raises(firesteel.ExtensionNotLoadedError):
        lookup_join(session, "customers", "id")  # type: ignore[arg-type]


@needs_arrow_functions
def test_a_class_is_refused_unless_it_needs_no_instance() -> None:
    class Lacking(Connector):
        schema: Any = SCHEMA
        keys: Any = ("id",)

    with pytest.raises(InvalidConnectorError, match=r"is the class .*Lacking itself.*Lacking\("):
        registered(Lacking)

    class Complete(Lacking):
        @staticmethod
        def lookup(keys: pa.Table) -> pa.Table:
            return keys.slice(0, 0)

    assert registered(Complete)[1]["keys"] == ["id"]


def test_unregistering_leaves_a_view_that_is_not_of_a_connector() -> None:
    session = Session()
    unregister_lookup(session, "customers")  # type: ignore[arg-type]
    assert session.dropped == []
    assert session.statements == []


@needs_arrow_functions
def test_unregistering_drops_the_view_and_the_functions() -> None:
    session = Session()
    for name in ("Customers", "Customers", "customers_of_old"):
        register_lookup(session, name, Partitioned())  # type: ignore[arg-type]
    made = list(session.functions)
    assert len(made) == 6  # names of each registration alone
    session.statements.clear()
    unregister_lookup(session, "Customers")  # type: ignore[arg-type]
    assert session.dropped == ["Customers"]
    dropped = {statement.split()[-1] for statement in session.statements}
    assert dropped == {name.lower() for name in made if "_of_old_" not in name}


class TestJoin:
    """What lookup_join makes of its arguments."""

    def joined(
        self,
        *arguments: Any,  # noqa: ANN401 - right ones and wrong ones
        **named: Any,  # noqa: ANN401
    ) -> Session:
        session = Session()
        lookup_join(session, "customers", *arguments, **named)  # type: ignore[arg-type]
        return session

    def test_is_a_join_with_a_hint(self) -> None:
        session = self.joined("id", "left_outer", shuffle=True, async_=False, timeout="3 min")
        assert session.joined == ("hinted", "id", "left")
        assert session.hints == ("LOOKUP", "shuffle=true", "async=false", "timeout=180000 ms")

    def test_names_every_option_as_flink_does(self) -> None:
        session = self.joined(
            ["id"],
            output_mode="allow_unordered",
            capacity=7,
            retry_predicate="lookup_miss",
            retry_strategy="fixed_delay",
            fixed_delay=0,
            max_attempts=3,
            cache="full",
            reload_strategy="TIMED",
            reload_iso_time="10:15Z",
            reload_interval_in_days=2,
        )
        assert set(session.hints[1:]) == {
            "output-mode=allow_unordered",
            "capacity=7",
            "retry-predicate=lookup_miss",
            "retry-strategy=fixed_delay",
            "fixed-delay=0 ms",
            "max-attempts=3",
            "lookup.cache=FULL",
            "lookup.full-cache.reload-strategy=TIMED",
            "lookup.full-cache.timed-reload.iso-time=10:15Z",
            "lookup.full-cache.timed-reload.interval-in-days=2",
        }

    @pytest.mark.parametrize("how", ["right", "full", "cross", "semi", None])
    def test_refuses_other_joins(self, how: object) -> None:
        with pytest.raises(ValueError, match=r"how = .*'inner' or 'left'"):
            self.joined("id", how)

    def test_takes_any_sequence_of_names(self) -> None:
        assert self.joined(("id", "kind")).joined == ("hinted", ["id", "kind"], "inner")

    @pytest.mark.parametrize("on", [None, [], ()])
    def test_needs_a_key(self, on: Sequence[str] | None) -> None:
        with pytest.raises(ValueError, match=r"on = None: a lookup join needs a key"):
            self.joined(on)

    @pytest.mark.parametrize("left", ["customers", None, 5], ids=str)
    def test_refuses_what_is_no_dataframe_and_says_where_it_goes(self, left: object) -> None:
        with pytest.raises(ValueError, match=r"left = .*lookup_join\(orders, 'cust"):
            lookup_join(left, Session(), "id")  # type: ignore[arg-type]

    @pytest.mark.parametrize("table", [None, 5, ["customers"]], ids=str)
    def test_refuses_what_is_no_table(self, table: object) -> None:
        with pytest.raises(ValueError, match=r"table = .*must be the name of a"):
            lookup_join(Session(), table, "id")  # type: ignore[arg-type]

    @pytest.mark.parametrize("on", [5, [5], {"id": "id"}, ["id", None]], ids=str)
    def test_refuses_what_is_no_key(self, on: object) -> None:
        with pytest.raises(ValueError, match=r"on = .*must be a column name that both"):
            self.joined(on)

    def test_refuses_what_is_no_boolean(self) -> None:
        with pytest.raises(ValueError, match="shuffle = 'yes': must be True or False"):
            self.joined("id", shuffle="yes")


@pytest.mark.parametrize(
    ("value", "millis"),
    [
        (timedelta(seconds=1.5), 1500),
        (0.1, 100),
        (3, 3000),
        ("10s", 10_000),
        ("10 S", 10_000),
        ("1 h 30 min", 5_400_000),
        ("2 days", 172_800_000),
        ("250ms", 250),
        ("0.5 s", 500),
    ],
    ids=str,
)
def test_reads_times(value: Any, millis: int) -> None:  # noqa: ANN401 - of several types
    assert milliseconds("timeout", value) == millis


@pytest.mark.parametrize("value", ["10", "", "10 parsecs", "s", "-1 s", -1, 0.0001, True, None, []])
def test_refuses_what_is_no_time(value: Any) -> None:  # noqa: ANN401 - whatever is given
    with pytest.raises(ValueError, match=r"timeout = .*must be a time in whole milliseconds"):
        milliseconds("timeout", value)


def test_options_that_are_not_given_are_left_to_the_engine() -> None:
    assert flink_options({"timeout": None, "shuffle": None}) == {}


def test_protocols_know_a_connector() -> None:
    assert isinstance(Connector(), firesteel.SupportsLookup)
    assert not isinstance(object(), firesteel.SupportsLookup)
    assert isinstance(Partitioned(), firesteel.InputDataPartitioner)
    task = firesteel.TaskInfo(0, 4, 0, "t")
    assert pickle.loads(pickle.dumps(task)) == task


def test_importing_firesteel_needs_no_pyarrow() -> None:
    program = "import sys; sys.modules['pyarrow'] = None; import firesteel; firesteel.TaskInfo"
    subprocess.run([sys.executable, "-c", program], check=True)
