"""Random tables, random top-n queries: firesteel answers what Spark answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

import firesteel
from tests.python.since_spark import is_since

SEARCH = settings(
    deadline=None,  # a query takes as long as Spark takes
    max_examples=200,
    derandomize=True,  # the same queries on every machine; raise max_examples to look further
    suppress_health_check=list(HealthCheck),
)

# Few values, so that keys meet and orders tie.
STRINGS = ["'a'", "'A'", "'b'", "''", "NULL"]
INTEGERS = ["0", "1", "2", "NULL"]
DOUBLES = ["'0.0'", "'-0.0'", "'1.5'", "'-1.5'", "'NaN'", "'-Infinity'", "NULL"]  # cast below

FUNCTIONS = ["row_number", "rank", "dense_rank"]

KEYS = ["k", "i", "d", "upper(k)", "k COLLATE UTF8_LCASE", "i % 2", "struct(i, k)", "array(d)"]
ORDERS = [*KEYS, "s", "-d", "length(s)"]
DIRECTIONS = ["", "DESC", "NULLS LAST", "DESC NULLS FIRST", "ASC NULLS FIRST", "DESC NULLS LAST"]

# A predicate to stand beside the bound, and the column it reads.
PREDICATES = [
    ("k IS NOT NULL", "k"),
    ("i <= 1", "i"),
    ("(d > 0 OR d IS NULL)", "d"),
    ("s <> 'a'", "s"),
]


@dataclass(frozen=True)
class Query:
    """A top-n query with its table.

    Attributes:
        sql: The text, which stands for itself: a failure can be pasted into any shell.
        exact: Whether 0.0 and -0.0 must be told apart. They are equal as keys, so where ties make
            the answer arbitrary, either may be the one.
    """

    sql: str
    exact: bool


# Heaps that are always full, so that they are handed on or spilled, and tasks below the exchange
# that judge early whether to step aside.
TIGHT = {"spark.firesteel.rank.maxTaskMemory": "1", "spark.firesteel.rank.sampleRows": "5"}


def test_answers_are_sparks(spark: SparkSession) -> None:
    stock = sessions(spark, {"spark.firesteel.enabled": "false"})
    roomy, tight = sessions(spark, {}), sessions(spark, TIGHT)
    fired: list[bool] = []

    @SEARCH
    @given(query=queries(), ours=st.sampled_from([roomy, tight]), adaptive=st.booleans())
    def same(query: Query, ours: dict[bool, SparkSession], adaptive: bool) -> None:
        answer = ours[adaptive].sql(query.sql)
        expected = stock[adaptive].sql(query.sql)
        assert bag(answer, query.exact) == bag(expected, query.exact), query.sql
        report = firesteel.explain(answer)
        recognised = report.fired or report.declined
        assert recognised or "Window" not in report.plan, f"no reason given for {query.sql}"
        fired.append(bool(report.fired))

    same()
    # Else the test would say nothing: Spark would have been compared with itself.
    assert sum(fired) > len(fired) / 3


def sessions(spark: SparkSession, conf: dict[str, str]) -> dict[bool, SparkSession]:
    """Two sessions with these settings: with and without adaptive execution."""
    found = {True: spark.newSession(), False: spark.newSession()}
    for adaptive, session in found.items():
        session.conf.set("spark.sql.adaptive.enabled", adaptive)
        session.conf.set("spark.sql.shuffle.partitions", 3)
        for key, value in conf.items():
            session.conf.set(key, value)
    return found


@st.composite
def tables(draw: st.DrawFn) -> str:
    """A common table expression ``t`` of up to 30 rows; ``id`` is unique."""
    row = st.tuples(
        st.sampled_from(STRINGS),
        st.sampled_from(INTEGERS),
        st.sampled_from(DOUBLES),
        st.sampled_from(STRINGS),
    )
    rows = draw(st.lists(row, min_size=draw(st.sampled_from([5, 15, 10, 20, 0])), max_size=30))
    if not rows:
        return "t AS (SELECT '' AS k, 0 AS i, 0D AS d, '' AS s, 0L AS id WHERE rand() > 2)"
    values = ", ".join(f"({', '.join(values)}, {n}L)" for n, values in enumerate(rows))
    return (
        "t AS (SELECT CAST(k AS STRING) AS k, CAST(i AS INT) AS i, CAST(d AS DOUBLE) AS d, "
        f"CAST(s AS STRING) AS s, id FROM VALUES {values} AS v(k, i, d, s, id))"
    )


@dataclass(frozen=True)
class Over:
    """A window, and what may be asked of it without asking for the arbitrary.

    Attributes:
        text: The ``OVER`` clause.
        shown: What to select when ties are numbered arbitrarily: what tied rows have in common.
        columns: The columns on which tied rows agree.
        unique: Whether the order has no ties.
    """

    text: str
    shown: list[str]
    columns: set[str]
    unique: bool


@st.composite
def windows(draw: st.DrawFn) -> Over:
    """A window with up to two keys and up to three order keys."""
    keys = draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True))
    orders = draw(st.lists(st.sampled_from(ORDERS), min_size=1, max_size=3, unique=True))
    by = [f"{expression} {draw(st.sampled_from(DIRECTIONS))}" for expression in orders]
    unique = draw(st.booleans())
    if unique:
        by.append("id")
    partition = f"PARTITION BY {', '.join(keys)} " if keys else ""
    return Over(
        text=f"OVER ({partition}ORDER BY {', '.join(by)})",
        shown=[shown_as(expression) for expression in [*keys, *orders]],
        columns={expression for expression in [*keys, *orders] if expression.isalpha()},
        unique=unique,
    )


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """A query of the room's shape, made so that its answer is determined.

    Ties make the answer of `ROW_NUMBER` arbitrary, but not that of its keys, order keys and
    numbers: without a unique order it selects and filters these only.
    """
    over = draw(windows())
    first, second = draw(st.sampled_from(FUNCTIONS)), draw(st.sampled_from(FUNCTIONS))
    exact = over.unique or "row_number" not in (first, second)
    shown = ["*"] if exact else over.shown
    number = draw(st.sampled_from(["", "rn AS place", "rn + 1 AS next"]))
    allowed = [text for text, column in PREDICATES if exact or column in over.columns]
    beside = draw(st.lists(st.sampled_from(allowed), max_size=1)) if allowed else []

    bounds = " AND ".join(draw(conditions()))
    bounds = draw(st.sampled_from([bounds, f"{bounds} AND r2 <= 4", f"({bounds} OR r2 <= 2)"]))
    condition = " AND ".join(draw(st.permutations([bounds, *beside])))
    calls = f"{first}() {over.text} AS rn"
    if "r2" in bounds:
        calls += f", {second}() {over.text} AS r2"
    numbered = f"SELECT *, {calls} FROM t"
    sources = [
        f"({numbered}) WHERE {condition}",
        f"(SELECT *, id + 1 AS more FROM ({numbered})) WHERE {condition}",
    ]
    if is_since("4.2"):  # which brought QUALIFY
        sources.insert(1, f"({numbered} QUALIFY {condition})")
    source = draw(st.sampled_from(sources))
    select = ", ".join([*shown, number] if number else shown)
    return Query(f"WITH {draw(tables())} SELECT {select} FROM {source}", exact)


def conditions() -> st.SearchStrategy[list[str]]:
    """One or two conditions on ``rn``; nearly always they bound it from above."""
    n = st.integers(1, 6)
    bound = [
        st.builds("rn <= {}".format, n),
        st.builds("rn < {}".format, n),
        st.builds("rn = {}".format, n),
        st.builds("{} >= rn".format, n),
        st.builds("{} > rn".format, n),
        st.builds("{} = rn".format, n),
        st.builds("rn BETWEEN {} AND {}".format, st.integers(-1, 2), n),
        st.builds("rn IN ({}, {}, {})".format, n, n, n),
        st.builds("(rn = {} OR rn <= {})".format, n, n),
        st.builds("rn <= {}".format, st.integers(-1, 0)),
    ]
    no_bound = [
        st.builds("rn >= {}".format, n),
        st.builds("rn <> {}".format, n),
        st.just("rn % 2 = 1"),
    ]
    return st.one_of(
        st.tuples(st.one_of(*bound)),
        st.tuples(st.one_of(*bound), st.one_of(*no_bound)),
        st.tuples(st.one_of(*no_bound), st.one_of(*bound)),
        st.tuples(st.one_of(*bound), st.one_of(*bound)),
        st.tuples(st.one_of(*no_bound)),
    ).map(list)


def shown_as(expression: str) -> str:
    """What equal keys have in common: a collation takes 'a' for 'A', either may be the one."""
    return "lower(k)" if "COLLATE" in expression else expression


def bag(df: DataFrame, exact: bool) -> Counter[Any]:
    """The rows of an answer, in no order."""
    return Counter(comparable(row, exact) for row in df.collect())


def comparable(value: object, exact: bool) -> object:
    """A value that equals another where Spark's would."""
    match value:
        case float():
            return repr(value if exact else value + 0.0)  # NaN is NaN; -0.0 + 0.0 is 0.0
        case list() | tuple():
            return tuple(comparable(part, exact) for part in value)
        case _:
            return value
