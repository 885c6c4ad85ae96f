"""Iceberg's parser and ours in one session, in both orders of `spark.sql.extensions`.

Each order has a process of its own. It runs every scenario and prints what each one gave, so a
scenario that fails does not hide the others.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest

import firesteel

MINOR = ".".join(pyspark.__version__.split(".")[:2])
RUNTIMES = {
    "4.0": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0",
    "4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}
pytestmark = pytest.mark.skipif(
    MINOR not in RUNTIMES,
    reason=f"Iceberg is for Spark {' and '.join(RUNTIMES)}, this is Spark {MINOR}",
)

ROOT = Path(__file__).parents[3]
ICEBERG = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
OURS = "io.firesteel.FiresteelExtensions"

Facts = dict[str, Any]

HINT = "/*+ LOOKUP('table'='c') */"
QUERY = f"SELECT {HINT} o.id, c.country FROM ice.db.o AS o JOIN ice.db.c AS c ON o.customer = c.id"
TIMED = (
    "SELECT o.id, c.country FROM o JOIN c FOR SYSTEM_TIME AS OF o.t AS c\n"
    "  ON /* 'as it is' */ o.customer = c.id"
)
BOTH = TIMED.replace("SELECT", f"SELECT {HINT}")
IN_WITH = f"WITH q AS ({QUERY}) SELECT id, country FROM q"

PROGRAM = f"""
import json
import sys

import firesteel
from pyspark.sql import SparkSession

jars, extensions, folder = sys.argv[1:]
builder = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", False)
    .config("spark.jars", jars)
    .config("spark.sql.extensions", extensions)
    .config("spark.sql.shuffle.partitions", 2)
    .config("spark.sql.warehouse.dir", folder + "/spark")
    .config("spark.sql.catalog.ice", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.ice.catalog-impl", "org.apache.iceberg.inmemory.InMemoryCatalog")
    .config("spark.sql.catalog.ice.warehouse", folder + "/ice")
)
spark = builder.getOrCreate()
firesteel.check(spark)
spark.sql("CREATE NAMESPACE ice.db")
spark.sql("CREATE TABLE ice.db.c (id INT, country STRING) USING iceberg")
spark.sql("CREATE TABLE ice.db.o (id INT, customer INT, t TIMESTAMP) USING iceberg")
spark.sql("INSERT INTO ice.db.c VALUES (1, 'ch'), (2, 'is')")
spark.sql("INSERT INTO ice.db.o VALUES (1, 2, now()), (2, 1, now()), (3, 9, now())")
spark.sql("USE ice.db")
facts = {{}}


def rows(df):
    return sorted([str(value) for value in row] for row in df.collect())


def answer(df):
    return {{"rows": rows(df), "fired": [d.rule for d in firesteel.explain(df).fired]}}


def stored(name):
    return spark.sql("SHOW CREATE TABLE " + name).head()[0]


def plain_error(text):
    try:
        spark._jvm.org.apache.spark.sql.execution.SparkSqlParser().parseQuery(text)
    except Exception as error:
        return type(error).__name__


def scenario(function):
    try:
        facts[function.__name__] = function()
    except Exception as error:
        facts[function.__name__] = {{"error": str(error)[:1500]}}


def of_view(name, body):
    spark.sql("CREATE OR REPLACE VIEW " + name + " AS " + body)
    found = answer(spark.table(name))
    return {{**found, "stored": stored(name), "without firesteel": plain_error(body)}}


@scenario
def hint():
    return of_view("ice.db.hinted", {QUERY!r})


@scenario
def time():
    return of_view("ice.db.timed", {TIMED!r})


@scenario
def both():
    return of_view("ice.db.both", {BOTH!r})


@scenario
def in_with():
    return of_view("ice.db.in_with", {IN_WITH!r})


@scenario
def within_a_query():
    spark.sql("CREATE VIEW ice.db.inner_one AS " + {QUERY!r})
    return answer(spark.sql(
        "SELECT {HINT} v.id, c.country FROM ice.db.inner_one AS v JOIN ice.db.c ON v.id = c.id"))


@scenario
def other_namespace():
    spark.sql("CREATE OR REPLACE VIEW ice.db.unqualified AS " + {BOTH!r})
    spark.sql("USE spark_catalog.default")
    try:
        return answer(spark.table("ice.db.unqualified"))
    finally:
        spark.sql("USE ice.db")


@scenario
def temporary():
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW tempo AS " + {BOTH!r})
    return answer(spark.table("tempo"))


@scenario
def of_spark():
    spark.sql("CREATE OR REPLACE VIEW spark_catalog.default.own AS " + {QUERY!r})
    shown = stored("spark_catalog.default.own")
    return {{**answer(spark.table("spark_catalog.default.own")), "stored": shown}}


@scenario
def query():
    return answer(spark.sql({BOTH!r}))


@scenario
def parameters():
    text = {BOTH!r}.replace("'c')", "'c', 'shuffle'=:shuffle)") + "\\nWHERE o.id > :least"
    return answer(spark.sql(text, args={{"shuffle": "true", "least": 1}}))


@scenario
def time_travel():
    at = spark.sql("SELECT snapshot_id FROM ice.db.c.snapshots").head()[0]
    spark.sql("INSERT INTO ice.db.c VALUES (9, 'li')")
    try:
        join = "SELECT o.id, c.country FROM o JOIN c {{}} AS c ON o.customer = c.id"
        now = answer(spark.sql(join.format("FOR SYSTEM_TIME AS OF o.t")))["rows"]
        old = answer(spark.sql(join.format("VERSION AS OF " + str(at))))["rows"]
        return {{"now": now, "old": old}}
    finally:
        spark.sql("DELETE FROM ice.db.c WHERE id = 9")


@scenario
def no_such_table():
    spark.sql("CREATE VIEW ice.db.wrong AS " + {QUERY!r}.replace("='c'", "='nope'"))


@scenario
def no_such_column():
    spark.sql("CREATE VIEW ice.db.wrong AS\\n" + {QUERY!r}.replace("c.country", "c.nothing"))


@scenario
def commands():
    spark.sql("ALTER TABLE ice.db.o CREATE BRANCH kept")
    spark.sql("ALTER TABLE ice.db.o WRITE ORDERED BY id")
    spark.sql("ALTER TABLE ice.db.c ADD PARTITION FIELD truncate(2, country)")
    return sorted(row.name for row in spark.sql("SELECT name FROM ice.db.o.refs").collect())


@scenario
def sort_order():
    spark.sql(
        "CALL ice.system.rewrite_data_files(table => 'db.o', strategy => 'sort', "
        "sort_order => 'customer DESC NULLS LAST', options => map('rewrite-all', 'true'))")
    return [row.customer for row in spark.table("ice.db.o").collect()]


print("facts: " + json.dumps(facts))
"""


@pytest.fixture(scope="module", params=["Iceberg first", "ours first"])
def facts(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Facts:
    """What every scenario gave, with the extensions in one order."""
    folder = tmp_path_factory.mktemp("iceberg")
    iceberg = driver(RUNTIMES[MINOR])
    ours = Path(firesteel.__file__).parent / "jars" / f"firesteel-{MINOR}.jar"
    order = [ICEBERG, OURS] if request.param == "Iceberg first" else [OURS, ICEBERG]
    (folder / "app.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "app.py", f"{iceberg},{ours}", ",".join(order), str(folder)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
    )
    printed = [line for line in done.stdout.splitlines() if line.startswith("facts: ")]
    assert printed, done.stdout + done.stderr
    found: Facts = json.loads(printed[0].removeprefix("facts: "))
    return found


def driver(coordinates: str) -> str:
    """The path of a jar of Maven Central."""
    command = [str(ROOT / "build" / "driver"), coordinates]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


JOINED = [["1", "is"], ["2", "ch"]]


@pytest.mark.parametrize(
    ("view", "body"),
    [("hint", QUERY), ("time", TIMED), ("both", BOTH), ("in_with", IN_WITH)],
)
def test_a_view_of_iceberg_looks_up_and_keeps_the_users_text(
    facts: Facts, view: str, body: str
) -> None:
    fact = facts[view]
    assert fact.get("rows") == JOINED, fact
    assert "PlanLookupJoin" in fact["fired"]
    assert body in fact["stored"]
    assert fact["without firesteel"] == "ParseException"


def test_a_view_of_iceberg_in_a_lookup(facts: Facts) -> None:
    assert facts["within_a_query"].get("rows") == [["1", "ch"], ["2", "is"]]
    assert facts["within_a_query"]["fired"].count("PlanLookupJoin") == 2


@pytest.mark.parametrize("where", ["other_namespace", "temporary", "query", "of_spark"])
def test_the_same_query_elsewhere(facts: Facts, where: str) -> None:
    assert facts[where].get("rows") == JOINED, facts[where]
    assert "PlanLookupJoin" in facts[where]["fired"]


def test_a_view_of_spark_keeps_the_users_text(facts: Facts) -> None:
    assert QUERY in facts["of_spark"]["stored"]


@pytest.mark.skipif(MINOR == "4.0", reason="Spark 4.0 puts no parameters into hints")
def test_parameters_beside_and_in_the_hint(facts: Facts) -> None:
    assert facts["parameters"].get("rows") == [["2", "ch"]], facts["parameters"]
    assert "PlanLookupJoin" in facts["parameters"]["fired"]


def test_time_travel_by_version_is_icebergs(facts: Facts) -> None:
    expected = {"now": [*JOINED, ["3", "li"]], "old": JOINED}
    assert facts["time_travel"] == expected


def test_an_error_in_a_views_body(facts: Facts) -> None:
    assert "FIRESTEEL_LOOKUP_TABLE_NOT_JOINED" in facts["no_such_table"]["error"]
    error = facts["no_such_column"]["error"]
    assert f"line 2 pos {QUERY.index('c.country')}" in error, error


def test_icebergs_commands(facts: Facts) -> None:
    assert facts["commands"] == ["kept", "main"]
    assert facts["sort_order"] == [9, 2, 1]
