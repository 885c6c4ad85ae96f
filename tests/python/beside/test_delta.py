"""Delta Lake tables: both parsers, both orders of the extensions, batch and streams.

Every answer is compared with Python's own, or with stock Spark's.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

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
from tests.python.beside.parts import DELTA, jars, require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
ORDERS = {
    "delta first": (DELTA_EXTENSION, EXTENSION),
    "firesteel first": (EXTENSION, DELTA_EXTENSION),
}
LIBRARY = require("Delta Lake", DELTA)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnSpark]:
    found = sorted(jars(LIBRARY).glob("*.jar"))
    with own_spark(found, tmp_path_factory.mktemp("delta")) as started:
        yield started


@pytest.fixture(scope="module", params=list(ORDERS))
def spark(own: OwnSpark, request: pytest.FixtureRequest) -> SparkSession:
    session = own.start(
        *ORDERS[request.param],
        spark__sql__catalog__spark_catalog="org.apache.spark.sql.delta.catalog.DeltaCatalog",
        spark__databricks__delta__snapshotPartitions=2,
        # VACUUM lists files in so many tasks.
        spark__sql__sources__parallelPartitionDiscovery__parallelism=2,
    )
    rng = random.Random(4)
    people = [(i, rng.choice("abcd"), rng.randrange(100)) for i in range(200)]
    people_df = session.createDataFrame(people, "id INT, city STRING, n INT")
    people_df.write.format("delta").mode("overwrite").saveAsTable("people")
    return session


def test_statements_of_its_parser(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TABLE t (id INT, v STRING) USING delta")
    spark.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    spark.sql("INSERT INTO t VALUES (3, 'c')")
    assert spark.sql("OPTIMIZE t ZORDER BY (id)").count() == 1
    assert spark.sql("DESCRIBE DETAIL t").collect()[0].format == "delta"
    spark.sql("ALTER TABLE t ADD CONSTRAINT positive CHECK (id > 0)")
    operations = [row.operation for row in spark.sql("DESCRIBE HISTORY t").collect()]
    assert operations[:4] == ["ADD CONSTRAINT", "OPTIMIZE", "WRITE", "WRITE"]
    with pytest.raises(Exception, match=r"(?i)constraint"):
        spark.sql("INSERT INTO t VALUES (-1, 'x')")
    spark.sql("VACUUM t DRY RUN").collect()
    spark.sql("DELETE FROM t WHERE id = 2")
    spark.sql("UPDATE t SET v = 'z' WHERE id = 1")
    assert same(spark, "SELECT * FROM t") == [(1, "z"), (3, "c")]
    spark.sql("DROP TABLE t")


def test_time_travel(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TABLE old (id INT) USING delta")
    spark.sql("INSERT INTO old VALUES (1)")
    version = spark.sql("DESCRIBE HISTORY old").agg(F.max("version")).collect()[0][0]
    spark.sql("INSERT INTO old VALUES (2)")
    history = spark.sql("DESCRIBE HISTORY old").where(f"version = {version}")
    at = history.select(F.col("timestamp").cast("string")).collect()[0][0]
    for written in (
        f"VERSION AS OF {version}",
        f"FOR SYSTEM_VERSION AS OF {version}",
        f"TIMESTAMP AS OF '{at}'",
        f"FOR SYSTEM_TIME AS OF '{at}'",
    ):
        assert same(spark, f"SELECT * FROM old {written}") == [(1,)]
    assert same(spark, f"SELECT count(*) FROM old JOIN old VERSION AS OF {version} USING (id)") == [
        (1,)
    ]
    spark.sql("DROP TABLE old")


def test_rules_fire_over_its_scans(spark: SparkSession) -> None:
    assert len(same(spark, TOP, "PlanTopN")) == 12
    several = "SELECT city, count(DISTINCT id), count(DISTINCT n), sum(n) FROM people GROUP BY city"
    assert len(same(spark, several, "PlanDistinctAggregate")) == 4


def test_a_merge_and_a_table_from_a_top_n(spark: SparkSession) -> None:
    expected = same(spark, TOP, "PlanTopN")
    spark.sql(f"CREATE OR REPLACE TABLE top USING delta AS {TOP}")
    assert same(spark, "SELECT * FROM top") == expected
    spark.sql("UPDATE top SET n = -1")
    spark.sql("DELETE FROM top WHERE city = 'a'")
    spark.sql(f"""
        MERGE INTO top USING ({TOP}) AS s ON top.city = s.city AND top.place = s.place
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""")
    assert same(spark, "SELECT city, id, n, place FROM top") == expected
    spark.sql("DROP TABLE top")


def test_its_change_feed_by_keys_and_whole(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("CREATE OR REPLACE TABLE fed (id INT, city STRING, n INT) USING delta "
              "TBLPROPERTIES (delta.enableChangeDataFeed = true)")  # fmt: skip
    first = spark.sql("DESCRIBE HISTORY fed").agg(F.max("version")).collect()[0][0]
    rounds = [
        ["INSERT INTO fed SELECT * FROM people WHERE id < 60"],
        ["UPDATE fed SET n = n + 7 WHERE id % 3 = 0", "DELETE FROM fed WHERE id % 5 = 0"],
        ["UPDATE fed SET city = 'z' WHERE id < 9", "INSERT INTO fed VALUES (0, 'a', 1)"],
    ]
    for statements in rounds:
        for statement in statements:
            spark.sql(statement)
        reader = spark.readStream.option("readChangeFeed", True).option("startingVersion", first)
        feed = reader.table("fed")
        by_keys = firesteel.from_changelog(
            feed.drop("_commit_timestamp"), "_change_type", "id", sequence_by="_commit_version"
        )
        whole = firesteel.from_changelog(
            feed.drop("_commit_timestamp", "_commit_version"), "_change_type"
        )
        for name, table in (("keys", by_keys), ("whole", whole)):
            sums = table.groupBy("city").agg(F.count("*").alias("c"), F.sum("n").alias("n"))
            changes = sums.select("*", firesteel.row_kind().alias("op"))
            run(changes, tmp_path / f"c-{name}", firesteel.apply_changes(tmp_path / name, "city"))
            result = spark.read.format("firesteel-table").load(str(tmp_path / name))
            with stock(spark):
                expected = spark.table("fed").groupBy("city").agg(F.count("*"), F.sum("n"))
                assert sorted(map(tuple, result.collect())) == sorted(
                    map(tuple, expected.collect())
                )
    spark.sql("DROP TABLE fed")


def test_a_running_stream_looks_up_the_newest_rows(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("CREATE OR REPLACE TABLE names (id INT, name STRING) USING delta")
    looks_up_the_newest_rows(spark, "names", tmp_path)


def test_a_stream_of_a_table_merged_in_foreach_batch(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("CREATE OR REPLACE TABLE clicks (user STRING) USING delta")
    spark.sql("CREATE OR REPLACE TABLE result (c BIGINT, users BIGINT) USING delta")
    for new in (["a", "b", "a"], ["b", "c", "d", "b"]):  # stopped, and gone on with
        df = spark.createDataFrame([(user,) for user in new], "user STRING")
        df.write.format("delta").mode("append").saveAsTable("clicks")
        spark.readStream.table("clicks").createOrReplaceTempView("events")
        counts = "SELECT c, count(*) AS users FROM ({}) GROUP BY c"
        per_user = "SELECT user, count(*) AS c FROM {} GROUP BY user"
        changes = spark.sql(
            f"SELECT *, row_kind() AS op FROM ({counts.format(per_user.format('events'))})"
        )

        def merge(batch: DataFrame, _: int) -> None:
            batch.createOrReplaceTempView("changes")
            batch.sparkSession.sql("""
                MERGE INTO result USING (SELECT * FROM changes WHERE op <> '-U') AS s
                ON result.c = s.c
                WHEN MATCHED AND s.op = '-D' THEN DELETE
                WHEN MATCHED THEN UPDATE SET c = s.c, users = s.users
                WHEN NOT MATCHED AND s.op <> '-D' THEN INSERT (c, users) VALUES (s.c, s.users)""")

        run(changes, tmp_path / "c", merge)
        with stock(spark):
            expected = spark.sql(counts.format(per_user.format("clicks"))).collect()
        assert sorted(spark.table("result").collect()) == sorted(expected)
    spark.sql("DROP TABLE clicks")
    spark.sql("DROP TABLE result")


def test_a_statement_set_writes_a_micro_batch_once(spark: SparkSession, tmp_path: Path) -> None:
    target = {"format": "delta", "path": str(tmp_path / "table")}
    assert written_once(spark, target, tmp_path) == [(i,) for i in (0, 1, 2, 6, 7, 8)]


def test_a_statement_cannot_begin_at_a_start_that_is_not_kept(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = str(tmp_path / "source")
    spark.range(3).write.format("delta").save(table)
    source = spark.readStream.format("delta").option("startingVersion", "latest").load(table)

    def start(*names: str) -> StreamingQuery:
        s = firesteel.statement_set(spark, tmp_path / "checkpoint")
        for name in names:
            s.insert(name, source, lambda df, _: None, from_="start")
        return s.start()

    query = start("first")
    query.processAllAvailable()
    spark.range(3, 6).write.format("delta").mode("append").save(table)
    query.processAllAvailable()
    query.stop()
    start("first").stop()
    with pytest.raises(Exception, match="begins at the start"):
        start("first", "second").processAllAvailable()
