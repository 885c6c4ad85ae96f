"""What `apply_changes` makes of its arguments; no JVM is started."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from firesteel import apply_changes

TABLE = {"url": "jdbc:postgresql://host/db", "dbtable": "t"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"buckets": 0}, "buckets = 0: must be from 1 to 10000"),
        ({"buckets": 10_001}, "buckets = 10001"),
        ({"buckets": True}, "buckets = True"),
        ({"buckets": "8"}, "buckets = '8'"),
        ({"retention": "soon"}, "retention = 'soon': must be a time"),
        ({"retention": -1}, "retention = -1"),
        ({"op": ""}, "op = '': must be text that is not empty"),
        ({"op": 5}, "op = 5"),
        ({"query_id": ""}, "query_id = ''"),
        ({"upserts": "yes"}, "upserts = 'yes': must be True or False"),
    ],
    ids=str,
)
def test_refuses_arguments_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        apply_changes("/somewhere", "k", **arguments)


@pytest.mark.parametrize(
    ("retention", "option"),
    [
        ("10min", "600000ms"),
        ("1 h 30 min", "5400000ms"),
        (1.5, "1500ms"),
        (timedelta(minutes=5), "300000ms"),
        (0, "0ms"),
    ],
    ids=str,
)
def test_takes_a_retention_as_lookups_take_times(retention: Any, option: str) -> None:  # noqa: ANN401
    options = apply_changes("/somewhere", "k", retention=retention).options
    assert options["changes.retention"] == option


def test_writes_what_is_given_and_no_more() -> None:
    assert apply_changes("/somewhere", "k").options == {"changes.keys": '["k"]'}
    given = apply_changes(
        "/somewhere", ("a", "b"), op="kind", query_id="counts", upserts=True, buckets=4
    )
    assert given.options == {
        "changes.keys": '["a", "b"]',
        "changes.op": "kind",
        "changes.query-id": "counts",
        "changes.upserts": "true",
        "changes.buckets": "4",
    }


def test_options_of_a_table_without_a_value_are_not_given() -> None:
    apply = apply_changes({**TABLE, "user": None, "ssl": True}, "k")  # type: ignore[dict-item]
    assert apply.target == {**TABLE, "ssl": "true"}
    with pytest.raises(ValueError, match="no option url"):
        apply_changes({**TABLE, "url": None}, "k")  # type: ignore[dict-item]


def test_misuse_is_told_at_once() -> None:
    with pytest.raises(ValueError, match="no option url"):
        apply_changes({"dbtable": "t"}, "k")
    with pytest.raises(ValueError, match="given by options"):
        apply_changes("jdbc:postgresql://host/db?password=x", "k")
    with pytest.raises(ValueError, match="not an empty name"):
        apply_changes("", "k")
    with pytest.raises(TypeError, match="not int"):
        apply_changes(5, "k")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="keys"):
        apply_changes("/somewhere", 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one"):
        apply_changes("/somewhere", [])
