"""Reads the metrics of lookup joins: cache hits, requests to the store, failures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.dataframe import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from firesteel import _display, _errors, _jvm
from firesteel.explain import explain
from firesteel.session import require_extension

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql.metrics import CollectedMetrics

_NODES = ("LookupJoin", "PythonLookupJoin", "LookupFullCache")
"""Names of the operators that look keys up."""


@dataclass(frozen=True)
class LookupJoinMetrics:
    """The metrics of one lookup join.

    Attributes:
        table: The dimension table.
        values: The values that the join was planned with, by name, such as ``shuffle``.
        metrics: Sums over all tasks, by name. ``hits``, ``misses``, ``requests`` and ``failures``
            exist for every connector that is asked by key. A table that is loaded whole
            (``FULL``) has ``loads``, ``loadTime`` and ``cached``.
    """

    table: str
    values: Mapping[str, str]
    metrics: Mapping[str, int]

    @property
    def hit_rate(self) -> float | None:
        """The share of rows that the cache answered; None before a key was looked up."""
        hits, misses = self.metrics.get("hits", 0), self.metrics.get("misses", 0)
        return hits / (hits + misses) if hits + misses else None


@dataclass(frozen=True)
class LookupMetrics(_display.Shown):
    """The metrics of all lookup joins of a query.

    Print it, show it in a notebook, or give it to ``rich.print``.

    Attributes:
        joins: The lookup joins, in the order in which the plan has them.
    """

    joins: tuple[LookupJoinMetrics, ...]

    def _page(self) -> _display.Page:
        names = dict.fromkeys(name for join in self.joins for name in join.metrics)
        rates = [None if (r := join.hit_rate) is None else 100 * r for join in self.joins]
        settings = dict.fromkeys(name for join in self.joins for name in join.values)
        metrics = _display.Table(
            "Metrics",
            ["metric", *(join.table for join in self.joins)],
            [["hit rate (%)", *rates], *_across(names, [join.metrics for join in self.joins])]
            if self.joins
            else [],
            empty="The query has no lookup join.",
            kind="metrics",
        )
        planned = _display.Table(
            "Planned with",
            ["name", *(join.table for join in self.joins)],
            _across(settings, [join.values for join in self.joins]),
            kind="values",
        )
        count = len(self.joins)
        title = f"firesteel: {count} lookup join{'' if count == 1 else 's'}"
        return _display.Page(title, [metrics, planned] if settings else [metrics])


def lookup_metrics(query: DataFrame | StreamingQuery) -> LookupMetrics:
    """Return the metrics of a query's lookup joins.

    They are of the last run of that same DataFrame by ``collect()``, ``toPandas()`` or
    ``toLocalIterator()``. Before it all are 0. ``count()``, ``show()`` and ``write`` run a plan of
    their own.

    Args:
        query: A DataFrame that has run, or a streaming query, whose last micro-batch is read.

    Returns:
        The metrics of each lookup join.

    Raises:
        ExtensionNotLoadedError: The session runs without firesteel.
        UnsupportedOnConnectError: A streaming query over Spark Connect, or a DataFrame of a
            Connect client that has not run.
        TypeError: Neither a DataFrame nor a streaming query.

    Source:
        Spark's SQL tab, which shows the same metrics.

    Example:
        >>> lookup_metrics(spark.range(3)).joins
        ()
    """
    if isinstance(query, DataFrame):
        require_extension(query.sparkSession)
        if isinstance(query, ClassicDataFrame):
            return _from_json(_jvm.lookup_metrics(query))
        return _over_connect(query)
    if isinstance(query, StreamingQuery):
        return _from_json(_jvm.lookup_metrics_of_batch(query))
    # Not imported for an `isinstance`: without the `connect` extra the import fails.
    if type(query).__module__ == "pyspark.sql.connect.streaming.query":
        raise _errors.lookup_metrics_of_stream_on_connect()
    raise TypeError(f"expected a DataFrame or a StreamingQuery, not {type(query).__name__}")


def _from_json(report: str) -> LookupMetrics:
    parsed: list[dict[str, Any]] = json.loads(report)
    return LookupMetrics(
        tuple(
            LookupJoinMetrics(join["values"].get("table", ""), join["values"], join["metrics"])
            for join in parsed
        )
    )


def _over_connect(df: DataFrame) -> LookupMetrics:
    """Read the metrics that the server sent with the rows; the values come from an explanation."""
    info = df.executionInfo
    if info is None or info.metrics is None:
        raise _errors.no_metrics_on_connect()
    root, nodes = info.metrics.extract_graph()
    joins = [node for node in _walked(nodes[root], nodes) if node.name in _NODES]
    fired = [one.values for one in explain(df).fired if one.rule == "PlanLookupJoin"]
    if len(fired) != len(joins):
        # The plan before the run has a join twice that Spark then ran once.
        tables = {values.get("table", "") for values in fired}
        fired = [{"table": tables.pop() if len(tables) == 1 else ""}] * len(joins)
    return LookupMetrics(
        tuple(
            LookupJoinMetrics(
                values.get("table", ""),
                values,
                {_common_name(m.name): int(m.value) for m in node.metrics},
            )
            for node, values in zip(joins, fired, strict=True)
        )
    )


def _walked(
    node: CollectedMetrics.Node, nodes: Mapping[int, CollectedMetrics.Node]
) -> Iterator[CollectedMetrics.Node]:
    """A node, then all below it: the order in which an explanation has them."""
    yield node
    for child in node.children:
        if child != node.id:
            yield from _walked(nodes[child], nodes)


def _common_name(metric: str) -> str:
    """``lookupHits`` of a connector in the JVM is ``hits`` of one in Python."""
    bare = metric.removeprefix("lookup")
    return bare[:1].lower() + bare[1:]


def _across(
    names: Iterable[str], maps: Sequence[Mapping[str, str | int]]
) -> list[list[_display.Cell]]:
    return [[name, *(of.get(name) for of in maps)] for name in names]
