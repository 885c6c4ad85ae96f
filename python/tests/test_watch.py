"""A streaming query as a table, by progress that is made up; no JVM is started."""

from __future__ import annotations

import sys
from typing import Any, cast

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import Row
from pyspark.sql.streaming.query import StreamingQuery

import firesteel
from firesteel import _display
from firesteel.watch import MICRO_BATCHES, QueryWatch

SCRIPT = "<script>"


def operator(**changed: object) -> dict[str, Any]:
    return {
        "operatorName": "changelogAggregate 0",
        "numRowsTotal": 70,
        "numRowsUpdated": 5,
        "numRowsRemoved": 1,
        "numRowsDroppedByWatermark": 2,
        "memoryUsedBytes": 3 * 2**20,
        "customMetrics": {
            "numLateRetractions": 4,
            "numExpiredStateRows": 6,
            "numInsertRows": 8,
            "numUpdateBeforeRows": 9,
            "other": 1,
        },
        **changed,
    }


def micro_batch(number: int, **changed: object) -> dict[str, Any]:
    return {
        "batchId": number,
        "timestamp": "2026-01-01T00:01:00.000Z",
        "numInputRows": 1_000,
        "processedRowsPerSecond": 250.0,
        "batchDuration": 4_000,
        "durationMs": {"addBatch": 3_000, "triggerExecution": 4_000},
        "eventTime": {"max": "2026-01-01T00:00:30.000Z"},
        "observedMetrics": {"kinds": Row(**{"+I": 3, "-D": 1})},
        "stateOperators": [operator()],
        "sources": [
            {
                "description": f"files of {SCRIPT}",
                "numInputRows": 1_000,
                "processedRowsPerSecond": 250.0,
                "metrics": {"maxOffsetsBehindLatest": "7"},
            }
        ],
        **changed,
    }


class Query(StreamingQuery):
    """A query that has ended; each look at `isActive` before that brings a micro-batch."""

    def __init__(self, batches: int, failure: str | None = None, looks: int = 0) -> None:
        self.progress = [micro_batch(n) for n in range(batches)]
        self.failure = failure
        self.looks = looks

    @property
    def name(self) -> str:
        return SCRIPT

    @property
    def isActive(self) -> bool:
        if self.looks == 0:
            return False
        self.looks -= 1
        self.progress.append(micro_batch(len(self.progress)))
        return True

    @property
    def recentProgress(self) -> Any:  # noqa: ANN401 - dicts will do
        return self.progress

    def exception(self) -> StreamingQueryException | None:
        return StreamingQueryException(message=self.failure) if self.failure else None


def shown(batches: int, failure: str | None = None) -> QueryWatch:
    return firesteel.watch(Query(batches, failure))


def test_a_micro_batch_has_rows_late_rows_state_and_lag() -> None:
    lines = [line.split() for line in str(shown(1)).splitlines()]
    assert ["1,000", "250.0", "4,000", "6", "70", "30.0", "8", "9", "3", "1"] in [
        line[1:] for line in lines
    ]


def test_a_state_operator_has_the_counts_that_it_has() -> None:
    text = str(shown(1))
    assert "late retractions" in text
    assert "expired" in text
    assert "late by sequence" not in text
    cells = ["changelogAggregate", "0", "70", "5", "1", "2", "4", "6", "8", "9", "3.0"]
    assert cells in [line.split() for line in text.splitlines()]


def test_a_source_has_its_metrics() -> None:
    assert "maxOffsetsBehindLatest = 7" in str(shown(1))


def test_progress_as_a_connect_server_sends_it_shows_the_same() -> None:
    schema = {"type": "struct", "fields": [{"name": "+I"}, {"name": "-D"}]}
    query = Query(0)
    sent: dict[str, Any] = {"numInputRows": None, "processedRowsPerSecond": None}
    kinds = Row(values=[3, 1], schema=schema)
    query.progress = [micro_batch(0, **sent, observedMetrics={"kinds": kinds})]
    assert str(firesteel.watch(query)) == str(shown(1))


def test_before_the_first_micro_batch_there_is_a_sentence() -> None:
    assert "No micro-batch has ended yet." in str(shown(0))


def test_without_event_time_there_is_no_lag() -> None:
    query = Query(0)
    query.progress = [micro_batch(0, eventTime={}, observedMetrics={})]
    assert ["1,000", "250.0", "4,000", "6", "70", "-", "8", "9"] in [
        line.split()[1:] for line in str(firesteel.watch(query)).splitlines()
    ]


def test_a_trigger_without_data_is_no_micro_batch() -> None:
    idle = micro_batch(1, numInputRows=0, durationMs={"latestOffset": 1, "triggerExecution": 2})
    query = Query(0)
    query.progress = [micro_batch(0), idle, micro_batch(1)]
    text = str(firesteel.watch(query)).splitlines()
    assert [line.split()[0] for line in text if " 4,000 " in line] == ["1", "0"]


def test_an_event_time_that_python_does_not_have_has_no_lag() -> None:
    query = Query(0)
    query.progress = [micro_batch(0, eventTime={"max": "+52000-01-01T00:00:30.000Z"})]
    text = str(firesteel.watch(query))
    query.progress = [micro_batch(0, eventTime={})]
    assert text == str(firesteel.watch(query))


def test_the_newest_micro_batches_are_shown_first_and_not_all() -> None:
    text = str(shown(MICRO_BATCHES + 5))
    numbers = [line.split()[0] for line in text.splitlines() if " 4,000 " in line]
    assert numbers == [str(n) for n in range(MICRO_BATCHES + 4, 4, -1)]
    assert f"Micro-batches, the last {MICRO_BATCHES}" in text


def test_many_operators_and_observed_metrics_are_bounded() -> None:
    query = Query(0)
    many = {f"m{i}": Row(n=i) for i in range(99)}
    query.progress = [micro_batch(0, stateOperators=[operator()] * 99, observedMetrics=many)]
    text = str(firesteel.watch(query))
    assert f"not shown: {99 - _display.MAX_ROWS} more operators" in text
    assert "more columns" in text


def test_every_text_is_escaped() -> None:
    query = Query(0, failure=SCRIPT)
    query.progress = [
        micro_batch(
            0,
            observedMetrics={SCRIPT: Row(**{SCRIPT: SCRIPT})},
            stateOperators=[operator(operatorName=SCRIPT)],
        )
    ]
    html = firesteel.watch(query)._repr_html_()
    assert SCRIPT not in html
    assert html.count("&lt;script&gt;") == 7


def test_a_failed_query_shows_its_error() -> None:
    text = str(shown(1, "it is broken"))
    assert f"{SCRIPT}: failed" in text
    assert "it is broken" in text


def test_waiting_prints_each_micro_batch_once(capsys: pytest.CaptureFixture[str]) -> None:
    watched = firesteel.watch(Query(1, looks=2), interval=0.01)
    assert watched.awaitTermination() is True
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(",")[0] for line in lines] == ["batch 0", "batch 1", "batch 2"]
    assert "rows 1,000" in lines[0]


def test_waiting_ends_after_the_timeout() -> None:
    watched = firesteel.watch(Query(0, looks=10_000), interval=0.01)
    assert watched.awaitTermination(0.05) is False


def test_waiting_raises_what_has_failed() -> None:
    with pytest.raises(StreamingQueryException, match="it is broken"):
        shown(1, "it is broken").awaitTermination()


def test_waiting_on_a_terminal_updates_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    firesteel.watch(Query(2), interval=0.01).awaitTermination()
    assert "State operators in micro-batch 1" in capsys.readouterr().out


@pytest.mark.parametrize("interval", [0.0, -1.0, float("nan")])
def test_an_interval_that_is_not_positive_is_refused(interval: float) -> None:
    with pytest.raises(ValueError, match=r"interval = .*: must be a positive number of seconds"):
        firesteel.watch(Query(0), interval)


def test_anything_else_is_refused() -> None:
    with pytest.raises(TypeError, match="watch takes a StreamingQuery, not str"):
        firesteel.watch(cast("StreamingQuery", "query"))
