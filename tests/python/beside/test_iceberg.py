"""Iceberg tables: both parsers, both orders of the extensions, batch and streams.

Every answer is compared with Python's own, or with stock Spark's.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import firesteel
from tests.python.beside.answers import (
    TOP,
    looks_up_the_newest_rows,
    run,
    same,
    stock,
    written_once,
)
from tests.python.beside.own_spark import EXTENSION, OwnSpark, own_spark
from tests.python.beside.parts import ICEBERG, jars, require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ICEBERG_EXTENSION = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
CATALOG = "org.apache.iceberg.spark.SparkCatalog"
ORDERS = {
    "iceberg first": (ICEBERG_EXTENSION, EXTENSION),
    "firesteel first": (EXTENSION, ICEBERG_EXTENSION),
}
LIBRARY = require("Iceberg", ICEBERG)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnSpark]:
    found = sorted(jars(LIBRARY).glob("*.jar"))
    with own_spark(found, tmp_path_factory.mktemp("iceberg")) as started:
        yield started


@pytest.fixture(scope="module", params=list(ORDERS))
def spark(
    own: OwnSpark, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> SparkSession:
    session = own.start(
        *ORDERS[request.param],
        spark__sql__catalog__ice=CATALOG,
        spark__sql__catalog__ice__type="hadoop",
        spark__sql__catalog__ice__warehouse=str(tmp_path_factory.mktemp("ice")),
        # foreachBatch has a session and a catalog of its own, and its changes would not be seen.
        **{"spark__sql__catalog__ice__cache-enabled": False},
        # Views are kept by few catalogs; this one lives in memory.
        spark__sql__catalog__mem=CATALOG,
        **{"spark__sql__catalog__mem__catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog"},
    )
    session.sql("CREATE NAMESPACE ice.db")
    session.sql("CREATE NAMESPACE mem.db")
    rng = random.Random(4)
    people = [(i, rng.choice("abcd"), rng.randrange(100)) for i in range(200)]
    df = session.createDataFrame(people, "id INT, city STRING, n INT")
    df.writeTo("ice.db.people").create()
    session.table("ice.db.people").createOrReplaceTempView("people")
    return session


def test_statements_of_its_parser(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE ice.db.t (id INT, v STRING, at DATE) USING iceberg")
    spark.sql("ALTER TABLE ice.db.t ADD PARTITION FIELD bucket(4, id)")
    spark.sql("ALTER TABLE ice.db.t WRITE ORDERED BY id")
    spark.sql("INSERT INTO ice.db.t VALUES (1, 'a', DATE'2024-01-01'), (2, 'b', NULL)")
    first = spark.sql("SELECT max(snapshot_id) FROM ice.db.t.snapshots").collect()[0][0]
    spark.sql("ALTER TABLE ice.db.t CREATE TAG one")
    spark.sql("ALTER TABLE ice.db.t CREATE BRANCH aside")
    spark.sql("INSERT INTO ice.db.t.branch_aside VALUES (9, 'z', NULL)")
    spark.sql("INSERT INTO ice.db.t VALUES (3, 'c', NULL)")
    assert same(spark, "SELECT id FROM ice.db.t") == [(1,), (2,), (3,)]
    assert same(spark, "SELECT id FROM ice.db.t VERSION AS OF 'aside'") == [(1,), (2,), (9,)]
    spark.sql("CALL ice.system.rewrite_data_files(table => 'db.t')").collect()
    spark.sql(f"CALL ice.system.rollback_to_snapshot('db.t', {first})").collect()
    assert same(spark, "SELECT id FROM ice.db.t") == [(1,), (2,)]
    spark.sql("CALL ice.system.fast_forward('db.t', 'main', 'aside')").collect()
    assert same(spark, "SELECT id FROM ice.db.t") == [(1,), (2,), (9,)]
    spark.sql("ALTER TABLE ice.db.t DROP BRANCH aside")
    spark.sql("DELETE FROM ice.db.t WHERE id = 2")
    spark.sql("UPDATE ice.db.t SET v = 'y' WHERE id = 1")
    assert same(spark, "SELECT id, v FROM ice.db.t") == [(1, "y"), (9, "z")]
    spark.sql("DROP TABLE ice.db.t")


def test_parameters(spark: SparkSession) -> None:
    named = spark.sql("SELECT count(*) FROM ice.db.people WHERE id < :n", args={"n": 7})
    assert named.collect()[0][0] == 7
    assert spark.sql("SELECT max(id) FROM people WHERE id < ?", args=[7]).collect()[0][0] == 6


def test_time_travel(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE ice.db.old (id INT) USING iceberg")
    spark.sql("INSERT INTO ice.db.old VALUES (1)")
    first, at = spark.sql(
        "SELECT snapshot_id, CAST(committed_at AS STRING) FROM ice.db.old.snapshots"
    ).collect()[0]
    spark.sql("ALTER TABLE ice.db.old CREATE TAG one")
    spark.sql("INSERT INTO ice.db.old VALUES (2)")
    for written in (
        f"VERSION AS OF {first}",
        "VERSION AS OF 'one'",
        f"FOR SYSTEM_VERSION AS OF {first}",
        f"TIMESTAMP AS OF '{at}'",
        f"FOR SYSTEM_TIME AS OF '{at}'",
    ):
        assert same(spark, f"SELECT * FROM ice.db.old {written}") == [(1,)]
    both = f"SELECT count(*) FROM ice.db.old a JOIN ice.db.old VERSION AS OF {first} b USING (id)"
    assert same(spark, both) == [(1,)]
    spark.sql("DROP TABLE ice.db.old")


def test_views_without_our_clauses(spark: SparkSession) -> None:
    spark.sql(f"CREATE VIEW mem.db.top AS {TOP.replace('people', 'ice.db.people')}")
    assert same(spark, "SELECT * FROM mem.db.top", "PlanTopN") == same(spark, TOP)
    spark.sql("CREATE OR REPLACE VIEW mem.db.top AS SELECT count(*) AS n FROM ice.db.people")
    assert same(spark, "SELECT * FROM mem.db.top") == [(200,)]
    spark.sql("DROP VIEW mem.db.top")


def test_rules_fire_over_its_scans(spark: SparkSession) -> None:
    assert len(same(spark, TOP, "PlanTopN")) == 12
    several = "SELECT city, count(DISTINCT id), count(DISTINCT n), sum(n) FROM people GROUP BY city"
    assert len(same(spark, several)) == 4
    # Iceberg can compute some aggregates itself, though not these.
    declined = firesteel.explain(spark.sql(several)).declined
    assert "SKEW.SOURCE_AGGREGATES" in [one.code for one in declined]


def test_a_merge_and_a_table_from_a_top_n(spark: SparkSession) -> None:
    expected = same(spark, TOP, "PlanTopN")
    spark.sql(f"CREATE TABLE ice.db.top USING iceberg AS {TOP}")
    assert same(spark, "SELECT * FROM ice.db.top") == expected
    spark.sql("UPDATE ice.db.top SET n = -1")
    spark.sql("DELETE FROM ice.db.top WHERE city = 'a'")
    spark.sql(f"""
        MERGE INTO ice.db.top AS t USING ({TOP}) AS s ON t.city = s.city AND t.place = s.place
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""")
    assert same(spark, "SELECT city, id, n, place FROM ice.db.top") == expected
    spark.sql("DROP TABLE ice.db.top")


@pytest.mark.parametrize("adaptive", [True, False])
def test_storage_partitioned_joins_are_left_alone(spark: SparkSession, adaptive: bool) -> None:
    """No shuffle is added, and no rule fires."""
    for name in ("a", "b"):
        spark.sql(f"""CREATE TABLE ice.db.{name} (k INT, v INT) USING iceberg
            PARTITIONED BY (bucket(4, k))""")
        spark.sql(f"INSERT INTO ice.db.{name} SELECT id % 50, n FROM people")
    settings = {
        "spark.sql.adaptive.enabled": adaptive,
        "spark.sql.autoBroadcastJoinThreshold": -1,
        "spark.sql.sources.v2.bucketing.enabled": True,
        "spark.sql.sources.v2.bucketing.pushPartValues.enabled": True,
        "spark.sql.requireAllClusterKeysForCoPartition": False,
        "spark.sql.iceberg.planning.preserve-data-grouping": True,
    }
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        join = "SELECT a.k, a.v, b.v AS w FROM ice.db.a JOIN ice.db.b ON a.k = b.k"
        joined = spark.sql(join)
        joined.collect()
        explained = firesteel.explain(joined)
        assert "Exchange" not in explained.plan, explained.plan
        assert explained.fired == ()
        assert same(spark, join)
        for above in (
            f"SELECT k, count(*), sum(v) FROM ({join}) GROUP BY k",
            f"SELECT * FROM ({join}) JOIN ice.db.a AS c USING (k)",
        ):
            df = spark.sql(above)
            df.collect()
            with stock(spark):
                plain = spark.sql(above)
                plain.collect()
                shuffles = firesteel.explain(plain).plan.count("Exchange hashpartitioning")
            found = firesteel.explain(df).plan.count("Exchange hashpartitioning")
            assert found == shuffles
            assert same(spark, above)
    finally:
        for name in settings:
            spark.conf.unset(name)
        for name in ("a", "b"):
            spark.sql(f"DROP TABLE ice.db.{name}")


def test_its_changelog_view(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE ice.db.fed (id INT, city STRING, n INT) USING iceberg")
    for statement in (
        "INSERT INTO ice.db.fed SELECT * FROM people WHERE id < 60",
        "UPDATE ice.db.fed SET n = n + 7 WHERE id % 3 = 0",
        "DELETE FROM ice.db.fed WHERE id % 5 = 0",
        "INSERT INTO ice.db.fed VALUES (0, 'a', 1)",
    ):
        spark.sql(statement)
    spark.sql("""CALL ice.system.create_changelog_view(
        table => 'db.fed', changelog_view => 'feed', identifier_columns => array('id'))""")
    feed = spark.table("feed").drop("_commit_snapshot_id")
    by_keys = firesteel.from_changelog(
        feed, "_change_type", "id", sequence_by="_change_ordinal"
    ).drop("_change_ordinal")
    whole = firesteel.from_changelog(feed.drop("_change_ordinal"), "_change_type")
    with stock(spark):
        expected = sorted(map(tuple, spark.table("ice.db.fed").collect()))
    assert sorted(map(tuple, by_keys.select("id", "city", "n").collect())) == expected
    assert sorted(map(tuple, whole.select("id", "city", "n").collect())) == expected
    spark.sql("DROP TABLE ice.db.fed")


def test_a_running_stream_looks_up_the_newest_rows(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("CREATE TABLE ice.db.names (id INT, name STRING) USING iceberg")
    looks_up_the_newest_rows(spark, "ice.db.names", tmp_path)


def test_a_stream_of_a_table_merged_in_foreach_batch(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("CREATE TABLE ice.db.clicks (user STRING) USING iceberg")
    spark.sql("CREATE TABLE ice.db.result (c BIGINT, users BIGINT) USING iceberg")
    for new in (["a", "b", "a"], ["b", "c", "d", "b"]):  # stopped, and gone on with
        df = spark.createDataFrame([(user,) for user in new], "user STRING")
        df.writeTo("ice.db.clicks").append()
        spark.readStream.table("ice.db.clicks").createOrReplaceTempView("events")
        counts = "SELECT c, count(*) AS users FROM ({}) GROUP BY c"
        per_user = "SELECT user, count(*) AS c FROM {} GROUP BY user"
        changes = spark.sql(
            f"SELECT *, row_kind() AS op FROM ({counts.format(per_user.format('events'))})"
        )

        def merge(batch: DataFrame, _: int) -> None:
            batch.createOrReplaceTempView("changes")
            batch.sparkSession.sql("""
                MERGE INTO ice.db.result USING (SELECT * FROM changes WHERE op <> '-U') AS s
                ON result.c = s.c
                WHEN MATCHED AND s.op = '-D' THEN DELETE
                WHEN MATCHED THEN UPDATE SET c = s.c, users = s.users
                WHEN NOT MATCHED AND s.op <> '-D' THEN INSERT (c, users) VALUES (s.c, s.users)""")

        run(changes, tmp_path / "c", merge)
        with stock(spark):
            expected = spark.sql(counts.format(per_user.format("ice.db.clicks"))).collect()
        assert sorted(spark.table("ice.db.result").collect()) == sorted(expected)
    spark.sql("DROP TABLE ice.db.clicks")
    spark.sql("DROP TABLE ice.db.result")


def test_a_statement_set_writes_a_micro_batch_once(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("CREATE TABLE ice.db.kept (id BIGINT) USING iceberg")
    target = {"format": "iceberg", "path": "ice.db.kept"}
    assert written_once(spark, target, tmp_path) == [(i,) for i in (0, 1, 2, 6, 7, 8)]
    # Batch 1 has been rolled back, and comes again.
    snapshots = spark.table("ice.db.kept.snapshots").orderBy("committed_at")
    first = snapshots.head()["snapshot_id"]
    spark.sql(f"CALL ice.system.rollback_to_snapshot('db.kept', {first})")
    for folder in ("offsets", "commits"):
        for name in ("1", ".1.crc"):
            (tmp_path / "checkpoint" / folder / name).unlink(missing_ok=True)
    (tmp_path / "checkpoint" / "statements" / "written").unlink()
    (tmp_path / "checkpoint" / "statements" / ".written.crc").unlink(missing_ok=True)
    stream = spark.readStream.schema("id LONG").parquet(str(tmp_path / "rows"))
    s = firesteel.statement_set(spark, tmp_path / "checkpoint")
    s.insert("rows", stream, target)
    s.insert("last", stream, lambda df, _: None)
    s.start(trigger={"availableNow": True}).awaitTermination()
    assert sorted(spark.table("ice.db.kept").collect()) == [(i,) for i in (0, 1, 2, 6, 7, 8)]
    spark.sql("DROP TABLE ice.db.kept")
