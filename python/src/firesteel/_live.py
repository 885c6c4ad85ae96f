"""Shows one thing again and again: in place in a notebook and in a terminal with rich."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from firesteel import _display


class Snapshot:
    """The page of one moment: IPython shows it, and starts nothing."""

    def __init__(self, shown: _display.Shown) -> None:
        self._bundle = shown._repr_mimebundle_()

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return self._bundle


class _Empty:
    """Nothing yet."""

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": ""}


@contextmanager
def shown(
    otherwise: Callable[[Any], None],
) -> Iterator[Callable[[_display.Shown], None]]:
    """Yield what shows a thing in the place of what it showed before.

    Args:
        otherwise: Shows it where nothing can be shown in place: in a log, in a file.
    """
    if in_notebook():
        handle = _show(_Empty())
        yield lambda thing: handle.update(Snapshot(thing))
    elif sys.stdout.isatty() and _has_rich():
        from rich.live import Live

        with Live(auto_refresh=False) as live:
            yield lambda thing: live.update(thing.__rich__(), refresh=True)
    else:
        yield otherwise


def updating(thing: _display.Shown) -> Callable[[_display.Shown], None]:
    """Show a thing in a notebook; return what shows another one in its place."""
    handle = _show(Snapshot(thing))
    return lambda other: handle.update(Snapshot(other))


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook; IPython in a terminal cannot update in place."""
    # Asked before it is imported, which takes its time.
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return hasattr(get_ipython(), "kernel")


def _has_rich() -> bool:
    """Whether there is a rich that shows several things at once, as it does since 14.1."""
    try:
        major, minor = version("rich").split(".")[:2]
        return (int(major), int(minor)) >= (14, 1)
    except (PackageNotFoundError, ValueError):
        return False


def _show(thing: object) -> Any:  # noqa: ANN401 - IPython is optional, and its types
    from IPython.core import display_functions

    show: Any = display_functions.display
    return show(thing, display_id=True)
