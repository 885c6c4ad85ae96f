"""Lookup joins with connectors written in Python: classic, streaming and Spark Connect."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

import firesteel
from firesteel import LookupContext, TaskInfo, lookup_join, register_lookup
from firesteel._supported_spark import INSTALLED_SPARK

pytestmark = pytest.mark.skipif(
    INSTALLED_SPARK == "4.0", reason="PySpark 4.0 has no Arrow functions for connectors in Python"
)

EXAMPLES = Path(__file__).parents[2] / "examples" / "lookup"


def customers(**settings: Any) -> Any:  # noqa: ANN401 - a connector made for one test
    """Make a connector that knows id % 4 rows for each id under 100.

    Its class is made here so that it is pickled by value: the workers do not have this file.
    """

    class Customers:
        schema = "id BIGINT, part INT, name STRING, tags ARRAY<STRING>"
        keys = ("id",)
        fails_at: int | None = None
        answer_type: str = "string"
        partition_of: int | None = None

        def open(self, task: TaskInfo, context: LookupContext) -> None:
            self.task = task
            self.context = context

        def lookup(self, keys: pa.Table) -> pa.Table:
            import pyarrow

            wanted = keys["id"].to_pylist()
            if self.fails_at in wanted:
                raise OSError("the store is away")
            task = self.task
            if self.context.custom_shuffle and any(n % task.count != task.index for n in wanted):
                raise AssertionError(f"{wanted} asked of {task}")
            found = [(n, i) for n in wanted if n < 100 for i in range(n % 4)]
            names = pyarrow.array([f"{n}.{i}" for n, i in found], "string")
            if self.answer_type != "string":
                names = pyarrow.array([0] * len(found), self.answer_type)
            return pyarrow.table(
                {
                    "name": names,
                    "id": pyarrow.array([n for n, _ in found], "int64"),
                    "part": pyarrow.array([i for _, i in found], "int8"),
                    "tags": pyarrow.array(
                        [[str(n)] for n, _ in found], pyarrow.list_(pyarrow.string())
                    ),
                }
            )

        def partition(self, join_keys: Row, num_partitions: int) -> int:
            if self.partition_of is not None:
                return self.partition_of
            return int(join_keys.id % num_partitions)

    connector = Customers()
    vars(connector).update(settings)
    return connector


def as_table(spark: SparkSession) -> DataFrame:
    """The same rows, to be joined by Spark itself."""
    return spark.sql("""
        SELECT id, CAST(i AS INT) AS part, concat(id, '.', i) AS name,
          array(CAST(id AS STRING)) AS tags
        FROM range(100) LATERAL VIEW explode(sequence(0, 3)) AS i WHERE i < id % 4""")


def orders(spark: SparkSession) -> DataFrame:
    """Orders with keys that are known, unknown, repeated and null."""
    return spark.range(0, 500, 1, 4).selectExpr(
        "id AS no", "IF(id % 11 = 0, NULL, id * 7 % 130) AS id", "CAST(id % 3 AS INT) AS part"
    )


def rows(df: DataFrame) -> list[Row]:
    return sorted(df.collect(), key=str)


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest) -> SparkSession:
    """A session of its own, of either kind."""
    name = "classic_session" if request.param == "classic" else "connect_session"
    found: SparkSession = request.getfixturevalue(name)
    return found


@pytest.fixture
def classic_session(spark: SparkSession) -> SparkSession:
    return spark.newSession()


@pytest.fixture
def connect_session(address: str) -> Iterator[SparkSession]:
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    session = ConnectSession.builder.remote(address).create()
    yield session  # type: ignore[misc] # a class of its own with the same methods
    session.stop()


PARTIAL = {"cache": "PARTIAL", "max_rows": 20}
SMALL_BATCHES = {"async_": True, "capacity": 3, "batch_size": 7}


@pytest.mark.parametrize(
    ("how", "shuffle", "cache", "more"),
    [
        ("inner", None, {}, {}),
        ("left", True, PARTIAL, {}),
        ("left", None, PARTIAL, SMALL_BATCHES),
        ("inner", True, {}, SMALL_BATCHES),
    ],
)
def test_gives_the_rows_of_a_plain_join(
    session: SparkSession,
    how: str,
    shuffle: bool | None,
    cache: dict[str, Any],
    more: dict[str, Any],
) -> None:
    register_lookup(session, "customers", customers())
    looked_up = lookup_join(
        orders(session), "customers", on="id", how=how, shuffle=shuffle, **cache, **more
    )
    assert rows(looked_up) == rows(orders(session).join(as_table(session), "id", how))


def test_answers_that_are_large_come_in_several_batches(classic_session: SparkSession) -> None:
    class Many:
        schema = "id BIGINT, name STRING"
        keys = ("id",)

        def lookup(self, keys: pa.Table) -> pa.Table:
            import pyarrow

            found = [n for n in keys["id"].to_pylist() if n < 5 for _ in range(40_000)]
            names = [str(n) for n in found]
            return pyarrow.table({"id": pyarrow.array(found, "int64"), "name": names})

    register_lookup(classic_session, "many", Many())
    asked = classic_session.range(0, 20, 1, 1).selectExpr("id AS no", "id % 10 AS id")
    joined = lookup_join(asked, "many", on="id", how="left").groupBy("no", "name").count()
    expected = [(n, str(n % 10), 40_000) if n % 10 < 5 else (n, None, 1) for n in range(20)]
    assert sorted(tuple(row) for row in joined.collect()) == expected


def test_takes_flinks_text(session: SparkSession) -> None:
    register_lookup(session, "customers", customers())
    orders(session).createOrReplaceTempView("orders")
    as_table(session).createOrReplaceTempView("plain")
    text = """
        SELECT /*+ LOOKUP('table'='c', 'shuffle'='true', 'async'='true',
            'retry-predicate'='lookup_miss', 'retry-strategy'='fixed_delay', 'fixed-delay'='1ms',
            'max-attempts'='2') */ o.no, c.name
        FROM orders AS o JOIN customers AS c ON o.id = c.id"""
    plain = "SELECT o.no, c.name FROM orders AS o JOIN plain AS c ON o.id = c.id"
    assert rows(session.sql(text)) == rows(session.sql(plain))


def test_takes_a_condition_with_more_than_keys(session: SparkSession) -> None:
    register_lookup(session, "customers", customers())

    def joined(dimension: DataFrame, how: Callable[..., DataFrame]) -> DataFrame:
        left, right = orders(session).alias("o"), dimension.alias("c")
        on = (left["id"] == right["id"]) & (right["part"] <= left["part"]) & (right["part"] > 0)
        return how(left, right, on).select("o.no", "c.name", "c.tags")

    ours = joined(session.table("customers"), lambda o, c, on: lookup_join(o, c, on, "left"))
    plain = joined(as_table(session), lambda o, c, on: o.join(c.hint("broadcast"), on, "left"))
    assert rows(ours) == rows(plain)


def test_streams(session: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "orders"
    orders(session).write.parquet(str(source))
    register_lookup(session, "customers", customers(), cache="PARTIAL", max_rows=50)
    stream = session.readStream.schema(orders(session).schema).parquet(str(source))
    query = (
        lookup_join(stream, "customers", on="id", how="left", shuffle=True)
        .select("no", "id", "name", "tags")
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .option("maxFilesPerTrigger", 1)
        .trigger(availableNow=True)
        .start(str(tmp_path / "enriched"), format="parquet")
    )
    assert query.awaitTermination(120)
    joined = orders(session).join(as_table(session), "id", "left")
    expected = joined.select("no", "id", "name", "tags")
    assert rows(session.read.parquet(str(tmp_path / "enriched"))) == rows(expected)


def test_changelogs(session: SparkSession, tmp_path: Path) -> None:
    """What is above an aggregate of a stream: rows go with the answers that they came with."""
    source = tmp_path / "orders"
    orders(session).repartition(2).write.parquet(str(source))
    register_lookup(session, "customers", customers())

    def enriched(rows: DataFrame) -> DataFrame:
        counts = rows.groupBy("id").count()
        joined = lookup_join(counts, "customers", on="id", how="left", shuffle=True)
        return joined.groupBy("name").agg({"count": "sum"})

    stream = session.readStream.schema(orders(session).schema)
    changes = enriched(stream.option("maxFilesPerTrigger", 1).parquet(str(source)))
    query = (
        changes.selectExpr("*", "row_kind() AS op")
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "changes"), format="parquet")
    )
    assert query.awaitTermination(120)
    told = session.read.parquet(str(tmp_path / "changes"))
    told.createOrReplaceTempView("told")
    left = session.sql(
        "SELECT name, `sum(count)`, sum(if(op in ('+I', '+U'), 1, -1)) AS n FROM told "
        "GROUP BY name, `sum(count)` HAVING n <> 0"
    )
    assert {row.op for row in told.select("op").distinct().collect()} >= {"+I", "-U", "+U"}
    assert rows(left.drop("n")) == rows(enriched(orders(session)))
    assert all(row.n == 1 for row in left.collect())


def test_a_cache_belongs_to_one_run(classic_session: SparkSession, tmp_path: Path) -> None:
    class Noted:
        schema = "id BIGINT, name STRING"
        keys = ("id",)
        log = str(tmp_path / "asked")

        def lookup(self, keys: pa.Table) -> pa.Table:
            with open(self.log, "a") as log:  # noqa: PTH123 - pickled by value, imports nothing
                log.write("asked\n")
            return keys.append_column("name", keys["id"].cast("string"))

    register_lookup(classic_session, "noted", Noted(), cache="PARTIAL", max_rows=100)
    joined = lookup_join(classic_session.range(0, 10, 1, 1), "noted", on="id")
    for runs in (1, 2):
        assert joined.count() == len(joined.collect()) == 10
        assert len(Path(Noted.log).read_text().splitlines()) == 2 * runs


def test_explain_names_the_partitioner(session: SparkSession) -> None:
    register_lookup(session, "customers", customers())
    joined = lookup_join(orders(session), "customers", on="id", shuffle=True)
    (fired,) = firesteel.explain(joined).fired
    assert "partitioner of customers" in str(fired)


def test_registering_again_replaces(session: SparkSession) -> None:
    register_lookup(session, "customers", customers(fails_at=1))
    register_lookup(session, "customers", customers())
    assert lookup_join(session.range(4), "customers", on="id").count() == 6


def test_a_query_goes_on_with_what_it_was_made_with(classic_session: SparkSession) -> None:
    session = classic_session  # over Connect a query is its text, and finds the new table
    register_lookup(session, "c", customers())
    made = lookup_join(orders(session), "c", on="id").select("no", "c.name", "c.part")
    expected = rows(made)

    class Turned:
        schema = "name STRING, id BIGINT, part STRING"
        keys = ("id",)

        def lookup(self, keys: pa.Table) -> pa.Table:
            import pyarrow

            none = pyarrow.array(["?"] * len(keys), "string")
            return pyarrow.table({"name": none, "id": keys["id"], "part": none})

    register_lookup(session, "c", Turned())
    assert rows(made) == expected
    assert {row.name for row in rows(lookup_join(orders(session), "c", on="id"))} == {"?"}


def test_functions_of_python_and_random_columns_above_the_dimension(session: SparkSession) -> None:
    from pyspark.sql.functions import udf

    register_lookup(session, "c", customers())
    as_table(session).createOrReplaceTempView("t")
    # Spark pushes no function onto the dimension that it may not call again.
    is_first = udf(lambda part: part == 0, "boolean").asNondeterministic()
    session.udf.register("is_first", is_first)
    session.udf.register("loud", udf(lambda name: name.upper() + "!", "string"))
    orders(session).createOrReplaceTempView("o")
    for query in (
        "SELECT o.no, d.name FROM o JOIN {} d ON o.id = d.id WHERE is_first(d.part)",
        "SELECT o.no, d.l FROM o JOIN (SELECT id, loud(name) AS l FROM {}) d ON o.id = d.id",
    ):
        assert rows(session.sql(query.format("c"))) == rows(session.sql(query.format("t")))
    random = session.sql(
        "SELECT o.no, d.r, o.no / 500 AS least FROM o "
        "JOIN (SELECT id, rand() AS r FROM c) d ON o.id = d.id AND d.r > o.no / 500"
    ).collect()
    assert random
    assert all(row.r > row.least for row in random)


def sized(session: SparkSession) -> None:
    """Make three functions `<kind>_size(BIGINT)`: by row, by pandas series, by Arrow array."""
    from pyspark.sql import functions

    kinds: Any = functions  # whose stubs leave some out

    def of_series(ids: pd.Series) -> pd.Series:
        return ids % 10

    def of_array(ids: pa.Array) -> pa.Array:
        return pa.array([None if n is None else n % 10 for n in ids.to_pylist()], "int64")

    session.udf.register("row_size", kinds.udf(lambda n: None if n is None else n % 10, "bigint"))
    session.udf.register("pandas_size", kinds.pandas_udf(of_series, "bigint"))
    session.udf.register("arrow_size", kinds.arrow_udf(of_array, "bigint"))


@pytest.mark.parametrize("kind", ["row", "pandas", "arrow"])
def test_functions_of_python_about_keys(classic_session: SparkSession, kind: str) -> None:
    session, size = classic_session, f"{kind}_size"
    register_lookup(session, "c", customers())
    as_table(session).createOrReplaceTempView("t")
    orders(session).createOrReplaceTempView("o")
    sized(session)
    for query in (
        f"SELECT o.no, d.name FROM o JOIN {{}} d ON o.id = d.id WHERE {size}(o.id) > 4",
        f"SELECT o.no, d.name FROM o LEFT JOIN {{}} d ON o.id = d.id WHERE {size}(o.id) > 4",
        f"SELECT o.no, d.name FROM o LEFT JOIN (SELECT * FROM {{}} WHERE {size}(id) > 4) d "
        "ON o.id = d.id",
    ):
        assert rows(session.sql(query.format("c"))) == rows(session.sql(query.format("t"))), query


@pytest.mark.parametrize("kind", ["row", "pandas", "arrow"])
def test_functions_of_python_about_other_columns(classic_session: SparkSession, kind: str) -> None:
    session, size = classic_session, f"{kind}_size"
    register_lookup(session, "c", customers())
    as_table(session).createOrReplaceTempView("t")
    orders(session).createOrReplaceTempView("o")
    sized(session)
    for query in (
        f"SELECT o.no, d.name FROM o JOIN {{}} d ON o.id = d.id WHERE {size}(d.part) > 0",
        f"SELECT o.no, d.s FROM o JOIN (SELECT id, part, {size}(part + id) AS s FROM {{}}) d "
        f"ON o.id = d.id AND d.s > o.part WHERE {size}(d.part) < 2 "
        "AND d.part IN (SELECT part FROM o)",
        f"SELECT o.no FROM o JOIN {{}} d ON o.id = d.id WHERE {size}(d.id) > {size}(d.part) "
        "LIMIT 900",
    ):
        assert rows(session.sql(query.format("c"))) == rows(session.sql(query.format("t"))), query


def test_functions_of_python_about_both_or_a_partitioned_table(session: SparkSession) -> None:
    register_lookup(session, "c", customers())
    as_table(session).createOrReplaceTempView("t")
    orders(session).createOrReplaceTempView("o")
    sized(session)
    session.sql(
        "CREATE TABLE IF NOT EXISTS parted (no BIGINT, id BIGINT) USING parquet PARTITIONED BY (id)"
    )
    session.sql("INSERT OVERWRITE parted SELECT no, id FROM o WHERE no < 40")
    try:
        for query in (
            "SELECT o.no, d.name FROM o JOIN {} d ON o.id = d.id AND row_size(o.no + d.part) > 3",
            "SELECT p.no, d.name FROM parted p JOIN {} d ON p.id = d.id WHERE row_size(d.part) > 0",
            "SELECT p.no, d.name FROM parted p JOIN {} d ON p.id = d.id WHERE row_size(p.id) > 4",
        ):
            looked_up, plain = (rows(session.sql(query.format(name))) for name in ("c", "t"))
            assert looked_up == plain, query
    finally:
        session.sql("DROP TABLE parted")


def test_a_function_of_python_between_shuffles(classic_session: SparkSession) -> None:
    """Adaptive execution plans anew when the exchange below the lookup is done."""
    session = classic_session
    register_lookup(session, "c", customers())
    as_table(session).createOrReplaceTempView("t")
    orders(session).createOrReplaceTempView("o")
    sized(session)
    query = (
        "SELECT /*+ LOOKUP('table'='d', 'shuffle'='true') */ d.part, count(*) FROM o JOIN {} d "
        "ON o.id = d.id WHERE row_size(d.part) > 0 GROUP BY d.part"
    )
    plain = query.replace("/*+ LOOKUP('table'='d', 'shuffle'='true') */", "").format("t")
    looked_up = session.sql(query.format("c"))
    assert rows(looked_up) == rows(session.sql(plain))
    (fired,) = [f for f in firesteel.explain(looked_up).fired if f.rule == "PlanLookupJoin"]
    assert "partitioner of c" in str(fired)


def test_plans_show_neither_json_nor_the_names_of_registrations(session: SparkSession) -> None:
    register_lookup(session, "customers", customers(), cache="PARTIAL", max_rows=9)
    joined = lookup_join(orders(session), "customers", on="id", how="left", shuffle=True)
    for mode in ("simple", "formatted"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            joined.explain(mode=mode)
        plan = printed.getvalue()
        for raw in ('"', "__firesteel", "input[", "LookupContext"):
            assert raw not in plan, plan
        for part in (
            "table=[customers], connector=[Python], joinType=[LEFT OUTER], lookup=[id=",
            "columns=[id, part, name, tags], cache=[PARTIAL], "
            "shuffle=[custom: partitioner of customers into",
            "lookup_customers(request, lookup_partition",
            "partition_customers(request, id",
        ):
            assert part in plan, plan


def test_a_partitioner_that_takes_batches_gives_the_same_rows(session: SparkSession) -> None:
    class Batches(type(customers())):  # type: ignore[misc] # a class made for one test
        def partition_batch(self, join_keys: pa.Table, num_partitions: int) -> Any:  # noqa: ANN401
            return join_keys["id"].to_numpy() % num_partitions

        def partition(self, join_keys: Row, num_partitions: int) -> int:
            raise AssertionError("asked for a single key")

    register_lookup(session, "customers", Batches())
    joined = lookup_join(orders(session), "customers", on="id", how="left", shuffle=True)
    assert rows(joined) == rows(orders(session).join(as_table(session), "id", "left"))


@pytest.mark.parametrize("step", ["open", "close", "partition"])
def test_what_a_connector_raises_is_told_with_its_name_and_what_it_was_about(
    session: SparkSession, step: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(f"no {step} today")

    broken = type(customers())
    setattr(broken, step, fail)
    register_lookup(session, "customers", broken())
    subject = "id = " if step == "partition" else "lookup customers, stage"
    message = f"'customers' failed in {step} for {subject}.*: OSError: no {step} today"
    with pytest.raises(PySparkException, match=message):
        lookup_join(session.range(4), "customers", on="id", shuffle=True).collect()


def test_unregistering_removes_the_table(session: SparkSession) -> None:
    def functions() -> int:
        shown = session.sql("SHOW USER FUNCTIONS LIKE '__firesteel_*_cust_names_*'")
        return len(shown.collect())

    register_lookup(session, "Cust_Names", customers())
    register_lookup(session, "Cust_Names", customers())
    assert functions() == 4
    firesteel.unregister_lookup(session, "Cust_Names")
    assert not session.catalog.tableExists("Cust_Names")
    assert functions() == 0
    firesteel.unregister_lookup(session, "Cust_Names")


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"fails_at": 2}, "'customers' failed in lookup for id = .*OSError: the store is away"),
        ({"answer_type": "int64"}, "'customers' returned column 'name' as int64"),
    ],
    ids=str,
)
def test_a_failing_connector_is_named(
    session: SparkSession, broken: dict[str, Any], message: str
) -> None:
    register_lookup(session, "customers", customers(**broken))
    with pytest.raises(PySparkException, match=message) as raised:
        lookup_join(session.range(4), "customers", on="id").collect()
    above, _, _ = str(raised.value).partition("LookupFailedError: ")
    assert "Traceback" not in above  # the sentence comes before any stack


@pytest.mark.parametrize("number", [-1, 99])
def test_a_partition_out_of_range_is_refused(session: SparkSession, number: int) -> None:
    register_lookup(session, "customers", customers(partition_of=number))
    with pytest.raises(PySparkException, match="BAD_PARTITION"):
        lookup_join(session.range(4), "customers", on="id", shuffle=True).collect()


def test_an_incomplete_retry_is_refused(session: SparkSession) -> None:
    register_lookup(session, "customers", customers())
    with pytest.raises(PySparkException, match="INCOMPLETE_RETRY"):
        lookup_join(session.range(4), "customers", on="id", max_attempts=3).collect()


def test_an_option_without_its_cache_is_refused(session: SparkSession) -> None:
    register_lookup(session, "customers", customers())
    unused: list[dict[str, Any]] = [{"max_rows": 9}, {**PARTIAL, "reload_interval": "1 h"}]
    for options in unused:
        with pytest.raises(PySparkException, match="UNUSED_OPTION"):
            lookup_join(session.range(4), "customers", on="id", **options).collect()


def test_a_table_without_a_connector_is_loaded_whole(session: SparkSession) -> None:
    as_table(session).createOrReplaceTempView("plain")
    joined = lookup_join(orders(session), "plain", on="id", how="left")
    assert rows(joined) == rows(orders(session).join(as_table(session), "id", "left"))


@pytest.mark.parametrize("name", ["sqlite_connector", "http_connector"])
def test_examples_run(run: Callable[..., str], name: str) -> None:
    printed = run(sys.executable, EXAMPLES / f"{name}.py")
    assert "of 2000 orders have a known customer" in printed


CLUSTER = """
import sys
import firesteel
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", False)
spark = firesteel.configure(builder.config("spark.sql.shuffle.partitions", 4)).getOrCreate()


class Workers:
    schema = "id BIGINT, has_firesteel BOOLEAN"
    keys = ("id",)

    def open(self, task: firesteel.TaskInfo, context: firesteel.LookupContext) -> None:
        self.count = task.count

    def lookup(self, keys):
        import importlib.util
        import pyarrow

        has = importlib.util.find_spec("firesteel") is not None
        return keys.append_column("has_firesteel", pyarrow.array([has] * len(keys)))

    def partition(self, join_keys, num_partitions):
        return join_keys.id % num_partitions


firesteel.register_lookup(spark, "workers", Workers(), cache="PARTIAL", max_rows=100)
orders = spark.range(0, 1000, 1, 4).selectExpr("id % 50 AS id")
joined = firesteel.lookup_join(orders, "workers", on="id", shuffle=True)
print("rows:", joined.count(), joined.select("has_firesteel").distinct().collect())
spark.stop()
"""


def test_workers_of_a_cluster_need_no_firesteel(
    run_python: Callable[..., str], writable_spark_home: Path, bare_python: Path
) -> None:
    environment = {"SPARK_HOME": str(writable_spark_home), "PYSPARK_PYTHON": str(bare_python)}
    printed = run_python(CLUSTER, **environment)
    assert "rows: 1000 [Row(has_firesteel=False)]" in printed


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """A Python with the packages of this one, but not those installed as editable: firesteel."""
    wrapper = tmp_path / "python"
    packages = Path(pa.__file__).parents[1]
    wrapper.write_text(
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec "{sys._base_executable}" "$@"\n'  # type: ignore[attr-defined]
    )
    wrapper.chmod(0o755)
    return wrapper
