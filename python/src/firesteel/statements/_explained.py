"""The explanation of a statement set: the statements, and what is shared."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel import _display
from firesteel.explain import Explanation


@dataclass(frozen=True)
class ExplainedStatement:
    """A statement of a set.

    Attributes:
        name: Its name.
        mode: Its output mode.
        target: The kind of its target, such as ``apply_changes`` or ``format delta``.
        guarantee: How often a row is written if a micro-batch is repeated: ``exactly once``,
            ``at least once``, or ``shown once`` of a live table.
    """

    name: str
    mode: str
    target: str
    guarantee: str

    def __str__(self) -> str:
        return f"{self.name}: {self.mode} mode, {self.target}, {self.guarantee}"


@dataclass(frozen=True)
class SetExplanation(Explanation):
    """What a statement set would run.

    Attributes:
        statements: In the order of their writes.
    """

    statements: tuple[ExplainedStatement, ...]

    @property
    def text(self) -> str:
        """The whole explanation as plain text."""
        return "\n".join(["Statements:", *(f"  {its}" for its in self.statements), super().text])

    def _page(self) -> _display.Page:
        page = super()._page()
        columns = ["statement", "mode", "target", "guarantee"]
        rows = [[its.name, its.mode, its.target, its.guarantee] for its in self.statements]
        written = _display.Table("Statements", columns, rows)
        return _display.Page(page.title, [written, *page.parts])
