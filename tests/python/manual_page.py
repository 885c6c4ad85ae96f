"""Runs the code blocks of a Markdown page, from top to bottom, as a reader would.

A block of Python runs in the page's own names, which begin with ``spark`` and ``firesteel``. A
block of SQL is one statement or several, each ended by a semicolon at a line's end; its last result
is shown. A streaming result is run until its sources are read, and its rows are shown in order. A
block of text right below is what must be printed, where ``...`` stands for anything; a text that
begins with ``[`` is the beginning of the error that the block must end in. Python in a comment that
begins with ``<!-- setup`` runs too and is not shown to the reader. A path that begins with
``/tmp/`` is one in the working directory, which Spark's JVM does not know.

A comment ``<!-- since 4.2 -->`` right above a block leaves it out on older versions of Spark, and
``<!-- page since 4.1 -->`` leaves out the page.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import firesteel
from tests.python.since_spark import is_since

_BLOCK = re.compile(
    r"(?:^<!-- since (?P<since>\d+\.\d+) -->\n)?"
    r"(?:^<!-- setup\n(?P<setup>.*?)^-->$|^```(?P<language>\w+)\n(?P<code>.*?)^```$)",
    re.MULTILINE | re.DOTALL,
)
_PAGE_SINCE = re.compile(r"^<!-- page since (\d+\.\d+) -->$", re.MULTILINE)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """Code of a page: its language, first line number, and what it prints, if the page says so."""

    language: str
    code: str
    line: int
    output: str | None


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page that run, in order."""
    found = list(_BLOCK.finditer(text))
    for match, after in zip(found, [*found, None][1:], strict=True):
        language = match["language"] or "python"
        if language not in {"python", "sql"} or not is_since(match["since"] or "4.0"):
            continue
        shown = (
            after is not None
            and after["language"] == "text"
            and not text[match.end() : after.start()].strip()
        )
        start = match.start("code") if match["language"] else match.start("setup")
        yield Block(
            language,
            match["code"] if match["language"] else match["setup"],
            text.count("\n", 0, start) + 1,
            after["code"] if shown and after is not None else None,
        )


def first_spark(page: Path) -> str:
    """The minor version of Spark from which on a page can be run."""
    found = _PAGE_SINCE.search(page.read_text(encoding="utf-8"))
    return found[1] if found else "4.0"


def run_page(page: Path, spark: SparkSession) -> int:
    """Run every block of a page.

    Returns:
        How many blocks ran.

    Raises:
        AssertionError: A block printed something else than the page says, with the page's line.
    """
    names: dict[str, Any] = {"spark": spark, "firesteel": firesteel, "__name__": "__main__"}
    count = 0
    text = page.read_text(encoding="utf-8").replace('"/tmp/', f'"{Path.cwd()}/')
    for block in blocks(text):
        printed = _run(block, names, page)
        if block.output is not None:
            same = doctest.OutputChecker().check_output(block.output, printed, _FLAGS)
            place = f"{page.name}:{block.line}"
            assert same, f"{place} printed\n{printed}\nand the page says\n{block.output}"
        count += 1
    return count


def _run(block: Block, names: dict[str, Any], page: Path) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            if block.language == "sql":
                _sql(block.code, names["spark"])
            else:
                _python(block, names, page)
        except Exception as error:
            if block.output is None or not block.output.startswith("["):
                error.add_note(f"in {page.name}, the block at line {block.line}")
                raise
            first = block.output.splitlines()
            return "\n".join(str(error).splitlines()[: len(first)]) + "\n"
    return out.getvalue()


def _python(block: Block, names: dict[str, Any], page: Path) -> None:
    tree = ast.parse("\n" * (block.line - 1) + block.code, str(page))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(page), "exec"), names)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), str(page), "eval"), names)
        if value is not None:
            print(value)


def _sql(code: str, spark: SparkSession) -> None:
    # Statements of a statement set are indented, and end with END.
    ends = re.split(r";[ \t]*(?:\n(?! |END\b)|$)", code)
    statements = [part for part in ends if part.strip()]
    result: DataFrame | None = None
    for statement in statements:
        result = spark.sql(statement)
    if result is None or not result.columns:
        return
    if result.isStreaming:
        result = _streamed(result, spark)
    result.show(100, truncate=False)


def _streamed(result: DataFrame, spark: SparkSession) -> DataFrame:
    """All that a streaming result emits: in append mode if it has that, else in update mode."""
    rows: list[Any] = []
    writer = result.writeStream.trigger(availableNow=True).foreachBatch(
        lambda batch, _: rows.extend(batch.collect())
    )
    try:
        query = writer.outputMode("append").start()
    except AnalysisException:
        query = writer.outputMode("update").start()
    query.awaitTermination()
    return spark.createDataFrame(sorted(rows, key=str), result.schema)
