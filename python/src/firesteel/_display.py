"""Tables for a notebook, a terminal and a log: escaped, and bounded in rows, columns and text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_ROWS = 50
"""Rows of a table that are shown."""

MAX_COLUMNS = 16
"""Columns of a table that are shown."""

MAX_CHARACTERS = 500
"""Characters of a cell or a title that are shown."""

MAX_LINES = 400
"""Lines of a folded text that are shown, each of four times `MAX_CHARACTERS` at most."""

Cell: TypeAlias = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows under column names.

    Attributes:
        title: What the rows are.
        columns: Names of the columns.
        rows: Cells, as many in each row as there are columns. Numbers are aligned to the right.
        empty: Shown instead of a table without rows.
        kind: What one row is, in the plural: used to say how many are not shown.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    empty: str = "nothing"
    kind: str = "rows"


@dataclass(frozen=True)
class Fold:
    """Text with its own line breaks, folded in a notebook, such as a plan."""

    title: str
    text: str


@dataclass(frozen=True)
class Page:
    """What one object shows."""

    title: str
    parts: Sequence[Table | Fold]


class Shown(ABC):
    """An object that shows its page in a notebook, in a terminal and by ``rich.print``."""

    @abstractmethod
    def _page(self) -> Page: ...

    def __str__(self) -> str:
        return to_text(self._page())

    def _repr_html_(self) -> str:
        return to_html(self._page())

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ANN401 - IPython's
        printer.text(str(self))

    def __rich__(self) -> Any:  # noqa: ANN401 - rich is optional
        return to_rich(self._page())


def to_html(page: Page) -> str:
    """Render a page for a notebook; every text in it is escaped."""
    parts = [_table_html(p) if isinstance(p, Table) else _fold_html(p) for p in page.parts]
    title = f"<p><b>{escape(_clean(page.title))}</b></p>"
    return f'<div class="firesteel">{title}{"".join(parts)}</div>'


def to_text(page: Page) -> str:
    """Render a page as plain text."""
    parts = [_table_text(p) if isinstance(p, Table) else _fold_text(p) for p in page.parts]
    return "\n\n".join([_clean(page.title), *parts])


def to_line(table: Table) -> str:
    """Render the first row of a table as one line: each cell after its column's name."""
    columns, (row, *_), left_out = _bounded(table)
    cells = [f"{name} {cell}" for name, cell in zip(columns, row, strict=True)]
    return ", ".join([*cells, left_out] if left_out else cells)


def to_rich(page: Page) -> Any:  # noqa: ANN401 - rich is optional, and so are its types
    """Render a page for `rich.print`.

    Raises:
        ImportError: rich is not installed.
    """
    from rich.console import Group
    from rich.text import Text

    parts = [_table_rich(p) if isinstance(p, Table) else Text(_fold_text(p)) for p in page.parts]
    return Group(Text(_clean(page.title), style="bold"), *parts)


def _clean(text: str, characters: int = MAX_CHARACTERS) -> str:
    """One line without control characters, which could steer a terminal, and cut at the bound."""
    cut = text[: characters + 1]
    line = "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}"
                   for c in cut)  # fmt: skip
    return line if len(text) <= characters else f"{line[:characters]}… ({len(text):,} characters)"


def _shown(cell: Cell) -> str:
    match cell:
        case None:
            return "-"
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:,.1f}"
        case _:
            return _clean(cell)


def _bounded(table: Table) -> tuple[list[str], list[list[str]], str]:
    """Column names, shown rows, and what the bounds left out."""
    columns = [_clean(name) for name in table.columns[:MAX_COLUMNS]]
    rows = [[_shown(cell) for cell in row[:MAX_COLUMNS]] for row in table.rows[:MAX_ROWS]]
    left_out = [
        f"{count:,} more {kind}"
        for count, kind in (
            (len(table.rows) - len(rows), table.kind),
            (len(table.columns) - len(columns), "columns"),
        )
        if count > 0
    ]
    return columns, rows, f"not shown: {', '.join(left_out)}" if left_out else ""


def _numeric(table: Table) -> list[bool]:
    """For each shown column whether it has numbers alone."""
    cells = ([row[i] for row in table.rows] for i in range(min(MAX_COLUMNS, len(table.columns))))
    return [
        any(c is not None for c in column)
        and all(c is None or isinstance(c, int | float) for c in column)
        for column in cells
    ]


def _lines(fold: Fold) -> list[str]:
    lines = fold.text.rstrip().splitlines()
    shown = [
        indent + _clean(line[len(indent) :], 4 * MAX_CHARACTERS)
        for line in lines[:MAX_LINES]
        for indent in [line[: len(line) - len(line.lstrip(" "))]]
    ]
    more = len(lines) - len(shown)
    return [*shown, f"not shown: {more:,} more lines"] if more else shown


def _table_html(table: Table) -> str:
    title = f"<p>{escape(_clean(table.title))}</p>"
    if not table.rows:
        return f"{title}<p><i>{escape(_clean(table.empty))}</i></p>"
    columns, rows, left_out = _bounded(table)
    right = _numeric(table)

    def cells(tag: str, row: list[str]) -> str:
        return "".join(
            f'<{tag} style="text-align: {"right" if numbers else "left"}">{escape(cell)}</{tag}>'
            for cell, numbers in zip(row, right, strict=True)
        )

    head = f"<thead><tr>{cells('th', columns)}</tr></thead>"
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    note = f"<p><i>{escape(left_out)}</i></p>" if left_out else ""
    return f"{title}<table>{head}<tbody>{body}</tbody></table>{note}"


def _fold_html(fold: Fold) -> str:
    text = escape("\n".join(_lines(fold)))
    title = escape(_clean(fold.title))
    return f"<details><summary>{title}</summary><pre>{text}</pre></details>"


def _table_text(table: Table) -> str:
    if not table.rows:
        return f"{_clean(table.title)}\n  {_clean(table.empty)}"
    columns, rows, left_out = _bounded(table)
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    right = _numeric(table)
    lines = [
        "  ".join(
            cell.rjust(width) if numbers else cell.ljust(width)
            for cell, width, numbers in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in [columns, *rows]
    ]
    noted = [*lines, left_out] if left_out else lines
    return "\n".join([_clean(table.title), *(f"  {line}" for line in noted)])


def _fold_text(fold: Fold) -> str:
    return "\n".join([_clean(fold.title), *(f"  {line}" for line in _lines(fold))])


def _table_rich(table: Table) -> Any:  # noqa: ANN401 - as `to_rich`
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    if not table.rows:
        return Text(_table_text(table))
    columns, rows, left_out = _bounded(table)
    grid = Grid(
        title=Text(_clean(table.title)),
        caption=Text(left_out) if left_out else None,
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title_justify="left",
        caption_justify="left",
    )
    for name, numbers in zip(columns, _numeric(table), strict=True):
        grid.add_column(Text(name), justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        # A Text, since rich reads markup in a str.
        grid.add_row(*map(Text, row))
    return grid
