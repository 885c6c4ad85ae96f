"""Draw the README's picture: ``python build/plot_speed.py scala/bench/results``.

A bar says how many times faster firesteel is, from the results that the benchmarks have written
there: against stock Spark for batch queries, against Flink for streams, which stock Spark refuses.
The last bars are the bad cases. ``speed-light.svg`` and ``speed-dark.svg`` are the same picture in
two sets of colours.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "firesteel"

from matplotlib import pyplot as plt  # noqa: E402  (the backend is chosen first)

# A file of results, the name of its case, and the text of the bar.
CASES = [
    ("panes", "day-by-hour", "sliding window, a day by an hour"),
    ("rank", "row-number-10", "10 newest rows of each key"),
    ("skew", "twenty-five", "25 COUNT(DISTINCT) in one query"),
    ("skew", "two-unique", "2 COUNT(DISTINCT)"),
    ("lookup", "postgres", "lookup join, 1 % of a PostgreSQL table"),
    ("shuffle", "window", "GROUP BY (a, b), then a window by a"),
    ("streaming-parquet", "distinct", "stream: COUNT(DISTINCT), against Flink"),
    ("streaming-parquet", "trending", "stream: Top-10 by a count, against Flink"),
    ("streaming-parquet", "latest", "stream: newest row of a key, against Flink"),
    ("tpcds", "", "TPC-DS, geometric mean of all 103 queries"),
    ("rank", "keys-1000000-first-3", "3 rows of each key, nearly all rows kept"),
]
COLOURS = {"light": ("#2f6f9f", "#1f2328"), "dark": ("#6cb6ff", "#e6edf3")}


def speed_up(folder: Path, room: str, name: str) -> float:
    """Return the median of a case's paired runs, or the geometric mean of all of TPC-DS."""
    results = json.loads((folder / f"{room}.json").read_text(encoding="utf-8"))
    if room == "tpcds":
        logs = [math.log(query["speedUp"]["median"]) for query in results["queries"]]
        return math.exp(sum(logs) / len(logs))
    return float(next(c for c in results["cases"] if c["name"] == name)["speedUp"]["median"])


def draw(speeds: list[tuple[str, float]], bar: str, ink: str, target: Path) -> None:
    """Draw one bar for each text and its speed-up, the first on top."""
    figure, axes = plt.subplots(figsize=(8, 0.6 + 0.34 * len(speeds)))
    for place, (_, speed) in enumerate(reversed(speeds)):
        axes.barh(place, speed, color=bar, height=0.62)
        axes.text(speed + 0.15, place, f"{speed:.1f}x", va="center", size=10, color=ink)
    axes.axvline(1, color=ink, linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(speeds)), [text for text, _ in reversed(speeds)], fontsize=10)
    axes.tick_params(colors=ink, length=0)
    axes.set_xticks([])
    axes.set_xlim(0, max(speed for _, speed in speeds) * 1.14)
    axes.spines[["top", "right", "bottom", "left"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(target, transparent=True, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Draw both pictures into the folder of results that the command line names."""
    if len(sys.argv) != 2:
        sys.exit("usage: python build/plot_speed.py RESULTS-FOLDER")
    folder = Path(sys.argv[1])
    speeds = [(text, speed_up(folder, room, name)) for room, name, text in CASES]
    for name, (bar, ink) in COLOURS.items():
        draw(speeds, bar, ink, folder / f"speed-{name}.svg")


if __name__ == "__main__":
    main()
