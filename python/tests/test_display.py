"""What notebooks and terminals show: escaped, bounded, and the same facts everywhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from html.parser import HTMLParser
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from firesteel import Declined, Explanation, Fired, LookupJoinMetrics, LookupMetrics, _display
from firesteel._display import Fold, Page, Table

SCRIPT = "<script>alert('&')</script>"


class Tags(HTMLParser):
    """The tags of a text, and the words between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def in_rich(shown: object) -> str:
    console = Console(file=StringIO(), width=200)
    console.print(shown)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


EXPLANATION = Explanation(
    (Fired(SCRIPT, SCRIPT, {SCRIPT: SCRIPT}),),
    (Declined(SCRIPT, SCRIPT, SCRIPT, {SCRIPT: SCRIPT}, SCRIPT),),
    SCRIPT,
)
METRICS = LookupMetrics((LookupJoinMetrics(SCRIPT, {SCRIPT: SCRIPT}, {SCRIPT: 3}),))


@pytest.mark.parametrize("shown", [EXPLANATION, METRICS], ids=["explanation", "metrics"])
def test_no_text_becomes_a_tag(shown: Explanation | LookupMetrics) -> None:
    found = Tags(shown._repr_html_())
    assert "script" not in found.tags
    assert SCRIPT in found.words


def test_no_text_becomes_markup_of_rich() -> None:
    shown = in_rich(Explanation((Fired("[red]rule[/red]", "", {"[/]": "[bold]"}),), (), "[x]"))
    assert all(text in shown for text in ("[red]rule[/red]", "[/] = [bold]", "[x]"))


@pytest.mark.parametrize("render", [_display.to_html, _display.to_text])
def test_control_characters_do_not_reach_a_terminal(render: Callable[[Page], str]) -> None:
    nasty = "a\x1b[2Jb\x07"
    page = Page(nasty, [Table(nasty, [nasty], [[nasty]]), Fold(nasty, nasty)])
    shown = render(page) + in_rich(_display.to_rich(page))
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_an_explanation_has_its_rules_and_its_plan_folded() -> None:
    found = Tags(Explanation((Fired("PlanTopN", "m", {}),), (), "TopN\n+- Scan")._repr_html_())
    assert found.tags.count("details") == 1
    assert "PlanTopN" in found.words
    assert "TopN\n+- Scan" in found.words
    assert "firesteel: 1 fired, 0 declined" in found.words


def test_metrics_have_a_column_for_each_join_and_a_hit_rate() -> None:
    joins = (
        LookupJoinMetrics("a", {}, {"hits": 3, "misses": 1, "requests": 1}),
        LookupJoinMetrics("b", {}, {"hits": 0, "misses": 0, "load_ms": 1234}),
    )
    assert str(LookupMetrics(joins)) == (
        "firesteel: 2 lookup joins\n"
        "\n"
        "Metrics\n"
        "  metric           a      b\n"
        "  hit rate (%)  75.0      -\n"
        "  hits             3      0\n"
        "  misses           1      0\n"
        "  requests         1      -\n"
        "  load_ms          -  1,234"
    )


def test_without_a_lookup_join_the_metrics_say_so() -> None:
    assert "no lookup join" in str(LookupMetrics(()))
    assert "no lookup join" in LookupMetrics(())._repr_html_()


@pytest.mark.parametrize("render", [_display.to_html, _display.to_text])
def test_rows_and_columns_beyond_the_bounds_are_counted(render: Callable[[Page], str]) -> None:
    rows, columns = _display.MAX_ROWS + 7, _display.MAX_COLUMNS + 2
    table = Table("t", [f"c{i}" for i in range(columns)], [[1] * columns] * rows, kind="rules")
    page = Page("p", [table])
    for shown in (render(page), in_rich(_display.to_rich(page))):
        assert "not shown: 7 more rules, 2 more columns" in shown
        assert f"c{_display.MAX_COLUMNS - 1}" in shown
        assert f"c{_display.MAX_COLUMNS}" not in shown


def test_a_line_tells_what_it_leaves_out() -> None:
    columns = [f"c{i}" for i in range(_display.MAX_COLUMNS + 2)]
    assert _display.to_line(Table("t", columns, [columns])).endswith("not shown: 2 more columns")


def test_long_text_is_cut_and_counted() -> None:
    page = Page("p", [Table("t", ["c"], [["x" * 10_000]]), Fold("f", "y\n" * 1_000)])
    shown = _display.to_text(page)
    assert "x" * _display.MAX_CHARACTERS + "… (10,000 characters)" in shown
    assert shown.count("y\n") == _display.MAX_LINES
    assert "not shown: 600 more lines" in shown


def test_at_the_bound_nothing_is_left_out() -> None:
    rows = [["x" * _display.MAX_CHARACTERS] * _display.MAX_COLUMNS] * _display.MAX_ROWS
    fold = Fold("f", "\n".join(["y"] * _display.MAX_LINES))
    page = Page("p", [Table("t", ["c"] * _display.MAX_COLUMNS, rows), fold])
    assert "not shown" not in _display.to_text(page)
    assert "…" not in _display.to_text(page)


def test_numbers_are_aligned_to_the_right() -> None:
    page = Page("p", [Table("t", ["name", "n"], [["a", 1_000], ["b", None], ["c", 2.5]])])
    assert _display.to_text(page).splitlines()[3:] == [
        "  name      n",
        "  a     1,000",
        "  b         -",
        "  c       2.5",
    ]


def test_everything_but_rich_itself_works_without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    absent: Any = None  # so that importing it fails
    monkeypatch.setitem(sys.modules, "rich", absent)
    for name in [name for name in sys.modules if name.startswith("rich.")]:
        monkeypatch.setitem(sys.modules, name, absent)
    assert SCRIPT in str(METRICS)
    assert "script" not in Tags(METRICS._repr_html_()).tags
    with pytest.raises(ImportError):
        _display.to_rich(Page("p", []))
