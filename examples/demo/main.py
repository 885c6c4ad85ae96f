"""The demo from start to end: streams, first-n-per-key queries, a lookup join."""

from __future__ import annotations

import tempfile
import time
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
from demo import (
    arguments,
    comparison,
    enrichment,
    orders,
    page,
    queries,
    spark,
    table,
    targets,
    trending,
)
from demo.errors import DemoError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import Row, SparkSession

    from demo.arguments import Arguments
    from demo.comparison import Comparison
    from demo.queries import Query
    from demo.table import Table

ORDERS = 100_000
"""Orders that the lookup join enriches."""


def main(argv: Sequence[str]) -> int:
    """Run the demo.

    Args:
        argv: The command line, without the program's name.

    Returns:
        The exit code: 0, 1 when answers differ, 2 when the command line does not fit the table.
    """
    console = Console()
    began = time.monotonic()
    asked = arguments.parse(argv)
    with tempfile.TemporaryDirectory(prefix="firesteel-demo-") as folder:
        work = Path(folder)
        with announced(console, "starting Spark"):
            session = spark.start(work)
        try:
            code = run(console, session, asked, work)
        except DemoError as error:
            say(console, f"demo: {error}")
            return 2
        finally:
            session.stop()
    if code == 0:
        page.print_next(console, time.monotonic() - began)
    return code


def run(console: Console, session: SparkSession, asked: Arguments, work: Path) -> int:
    """Show all parts; the exit code says whether all answers were equal."""
    # A column that is not in the caller's table is an error before anything takes its time.
    own = registered(console, session, asked, work) if asked.data else None
    if not stream(console, session, work):
        complain(console, "The stream's table differs from the batch query's answer")
        return 1
    console.print()
    if not join(console, session, work / "orders"):
        complain(console, "The changes of joined streams do not add up to the batch query's answer")
        return 1
    console.print()
    if not share(console, session, work / "targets"):
        complain(console, "Targets of a statement set differ from those of queries by themselves")
        return 1
    console.print()
    if not compare(console, session, asked, own or registered(console, session, asked, work)):
        complain(console, "Answers with firesteel off and on differ")
        return 1
    console.print()
    if not enrich(console, session, asked, work):
        complain(console, "Enriched rows differ from a plain join's")
        return 1
    return 0


def stream(console: Console, session: SparkSession, work: Path) -> bool:
    """Show a stream's table while the stream is killed and resumed; return whether it is right."""
    folder = work / "stream"
    (folder / "events").mkdir(parents=True)
    trending.write_events(folder / "events")
    say(
        console,
        f"A stream of {trending.FILES * trending.EVENTS:,} visits: per category, the items to "
        "which most visitors came back",
        style="bold",
    )
    say(console, f"Spark alone: {trending.refusal(session, folder)}")
    last: list[Row] = []
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def show(title: str, rows: Sequence[Row]) -> None:
            last[:] = rows
            if console.is_terminal:
                live.update(page.trending_table(f"firesteel: {title}", rows), refresh=True)
            else:
                say(console, f"firesteel: {title}")

        equal = trending.trend(session, folder, show)
    console.print(page.trending_table("firesteel: the table after the last micro-batch", last))
    if equal:
        say(
            console,
            "The process was killed, and the table equals the batch query's answer.",
            style="green",
        )
    return equal


def join(console: Console, session: SparkSession, folder: Path) -> bool:
    """Show the changes of a join of three streams; return whether they add up to the answer."""
    orders.write_files(folder)
    say(
        console,
        f"Three streams: {orders.FILES * orders.ORDERS:,} orders, customers who move, and payments",
        style="bold",
    )
    last: list[Row] = []

    def show(batch: int, rows: Sequence[Row]) -> None:
        last[:] = rows
        say(console, f"firesteel: micro-batch {batch + 1} emits {len(rows)} changes")

    equal = orders.follow(session, folder, show)
    console.print(page.changes_table("the last micro-batch", last))
    if equal:
        say(console, "All changes add up to the batch query's answer.", style="green")
    return equal


def share(console: Console, session: SparkSession, folder: Path) -> bool:
    """Fill three targets by three queries and by one; return whether they are equal."""
    targets.write_files(folder)
    say(
        console,
        f"Three targets of one view over {targets.FILES * targets.VISITS:,} visits in JSON",
        style="bold",
    )
    with announced(console, "three queries, then one statement set"):
        apart, together = targets.compare(session, folder)
    say(console, f"three queries:     {apart.cpu:.1f} s of CPU")
    say(console, f"one statement set: {together.cpu:.1f} s of CPU", style="green")
    return apart.answers == together.answers


def compare(console: Console, session: SparkSession, asked: Arguments, subject: Table) -> bool:
    """Compare queries with firesteel off and on; return whether all answers were equal."""
    questions = queries.queries(subject, asked.n, ascending=asked.ascending)
    check_queries(session, questions)
    say(
        console,
        f"{subject.description}, ranked by {', '.join(subject.order)}; timed runs of each "
        f"query: {asked.repetitions} with firesteel off and {asked.repetitions} on, in turn",
        style="bold",
    )
    compared = compare_all(console, session, questions, asked.repetitions)
    console.print(page.comparison_table(compared))
    page.print_explanation(console, questions[0], explained(session, questions[0]))
    return all(one.equal for one in compared)


def enrich(console: Console, session: SparkSession, asked: Arguments, work: Path) -> bool:
    """Show a lookup join in its three modes; return whether all gave a plain join's answer."""
    folder = work / "customers"
    folder.mkdir()
    with announced(console, "making a store of customers"):
        subject = enrichment.prepare(session, folder, ORDERS)
        right = enrichment.expected(session, subject)
    say(console, subject.description, style="bold")
    with Progress(*columns(), console=console, transient=True) as progress:
        bar = progress.add_task("lookup join", total=enrichment.steps(asked.repetitions))
        found = enrichment.compare(
            session, subject, asked.repetitions, lambda: progress.advance(bar)
        )
    console.print(page.enrichment_table(found, right))
    return all(one.digest == right for one in found)


def registered(console: Console, session: SparkSession, asked: Arguments, work: Path) -> Table:
    """Make or read the table that queries are compared on."""
    with announced(console, f"reading {asked.data}" if asked.data else "making the table"):
        return table.register(session, asked, table.cache_folder(), work)


def say(console: Console, text: str, style: str | None = None) -> None:
    """Print a line as it is: no markup in it, and no break where the terminal ends."""
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def complain(console: Console, found: str) -> None:
    """Print that answers differ."""
    say(console, f"{found}: please report it.", style="bold red")


def columns() -> tuple[ProgressColumn, ...]:
    """What a progress bar shows."""
    return (
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )


@contextmanager
def announced(console: Console, step: str) -> Iterator[None]:
    """One line for a step: on a terminal a spinner first, and its seconds afterwards."""
    began = time.monotonic()
    if console.is_terminal:
        with console.status(step):
            yield
        say(console, f"{step}: {time.monotonic() - began:.0f} s", style="dim")
    else:
        say(console, step)
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
                say(console, title)
            compared.append(
                comparison.compare(session, question, repetitions, lambda: progress.advance(bar))
            )
    return compared


def explained(session: SparkSession, question: Query) -> firesteel.Explanation:
    """Explain a query after it ran, when its plan is the final one."""
    query = session.sql(question.sql)
    comparison.run(query, question.compared)
    return firesteel.explain(query)
