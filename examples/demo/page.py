"""What the demo prints."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table as Grid
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Row
    from rich.console import Console

    from demo.comparison import Comparison
    from demo.enrichment import Enriched
    from demo.queries import Query
    from firesteel import Explanation

NEXT = """\
What to try next
  your own table   make demo DATA=folder ARGS='--format csv --key customer --order amount'
  your own code    spark = firesteel.configure(SparkSession.builder).getOrCreate()
                   firesteel.check(spark)
                   print(firesteel.explain(spark.sql("SELECT ...")))
  switch it off    spark.sql("SET spark.firesteel.enabled = false")
  every setting    REFERENCE.md, or spark.sql("SET -v")
  your own store   docs/connectors.md and examples/lookup: connectors in Python, Java, Scala
  a notebook       examples/notebooks/tour.ipynb
  the numbers      scala/bench/results; to measure again: make bench
"""


def comparison_table(comparisons: Sequence[Comparison]) -> Grid:
    """Lay out all comparisons, one query a row, Spark's number above firesteel's."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    grid.add_column("query")
    grid.add_column("")
    for heading in ("answer", "rows shuffled", "rows sorted", "seconds", "speed-up"):
        grid.add_column(heading, justify="right")
    for one in comparisons:
        answer = Text("equal", "green") if one.equal else Text("DIFFERENT", "bold red")
        grid.add_row(
            Text(f"{one.query.title}\n{one.query.function}"),
            "Spark\nfiresteel",
            Text.assemble(f"{one.off.rows:,}\n", answer),
            f"{one.off.rows_shuffled:,}\n{one.on.rows_shuffled:,}",
            f"{_count(one.off.rows_sorted)}\n{_count(one.on.rows_sorted)}",
            f"{_median(one.seconds_off)}\n{_median(one.seconds_on)}",
            Text(f"{one.speed_up:.1f}x", "bold green" if one.speed_up > 1 else "yellow"),
        )
    return grid


def enrichment_table(modes: Sequence[Enriched], right: str) -> Grid:
    """Lay out the modes of a lookup join, one a row.

    Args:
        modes: What each took.
        right: The digest of the right answer.
    """
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, padding=0)
    grid.add_column("shuffle, as the plan has it", no_wrap=True, min_width=39)
    for heading in ("answer", "requests", "hits", "files", "seconds"):
        grid.add_column(heading, justify="right")
    for one in modes:
        answer = Text("equal", "green") if one.digest == right else Text("WRONG", "bold red")
        grid.add_row(
            Text(one.shuffle),
            answer,
            f"{one.requests:,}",
            f"{one.hit_rate:.0%}",
            f"{one.files_opened:,}",
            f"{one.median:.2f}",
        )
    return grid


def trending_table(title: str, rows: Sequence[Row]) -> Grid:
    """Lay out trending items: a row for each place, a column for each category."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    categories = sorted({row.category for row in rows})
    grid.add_column("place", justify="right", min_width=5)
    for category in categories:
        grid.add_column(category, min_width=14)
    found = {(row.place, row.category): f"{row.item} {row.fans:,}" for row in rows}
    for place in sorted({row.place for row in rows}):
        cells = (found.get((place, category), "") for category in categories)
        grid.add_row(str(place), *cells)
    return grid


def changes_table(title: str, rows: Sequence[Row]) -> Grid:
    """Lay out rows of a changelog: the kind of change first."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    columns = [name for row in rows[:1] for name in row.asDict() if name != "op"]
    for name in ("op", *columns):
        grid.add_column(name)
    for row in rows:
        cells = ("NULL" if row[name] is None else str(row[name]) for name in columns)
        grid.add_row(row.op, *cells)
    return grid


def print_explanation(console: Console, query: Query, explanation: Explanation) -> None:
    """Show what firesteel did to one query; long lines of a plan are cut, not wrapped."""
    title = f"firesteel.explain of: {query.title}, {query.function}"
    console.print(title, style="bold", markup=False, highlight=False)
    reasons, _, plan = explanation.text.partition("\nPlan:\n")
    console.print(reasons, markup=False, highlight=False)
    console.print("Plan:")
    for line in plan.splitlines():
        console.print(line, markup=False, highlight=False, no_wrap=True, overflow="ellipsis")


def print_next(console: Console, seconds: float) -> None:
    """Print how long the demo took, and what to try next."""
    console.print(f"\nAll of this took {seconds:.0f} s.\n", highlight=False)
    console.print(NEXT, markup=False, highlight=False, soft_wrap=True, end="")


def _median(seconds: Sequence[float]) -> str:
    return f"{statistics.median(seconds):.2f}"


def _count(rows: int | None) -> str:
    return "not counted" if rows is None else f"{rows:,}"
