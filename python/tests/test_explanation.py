"""How reports are read and printed; no JVM is started."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from typing import Any, cast

import pytest
from pyspark.sql import Row

from firesteel import Declined, Explanation, Fired, explain
from firesteel.explain import _from_json, _from_rows

FIRED = Fired("PlanTopN", "keeps the first rows per key", {"limit": "3", "keys": "k"})
DECLINED = Declined(
    "PlanTopN",
    "RANK.LIMIT_TOO_LARGE",
    "the limit is too large",
    {"limit": "2000"},
    "spark.firesteel.rank.maxLimit",
)
EXPLANATION = Explanation((FIRED,), (DECLINED,), "TopN\n+- Scan\n")


def test_prints_what_fired_what_declined_and_the_plan() -> None:
    assert str(EXPLANATION) == (
        "Fired:\n"
        "  PlanTopN: keeps the first rows per key (limit = 3, keys = k)\n"
        "Declined:\n"
        "  PlanTopN: RANK.LIMIT_TOO_LARGE: the limit is too large (limit = 2000); "
        "to change it: spark.firesteel.rank.maxLimit\n"
        "Plan:\n"
        "TopN\n"
        "+- Scan"
    )


def test_says_so_when_there_is_nothing() -> None:
    assert Explanation((), (), "").text == (
        "Fired:\n  nothing\nDeclined:\n  nothing\nPlan:\n  (no batch has run yet)"
    )


def test_reads_the_json_of_the_jvm() -> None:
    report = {
        "fired": [{"rule": FIRED.rule, "message": FIRED.message, "values": FIRED.values}],
        "declined": [
            {
                "rule": DECLINED.rule,
                "code": DECLINED.code,
                "message": DECLINED.message,
                "values": DECLINED.values,
                "setting": DECLINED.setting,
            }
        ],
        "plan": EXPLANATION.plan,
    }
    assert _from_json(json.dumps(report)) == EXPLANATION


def test_reads_the_rows_of_the_table_function() -> None:
    assert (
        _from_rows(
            [
                row("fired", FIRED.rule, None, FIRED.message, FIRED.values, None),
                row(
                    "declined",
                    DECLINED.rule,
                    DECLINED.code,
                    DECLINED.message,
                    DECLINED.values,
                    DECLINED.setting,
                ),
                row("plan", None, None, EXPLANATION.plan, None, None),
            ]
        )
        == EXPLANATION
    )


def test_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        EXPLANATION.plan = ""  # type: ignore[misc] # that it cannot be set is the point


def test_refuses_what_is_no_query() -> None:
    with pytest.raises(TypeError, match="expected a DataFrame or a StreamingQuery, not str"):
        explain(cast("Any", "SELECT 1"))


def row(*columns: object) -> Row:
    return Row("outcome", "rule", "code", "message", "values", "setting")(*columns)
