"""Lookup joins with a real PostgreSQL: the answers of Spark's own join, and few questions."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

import firesteel
from tests.python.postgres_server import Postgres, running

ROOT = Path(__file__).parents[2]

JOINS = (
    "o.customer = c.id",
    "o.customer = c.id AND o.country = c.country",
    "o.customer = c.id AND c.country = 'CH' AND c.score > 100",
    "o.customer = c.id AND o.amount < c.score",
    "o.token = c.token",
    "o.mood = c.mood AND o.customer = c.id",
    "o.at = c.seen",
)

CACHES = (
    "",
    ", 'lookup.cache'='PARTIAL', 'lookup.partial-cache.max-rows'='500'",
    ", 'lookup.cache'='FULL'",
)


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """A server with 5,000 customers, some of them twice."""
    with running() as server:
        server.execute("""
            CREATE TYPE mood AS ENUM ('happy', 'sad');
            CREATE TABLE customers (
              id int, country text, zone char(3), name text, score numeric(12, 2), token uuid,
              mood mood, seen timestamp, active boolean);
            INSERT INTO customers
              SELECT i, CASE i % 3 WHEN 0 THEN 'CH' WHEN 1 THEN 'DE' END, 'Z' || i % 3,
                'name ' || i, i / 4.0, md5(i::text)::uuid,
                CASE i % 2 WHEN 0 THEN 'happy' ELSE 'sad' END::mood,
                timestamp '2024-01-01' + i * interval '1 minute', i % 5 = 0
              FROM generate_series(1, 5000) AS i;
            INSERT INTO customers SELECT * FROM customers WHERE id <= 200;
            INSERT INTO customers (id, country, name) VALUES (NULL, 'CH', 'nobody');
            CREATE INDEX ON customers (id);
        """)
        yield server


@pytest.fixture
def shop(session: SparkSession, postgres: Postgres) -> SparkSession:
    """A session with `customers` in two ways, ours and Spark's, and 8,000 orders."""
    driver = subprocess.run(
        [ROOT / "build" / "driver", "org.postgresql:postgresql:42.7.5"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    session.sql(f"ADD JAR '{driver}'")
    options = postgres.options | {"dbtable": "customers", "driver": "org.postgresql.Driver"}
    for name, source in (("customers", "firesteel-jdbc"), ("plain", "jdbc")):
        session.read.format(source).options(**options).load().createOrReplaceTempView(name)
    session.range(0, 8000, 1, 4).selectExpr(
        "id",
        "if(id % 9 = 0, null, cast(id % 6000 as int)) AS customer",
        "if(id % 2 = 0, 'CH', 'DE') AS country",
        "cast(id as decimal(12, 2)) AS amount",
        "if(id % 7 = 0, 'no uuid', (SELECT max(token) FROM plain WHERE id = 5)) AS token",
        "element_at(array('happy', 'sad', 'angry'), cast(id % 3 as int) + 1) AS mood",
        "timestamp'2024-01-01' + make_interval(0, 0, 0, 0, 0, cast(id as int)) AS at",
    ).createOrReplaceTempView("orders")
    return session


def query(dimension: str, how: str, condition: str, hint: str = "") -> str:
    return (
        f"SELECT {hint} o.id, c.id AS cid, c.name, c.country, c.score, c.seen, c.active "
        f"FROM orders o {how} {dimension} c ON {condition}"
    )


def lookup(how: str, condition: str, options: str = "") -> str:
    return query("customers", how, condition, f"/*+ LOOKUP('table'='c'{options}) */")


def rows(df: DataFrame) -> list[str]:
    return sorted(map(str, df.collect()))


def assert_same(session: SparkSession, how: str, condition: str, options: str = "") -> None:
    ours = session.sql(lookup(how, condition, options))
    assert rows(ours) == rows(session.sql(query("plain", how, condition)))
    assert firesteel.explain(ours).fired


@pytest.mark.parametrize("how", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize("condition", JOINS)
def test_answers_as_sparks_own_join(shop: SparkSession, how: str, condition: str) -> None:
    assert_same(shop, how, condition)


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("mode", ["", ", 'async'='true'", ", 'shuffle'='true'"])
def test_answers_with_each_cache_and_mode(shop: SparkSession, cache: str, mode: str) -> None:
    assert_same(shop, "LEFT JOIN", JOINS[1], cache + mode)


def test_a_char_column_is_compared_with_its_blanks(shop: SparkSession) -> None:
    assert_same(shop, "JOIN", "o.customer = c.id AND c.zone = 'Z1'")


def test_joins_by_the_data_frame_api(shop: SparkSession) -> None:
    orders = shop.table("orders").selectExpr("id AS order_id", "customer AS id")
    joined = firesteel.lookup_join(orders, "customers", on="id", how="left", async_=True)
    plain = orders.join(shop.table("plain"), "id", "left")
    assert rows(joined) == rows(plain)


def test_a_table_of_the_catalog_is_looked_up(shop: SparkSession, postgres: Postgres) -> None:
    options = ", ".join(f"{name} '{value}'" for name, value in postgres.options.items())
    shop.sql(
        "CREATE TABLE stored USING `firesteel-jdbc` "
        f"OPTIONS ({options}, dbtable 'customers', driver 'org.postgresql.Driver')"
    )
    try:
        ours = lookup("LEFT JOIN", JOINS[0]).replace(" customers ", " stored ")
        assert rows(shop.sql(ours)) == rows(shop.sql(query("plain", "LEFT JOIN", JOINS[0])))
    finally:
        shop.sql("DROP TABLE stored")


def test_asks_at_most_five_times_for_a_thousand_rows(
    shop: SparkSession, postgres: Postgres
) -> None:
    def calls() -> int:
        found = postgres.execute(
            "SELECT sum(xact_commit) FROM pg_stat_database WHERE datname = current_database()"
        )
        return int(found)

    shop.sql(lookup("JOIN", JOINS[0])).collect()
    postgres.execute("SELECT pg_stat_force_next_flush()")
    before = calls()
    shop.sql(lookup("JOIN", JOINS[0])).collect()
    assert calls() - before <= 5 * 8000 / 1000


def test_no_plan_and_no_error_shows_the_password(shop: SparkSession, postgres: Postgres) -> None:
    joined = shop.sql(lookup("JOIN", JOINS[0]))
    joined.collect()
    shown = (
        firesteel.explain(joined).plan
        + shop.sql("EXPLAIN EXTENDED " + lookup("JOIN", JOINS[0])).collect()[0][0]
    )
    assert postgres.password not in shown
    wrong = postgres.options | {"password": "Open-Sesame", "dbtable": "customers"}
    wrong |= {"lookup.max-retries": "0"}
    with pytest.raises(PySparkException) as refused:
        shop.read.format("firesteel-jdbc").options(**wrong).load()
    assert "FIRESTEEL_LOOKUP_JDBC_LOGIN_REFUSED" in str(refused.value)
    assert "Open-Sesame" not in str(refused.value)


def test_a_scan_pushes_filters_and_columns(shop: SparkSession) -> None:
    some = shop.sql("SELECT name FROM customers WHERE id = 7")
    assert rows(some) == [str(Row(name="name 7"))] * 2
    assert "id" not in firesteel.explain(some).plan.partition("ReadSchema")[2]
