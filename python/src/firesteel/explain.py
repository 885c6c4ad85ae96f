"""Tells what firesteel did with a query: which rules fired, which declined, and why."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.dataframe import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from firesteel import _display, _errors, _jvm
from firesteel.session import require_extension

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import Row


_MODES = ("append", "update", "complete")


@dataclass(frozen=True)
class Fired:
    """A rule that changed the plan.

    Attributes:
        rule: Name of the rule, such as ``PlanTopN``.
        message: What it did, in a sentence.
        values: The values that decided, by name.
    """

    rule: str
    message: str
    values: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.rule}: {self.message}{_listed(self.values)}"


@dataclass(frozen=True)
class Declined:
    """A query that a rule recognised and left alone.

    Attributes:
        rule: Name of the rule, such as ``PlanTopN``.
        code: The reason's code, such as ``RANK.NO_UPPER_BOUND``; REFERENCE.md lists them all.
        message: The reason, in a sentence.
        values: The values that decided, by name.
        setting: The setting that would change the decision, if one would.
    """

    rule: str
    code: str
    message: str
    values: Mapping[str, str]
    setting: str | None

    def __str__(self) -> str:
        cure = f"; to change it: {self.setting}" if self.setting else ""
        return f"{self.rule}: {self.code}: {self.message}{_listed(self.values)}{cure}"


@dataclass(frozen=True)
class Explanation(_display.Shown):
    """The decisions of firesteel about one query.

    Print it, show it in a notebook, or give it to ``rich.print``.

    Attributes:
        fired: The rules that changed the plan, in their order.
        declined: The rules that recognised a part of the query and did not change it.
        plan: The physical plan, after an adaptive run the final one; on Spark Connect the one
            before a run. Empty for a streaming query before its first micro-batch.
    """

    fired: tuple[Fired, ...]
    declined: tuple[Declined, ...]
    plan: str

    @property
    def text(self) -> str:
        """The whole explanation as plain text."""
        return "\n".join(
            [
                *_section("Fired", self.fired),
                *_section("Declined", self.declined),
                "Plan:",
                self.plan.rstrip() or "  (no batch has run yet)",
            ]
        )

    def __str__(self) -> str:
        return self.text

    def _page(self) -> _display.Page:
        fired = _display.Table(
            "Fired",
            ["rule", "message", "values"],
            [[one.rule, one.message, _pairs(one.values)] for one in self.fired],
            kind="rules",
        )
        declined = _display.Table(
            "Declined",
            ["rule", "code", "reason", "values", "setting"],
            [
                [one.rule, one.code, one.message, _pairs(one.values), one.setting]
                for one in self.declined
            ],
            kind="rules",
        )
        plan = _display.Fold("Plan", self.plan.rstrip() or "(no batch has run yet)")
        title = f"firesteel: {len(self.fired)} fired, {len(self.declined)} declined"
        return _display.Page(title, [fired, declined, plan])


def explain(query: DataFrame | StreamingQuery, output_mode: str = "append") -> Explanation:
    """Return which rules fired on a query, which declined, and why.

    This plans the query if it has no plan yet, and never runs it. After ``collect()`` or
    ``toPandas()`` of the same DataFrame the plan is the final one of adaptive execution;
    ``count()``, ``show()`` and ``write`` run a plan of their own. A client of Spark Connect always
    gets the plan before a run.

    A streaming DataFrame is explained as if it were started. If it would run as a changelog, the
    plan begins with its operators: the row kinds that each emits, as Flink's ``[I,UB,UA,D]``, and
    the columns that identify its rows. ``fired`` then has the state of each operator.

    Args:
        query: A DataFrame, classic or Connect, or a streaming query, whose last micro-batch is
            explained. For SQL text use ``explain(spark.sql(text))``, or, from any client,
            ``SELECT * FROM firesteel_explain('SELECT ...')``.
        output_mode: For a streaming DataFrame: ``append``, ``update`` or ``complete``. Append
            mode is explained with every change, as with `row_kind`.

    Returns:
        The rules that fired or declined, with the values that decided, and the physical plan.

    Raises:
        ExtensionNotLoadedError: The session runs without firesteel.
        UnsupportedOnConnectError: A streaming query over Spark Connect.
        TypeError: Neither a DataFrame nor a streaming query.
        ValueError: Not an output mode.
        AnalysisException: A streaming DataFrame that cannot be started in this mode.

    Source:
        Spark's ``EXPLAIN``, which shows what was planned but not why; the codes are in the manner
        of Microsoft Hyperspace's ``whyNot``.

    Example:
        >>> numbered = spark.sql(
        ...     "SELECT *, row_number() OVER (PARTITION BY id % 7 ORDER BY id) AS rn FROM range(99)"
        ... )
        >>> [fired.rule for fired in explain(numbered.where("rn <= 3")).fired]
        ['PlanTopN']
        >>> [declined.code for declined in explain(numbered.where("rn >= 3")).declined]
        ['RANK.NO_UPPER_BOUND']
    """
    if output_mode not in _MODES:
        raise ValueError(f"output_mode must be one of {', '.join(_MODES)}, not {output_mode!r}")
    if isinstance(query, DataFrame):
        # Without the extension the answer would be "nothing", as if no rule knew the query.
        require_extension(query.sparkSession)
        if isinstance(query, ClassicDataFrame):
            return _from_json(_jvm.explain(query, output_mode))
        return _over_connect(query, output_mode)
    if isinstance(query, StreamingQuery):
        return _from_json(_jvm.explain_streaming(query))
    # Not imported for an `isinstance`: without the `connect` extra the import fails.
    if type(query).__module__ == "pyspark.sql.connect.streaming.query":
        raise _errors.streaming_on_connect()
    raise TypeError(f"expected a DataFrame or a StreamingQuery, not {type(query).__name__}")


def _over_connect(df: DataFrame, output_mode: str) -> Explanation:
    """Let the server explain a view of the DataFrame, since a client has no plan."""
    spark = df.sparkSession
    view = f"firesteel_explain_{uuid4().hex}"
    # Dropping a view of the DataFrame itself would drop its cache, too.
    (df if df.isStreaming else df.where("true")).createTempView(view)
    try:
        call = f"firesteel_explain('SELECT * FROM {view}', '{output_mode}')"
        rows = spark.sql(f"SELECT * FROM {call}").collect()
    finally:
        spark.catalog.dropTempView(view)
    return _from_rows(rows)


def _from_json(report: str) -> Explanation:
    parsed: dict[str, Any] = json.loads(report)
    return Explanation(
        fired=tuple(Fired(**fired) for fired in parsed["fired"]),
        declined=tuple(Declined(**declined) for declined in parsed["declined"]),
        plan=parsed["plan"],
    )


def _from_rows(rows: Iterable[Row]) -> Explanation:
    fired: list[Fired] = []
    declined: list[Declined] = []
    plan = ""
    for row in rows:
        values = row["values"] or {}
        match row["outcome"]:
            case "fired":
                fired.append(Fired(row["rule"], row["message"], values))
            case "declined":
                declined.append(
                    Declined(row["rule"], row["code"], row["message"], values, row["setting"])
                )
            case "plan":
                plan = row["message"]
    return Explanation(tuple(fired), tuple(declined), plan)


def _section(title: str, entries: Iterable[Fired | Declined]) -> list[str]:
    lines = [f"  {entry}" for entry in entries]
    return [f"{title}:", *(lines or ["  nothing"])]


def _listed(values: Mapping[str, str]) -> str:
    return f" ({_pairs(values)})" if values else ""


def _pairs(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
