"""DataFusion Comet, in both orders of the extensions: answers, and rules that fire or say why not.

Every answer is compared with that of stock Spark, without either.
"""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import firesteel
import firesteel.lookup
from tests.python.beside.answers import Row, run
from tests.python.beside.own_spark import EXTENSION, OwnSpark, own_spark
from tests.python.beside.parts import COMET, jars, require

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

COMET_EXTENSION = "org.apache.comet.CometSparkSessionExtensions"
COMET_SHUFFLES = "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager"
FIRST = {"comet": (COMET_EXTENSION, EXTENSION), "firesteel": (EXTENSION, COMET_EXTENSION)}
LIBRARY = require("DataFusion Comet", COMET)

# One query of each kind, by the rule that fires; {n} is a random number from 1 to 9.
QUERIES = {
    "PlanPanes": "SELECT window(ts, '1 day', '1 hour') w, sum(v) s FROM few GROUP BY 1",
    "PlanPanes by key": """
        SELECT k, window(ts, '{n} hours', '1 hour') w, sum(v) s, count(*) c, max(n) m FROM facts
        GROUP BY 1, 2""",
    "PlanTopN": """
        SELECT * FROM (SELECT k, g, n, v, row_number() OVER
          (PARTITION BY k ORDER BY n DESC, id, v) AS place FROM facts) WHERE place <= {n}""",
    "PlanTopN with ties": """
        SELECT * FROM (SELECT g, n, rank() OVER (PARTITION BY g ORDER BY n) AS place FROM facts)
        WHERE place <= {n}""",
    "PlanDistinctAggregate": "SELECT k, size(collect_set(g)) z, count(*) c FROM facts GROUP BY k",
    "MergeDistinct": """
        SELECT k, count(DISTINCT n) a, count(DISTINCT g) b, sum(v) s, max(n) m FROM facts
        GROUP BY k""",
    "MergeDistinct of all": "SELECT count(DISTINCT n) a, count(DISTINCT g, k) b FROM facts",
    "SortPercentiles": """
        SELECT k, percentile(v, 0.{n}) p, percentile(n, array(0.1, 0.{n})) q, median(id) m
        FROM facts GROUP BY k""",
    "MergeGlobalAggregates": """
        SELECT (SELECT sum(v) FROM facts WHERE n < {n}) a,
               (SELECT count(*) FROM facts WHERE n > {n}) b""",
    "RemoveRedundantShuffle": """
        SELECT k, count(*) c, max(s) m FROM
          (SELECT k, id, sum(v) s FROM facts GROUP BY k, id) GROUP BY k""",
    "lookup": """
        SELECT /*+ LOOKUP('table'='n', 'shuffle'='true') */ few.id, n.name
        FROM few JOIN {names} AS n ON few.k = n.k""",
}

# What stands above; adaptive execution drops these where it believes a row count. `all` lists the
# columns.
ABOVE = {
    "alone": "{q}",
    "limit": "SELECT * FROM ({q}) LIMIT 5",
    "distinct": "SELECT DISTINCT * FROM ({q})",
    "one column": "SELECT DISTINCT {last} FROM ({q})",
    "order": "SELECT * FROM ({q}) ORDER BY {all}",
    "top": "SELECT * FROM ({q}) ORDER BY {all} LIMIT 7",
    "union": "SELECT * FROM ({q}) UNION ALL SELECT * FROM ({q})",
    "union distinct": "SELECT * FROM ({q}) UNION SELECT * FROM ({q})",
    "count": "SELECT count(*) FROM ({q})",
    "join": "SELECT a.* FROM ({q}) a CROSS JOIN range(2)",
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnSpark]:
    found = sorted(jars(LIBRARY).glob("*.jar"))
    with own_spark(found, tmp_path_factory.mktemp("comet")) as started:
        yield started


@pytest.fixture(scope="module", params=list(FIRST))
def first(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def spark(own: OwnSpark, first: str, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    warned = (
        pytest.warns(UserWarning, match="name io.firesteel.FiresteelExtensions first")
        if first == "comet"
        else contextlib.nullcontext()
    )
    with warned:
        session = own.start(
            *FIRST[first],
            spark__shuffle__manager=COMET_SHUFFLES,
            spark__comet__exec__shuffle__enabled=True,
            spark__memory__offHeap__enabled=True,
            spark__memory__offHeap__size="1g",
            # A source so small is not sampled otherwise.
            spark__firesteel__shuffle__sampleMinSize=0,
            spark__firesteel__shuffle__minKeysPerPartition=0,
        )
    folder = tmp_path_factory.mktemp("tables")
    rows = """
        SELECT id, id % 7 AS k, concat('g', id % 11) AS g,
               IF(id % 13 = 0, NULL, pmod(xxhash64(id), 50)) AS n,
               CAST(pmod(xxhash64(id, 1), 90) AS DOUBLE) AS v,
               timestamp_seconds(1700000000 + pmod(xxhash64(id, 2), {seconds})) AS ts
        FROM range(0, {count}, 1, 3)"""
    for name, count, seconds in (("facts", 3000, 400_000), ("few", 1000, 600)):
        path = str(folder / name)
        session.sql(rows.format(count=count, seconds=seconds)).write.parquet(path)
        session.read.parquet(path).createOrReplaceTempView(name)
    names = session.range(40).selectExpr("id % 5 AS k", "concat('name', id) AS name")
    names.write.parquet(str(folder / "names"))
    session.read.parquet(str(folder / "names")).createOrReplaceTempView("names")
    firesteel.lookup.register_lookup(session, "many_names", ManyNames())
    return session


class ManyNames:
    """The rows of the table `names`: eight for each key."""

    schema = "k BIGINT, name STRING"
    keys = ("k",)

    def lookup(self, keys: pa.Table) -> pa.Table:
        import pyarrow

        found = [(k, f"name{i}") for k in keys["k"].to_pylist() for i in range(k, 40, 5) if k < 5]
        columns = {"k": [k for k, _ in found], "name": [name for _, name in found]}
        return pyarrow.table(columns, pyarrow.schema([("k", "int64"), ("name", "string")]))


@contextlib.contextmanager
def stock(spark: SparkSession) -> Iterator[None]:
    """Switches both off, and on again."""
    spark.conf.set("spark.firesteel.enabled", False)
    spark.conf.set("spark.comet.enabled", False)
    try:
        yield
    finally:
        spark.conf.unset("spark.firesteel.enabled")
        spark.conf.set("spark.comet.enabled", True)


def rows_of(spark: SparkSession, sql: str) -> list[Row]:
    return [tuple(row) for row in spark.sql(sql).collect()]


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("kind", list(QUERIES))
def test_answers(spark: SparkSession, kind: str, adaptive: bool) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    rng = random.Random(f"{kind} {adaptive}")
    for name, above in ABOVE.items():
        query = QUERIES[kind].format(n=rng.randint(1, 9), names="many_names")
        columns = spark.sql(query).columns
        sql = above.format(q=query, all=", ".join(columns), last=columns[-1])
        found = rows_of(spark, sql)
        with stock(spark):
            sql = sql.replace("many_names", "names")  # a connector needs firesteel
            if name == "limit":  # which rows is open
                expected = rows_of(spark, query.replace("many_names", "names"))
                assert len(found) == min(5, len(expected)), (name, sql)
                assert not Counter(map(repr, found)) - Counter(map(repr, expected)), (name, sql)
                continue
            expected = rows_of(spark, sql)
        if name in ("order", "top"):
            assert list(map(repr, found)) == list(map(repr, expected)), (name, sql)
        else:
            assert Counter(map(repr, found)) == Counter(map(repr, expected)), (name, sql)


def test_rules_fire_or_name_the_operator(spark: SparkSession, first: str) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", True)
    for kind, query in QUERIES.items():
        rule = kind.split(" ", maxsplit=1)[0]
        if rule == "lookup":
            continue
        df = spark.sql(query.format(n=3))
        df.collect()
        explained = firesteel.explain(df)
        spark.conf.set("spark.comet.enabled", False)
        alone = spark.sql(query.format(n=3))
        alone.collect()
        fires_alone = rule in {one.rule for one in firesteel.explain(alone).fired}
        spark.conf.set("spark.comet.enabled", True)
        fires = rule in {one.rule for one in explained.fired}
        if rule == "RemoveRedundantShuffle" and first == "comet":
            assert "SHUFFLE.OTHER_EXCHANGE" in {one.code for one in explained.declined}, explained
            assert "CometColumnarExchange" in str(explained) or "CometExchange" in str(explained)
        else:
            assert fires == fires_alone, (kind, explained)


def test_percentiles_that_comet_computes_are_comets(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", True)
    for native, calls in ((True, "percentile(n, 0.3)"), (False, "percentile(n, array(0.1, 0.3))")):
        df = spark.sql(f"SELECT k, {calls} p FROM facts GROUP BY k")
        df.collect()
        explained = firesteel.explain(df)
        assert ("CometHashAggregate" in explained.plan) == native, explained.plan
        assert ("PartialPercentiles" in explained.plan) == (not native), explained.plan
        why = [one for one in explained.declined if one.code == "SKEW.NATIVE_PERCENTILE"]
        assert [one.values for one in why] == (
            [{"operator": "CometHashAggregate"}] if native else []
        )


def test_both_say_their_reasons_in_sparks_explain(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", True)
    providers = "org.apache.comet.ExtendedExplainInfo,io.firesteel.FiresteelExplainInfo"
    spark.conf.set("spark.sql.extendedExplainProviders", providers)
    query = QUERIES["PlanTopN"].format(n=3)
    text = spark.sql(f"EXPLAIN EXTENDED {query}").collect()[0][0]
    spark.conf.unset("spark.sql.extendedExplainProviders")
    assert "== Extended Information (firesteel) ==\nPlanTopN fired: " in text, text
    assert "== Extended Information (Comet) ==" in text


def test_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", True)
    (tmp_path / "in").mkdir()
    source = spark.readStream.schema("user STRING").parquet(str(tmp_path / "in"))
    source.createOrReplaceTempView("clicks")
    counts = "SELECT c, count(*) AS users FROM (SELECT user, count(*) AS c FROM {} GROUP BY user)"
    df = spark.sql(f"SELECT *, row_kind() AS op FROM ({counts.format('clicks')} GROUP BY c)")
    kept: Counter[Row] = Counter()
    seen: Counter[str] = Counter()
    for part in ("aab", "bcdb", "", "aaaa"):
        users = [(user,) for user in part]
        spark.createDataFrame(users, "user STRING").coalesce(1).write.mode("append").parquet(
            str(tmp_path / "in")
        )
        seen.update(part)

        def apply(batch: object, _: int) -> None:
            for *values, op in batch.collect():  # type: ignore[attr-defined]
                kept[tuple(values)] += 1 if op in ("+I", "+U") else -1

        run(df, tmp_path / "c", apply)
        assert +kept == Counter((c, n) for c, n in Counter(seen.values()).items())
