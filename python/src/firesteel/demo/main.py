"""The demo from start to end: first-n-per-key queries, a lookup join, a stream that is killed."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from rich.console import Console
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

import firesteel
from firesteel.demo import arguments, comparison, enrichment, page, queries, spark, table, trending
from firesteel.demo.errors import DemoError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import Row, SparkSession

    from firesteel.demo.arguments import Arguments
    from firesteel.demo.comparison import Comparison
    from firesteel.demo.queries import Query


def main(argv: Sequence[str]) -> int:
    """Run the demo.

    Args:
        argv: The command line, without the program's name.

    Returns:
        The exit code: 0, 1 when answers differ, 2 when the command line does not fit the table.
    """
    console = Console()
    asked = arguments.parse(argv)
    with tempfile.TemporaryDirectory(prefix="firesteel-demo-") as folder:
        work = Path(folder)
        with announced(console, "starting Spark"):
            session = spark.start(work)
        try:
            return run(console, session, asked, work)
        except DemoError as error:
            console.print(f"demo: {error}", markup=False, highlight=False, soft_wrap=True)
            return 2
        finally:
            session.stop()


def run(console: Console, session: SparkSession, asked: Arguments, work: Path) -> int:
    """Compare and report; the exit code says whether all answers were equal."""
    with announced(console, "making the table" if asked.data is None else f"reading {asked.data}"):
        subject = table.register(session, asked, table.cache_folder(), work)
    questions = queries.queries(subject, asked.n, ascending=asked.ascending)
    check_queries(session, questions)
    console.print(
        f"{subject.description}, ranked by {', '.join(subject.order)}; timed runs of each "
        f"query: {asked.repetitions} with firesteel off and {asked.repetitions} on, in turn",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    compared = compare_all(console, session, questions, asked.repetitions)
    console.print(page.comparison_table(compared))
    if not all(one.equal for one in compared):
        console.print("Answers differ: please report this query.", style="bold red")
        return 1
    page.print_explanation(console, questions[0], explained(session, questions[0]))
    if not enrich(console, session, asked, work):
        console.print("Enriched rows differ from a plain join: please report it.", style="bold red")
        return 1
    if not stream(console, session, work):
        console.print(
            "The stream's table differs from the batch query's: please report it.", style="bold red"
        )
        return 1
    page.print_next(console)
    return 0


def enrich(console: Console, session: SparkSession, asked: Arguments, work: Path) -> bool:
    """Show a lookup join in its three modes; return whether all gave a plain join's answer."""
    folder = work / "customers"
    folder.mkdir()
    with announced(console, "making a store of customers"):
        subject = enrichment.prepare(session, folder, max(1000, asked.rows // 15))
        right = enrichment.expected(session, subject)
    console.print(f"\n{subject.description}", markup=False, highlight=False, soft_wrap=True)
    with Progress(*columns(), console=console, transient=True) as progress:
        bar = progress.add_task("lookup join", total=enrichment.steps(asked.repetitions))
        found = enrichment.compare(
            session, subject, asked.repetitions, lambda: progress.advance(bar)
        )
    console.print(page.enrichment_table(found, right))
    return all(one.digest == right for one in found)


def stream(console: Console, session: SparkSession, work: Path) -> bool:
    """Show a stream's table while the stream is killed and resumed; return whether it is right."""
    folder = work / "stream"
    folder.mkdir()
    console.print(
        f"\nA stream of {trending.FILES * trending.EVENTS:,} visits: the items of each "
        "category that most visitors came back to, in a table that a changelog keeps",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    with Live(console=console, auto_refresh=False) as live:

        def show(title: str, rows: Sequence[Row]) -> None:
            if console.is_terminal:
                live.update(page.trending_table(title, rows), refresh=True)
            else:
                console.print(title, markup=False, highlight=False, soft_wrap=True)

        equal = trending.trend(session, folder, show)
    if not console.is_terminal:
        console.print(page.trending_table("at last", trending.table(session, folder)))
    if equal:
        console.print("The table is equal to the batch query's answer.", style="green")
    return equal


def columns() -> tuple[ProgressColumn, ...]:
    """What a progress bar shows."""
    return (
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )


@contextmanager
def announced(console: Console, what: str) -> Iterator[None]:
    """Say what takes its time: a spinner on a terminal, a line in a log."""
    if console.is_terminal:
        with console.status(what):
            yield
    else:
        console.print(what, markup=False, highlight=False, soft_wrap=True)
        yield


def check_queries(session: SparkSession, questions: Sequence[Query]) -> None:
    """Let Spark look at every query before the first one takes its time.

    Args:
        session: A running session.
        questions: The queries.

    Raises:
        DemoError: Spark refuses one, such as for an order key without an order.
    """
    for question in questions:
        try:
            session.sql(question.sql)
        except AnalysisException as error:
            raise DemoError(str(error).strip().splitlines()[0]) from error


def compare_all(
    console: Console, session: SparkSession, questions: Sequence[Query], repetitions: int
) -> list[Comparison]:
    """Compare query by query: a bar that moves with every run, or in a log a line per query."""
    compared: list[Comparison] = []
    with Progress(*columns(), console=console, transient=True) as progress:
        bar = progress.add_task("", total=len(questions) * comparison.steps(repetitions))
        for question in questions:
            title = f"{question.title}, {question.function}"
            progress.update(bar, description=title)
            if not console.is_terminal:
                console.print(title, markup=False, highlight=False, soft_wrap=True)
            compared.append(
                comparison.compare(session, question, repetitions, lambda: progress.advance(bar))
            )
    return compared


def explained(session: SparkSession, question: Query) -> firesteel.Explanation:
    """Explain a query after it ran, when its plan is the final one."""
    query = session.sql(question.sql)
    comparison.run(query, question.compared)
    return firesteel.explain(query)
