"""The code of every page runs, and prints what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.python import manual_page
from tests.python.since_spark import is_since

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs(
    page: Path, session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_since(first := manual_page.first_spark(page)):
        pytest.skip(f"the page is about what came with Spark {first}")
    monkeypatch.chdir(tmp_path)
    try:
        manual_page.run_page(page, session)
    finally:
        for query in session.streams.active:
            query.stop()


def test_a_page_that_says_something_else_fails(session: SparkSession, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```sql\nSELECT 1 AS one\n```\n\n```text\n+---+\n|one|\n+---+\n|  2|\n+---+\n```\n"
    )
    with pytest.raises(AssertionError, match=r"page\.md:2 printed"):
        manual_page.run_page(page, session)
