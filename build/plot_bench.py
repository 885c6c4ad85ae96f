"""Draws a benchmark's results: ``python build/plot_bench.py scala/bench/results/rank.json``.

One bar per case, as long as stock takes in multiples of firesteel, with the smallest and largest
ratio as a whisker and the promised ratio as a mark. The scale is logarithmic, so that twice as
fast and half as fast are equally far from 1.

Cases that say how many slides a window spans get a second picture, of the time that a million rows
take: ``panes-sizes.svg``.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
# A picture of the same numbers is the same file: nothing random, no date.
matplotlib.rcParams["svg.hashsalt"] = "firesteel"

from matplotlib import pyplot as plt  # noqa: E402  (the backend is chosen first)
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

FASTER, SLOWER, MARK = "#2f6f9f", "#b5482a", "#222222"
STOCK = "stock / firesteel"
TICKS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]


def draw(results: dict[str, Any], target: Path) -> None:
    """Draw every case of ``results``, the first on top, into the SVG file ``target``."""
    cases = [case for case in reversed(results["cases"]) if case["speedUp"]]
    ratios = [case["speedUp"] for case in cases]
    figure, axes = plt.subplots(figsize=(9, 1.3 + 0.34 * len(cases)))
    for place, (case, speed) in enumerate(zip(cases, ratios, strict=True)):
        median = speed["median"]
        axes.barh(place, median - 1, left=1, color=FASTER if median >= 1 else SLOWER, height=0.6)
        axes.plot([speed["min"], speed["max"]], [place, place], color=MARK, linewidth=1)
        axes.text(
            1.01, place, f"{median:.2f}x", transform=axes.get_yaxis_transform(), va="center", size=8
        )
        for bound in [] if results["noise"] else promised(case):
            axes.plot([bound, bound], [place - 0.42, place + 0.42], color=MARK, linewidth=2)
    axes.set_xscale("log")
    low = min([0.8, *(ratio["min"] for ratio in ratios)]) / 1.1
    marks = [bound for case in cases for bound in promised(case)]
    high = max([2.0, *marks, *(ratio["max"] for ratio in ratios)]) * 1.1
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in TICKS if low <= tick <= high]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}x"))
    axes.axvline(1, color=MARK, linewidth=0.8)
    labels = [
        f"{case['title']}: {case['ratio']}" if "ratio" in case else case["title"] for case in cases
    ]
    axes.set_yticks(range(len(cases)), labels, fontsize=8)
    same = {ratio_of(case) for case in cases}
    ratio = same.pop() if len(same) == 1 else "ratio of seconds"
    axes.set_xlabel(f"{ratio}: bar = median, whisker = range, thick mark = target")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_ylim(-0.7, len(cases) - 0.3)
    figure.suptitle(title(results), x=0.01, ha="left", fontsize=10)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def draw_sizes(results: dict[str, Any], target: Path) -> None:
    """Draw the time of a million rows by the number of slides in a window, both sides."""
    cases = sorted(sized(results), key=lambda case: int(case["sizeOverSlide"]))
    sizes = [case["sizeOverSlide"] for case in cases]
    figure, axes = plt.subplots(figsize=(7, 4))
    for side, color in [("stock", SLOWER), ("firesteel", FASTER)]:
        medians = [statistics.median(case["seconds"][side]) * 1e6 / case["rows"] for case in cases]
        axes.plot(sizes, medians, marker="o", color=color, label=side)
        for size, median in zip(sizes, medians, strict=True):
            axes.annotate(
                f"{median:.2g}", (size, median), textcoords="offset points", xytext=(0, 6), size=8
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,g}"))
    axes.set_xlabel("window size / slide")
    axes.set_ylabel("seconds for a million rows, median")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title(results), x=0.01, ha="left", fontsize=10)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def sized(results: dict[str, Any]) -> list[dict[str, Any]]:
    """The cases that differ in how many slides a window spans."""
    return [case for case in results["cases"] if case.get("sizeOverSlide")]


def promised(case: dict[str, Any]) -> list[float]:
    """The ratios to stock that the case must reach; its other promises have another scale."""
    return [target["value"] for target in case["targets"] if target["measure"] == ratio_of(case)]


def ratio_of(case: dict[str, Any]) -> str:
    """What is divided by what; a room whose cases differ in that says so in each."""
    ratio: str = case.get("ratio", STOCK)
    return ratio


def title(results: dict[str, Any]) -> str:
    """The room, and what it was measured with."""
    facts = results["environment"]
    if any("ratio" in case for case in results["cases"]):
        against = "times faster"
    else:
        against = "stock against itself" if results["noise"] else "times faster than stock"
    return f"{results['room']}: {against} (Spark {facts['Spark']}, commit {facts['commit']})"


def main() -> None:
    """Draw the picture beside the JSON file named on the command line."""
    if len(sys.argv) != 2:
        sys.exit("usage: python build/plot_bench.py RESULTS.json")
    source = Path(sys.argv[1])
    results = json.loads(source.read_text(encoding="utf-8"))
    if results["cases"]:
        draw(results, source.with_suffix(".svg"))
    if len(sized(results)) > 1:
        draw_sizes(results, source.with_name(f"{source.stem}-sizes.svg"))


if __name__ == "__main__":
    main()
