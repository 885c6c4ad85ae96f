"""Writes tests/slow.txt from the reports of `make test-all`: the tests that `make test` leaves out.

A test is slow if it took SECONDS or more. Tests of random cases are never listed: `make test` runs
them with a quarter of the cases. A suite of which all tests are slow keeps its fastest one.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "slow.txt"
SECONDS = {"scala": 1.0, "python": 2.5}
KEPT_UP_TO = 5.0  # seconds of the fastest test of a suite
RANDOM = re.compile("Random|Property")

Test = tuple[float, str, str]


def reports(language: str) -> Iterator[Path]:
    """Yield the files in which the last runs have noted their tests."""
    if language == "python":
        yield from ROOT.glob("target/test-python.xml")
    else:
        yield from ROOT.glob("scala/*/target-4.3/test-reports/*.xml")
        yield from ROOT.glob("tests/scala/target-4.3/test-reports/*.xml")


def tests(language: str) -> Iterator[Test]:
    """Yield the seconds, the suite and the name of each test."""
    for report in reports(language):
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            suite = case.get("classname", "").rpartition(".")[2]
            yield float(case.get("time", 0)), suite, " ".join(case.get("name", "").split())


def slow(language: str) -> Iterator[Test]:
    """Yield the tests that take too long for `make test`."""
    of_suite = defaultdict(list)
    for test in tests(language):
        of_suite[test[1]].append(test)
    for suite, measured in of_suite.items():
        if RANDOM.search(suite):
            continue
        fastest = min(measured)
        for test in measured:
            if test[0] >= SECONDS[language] and (test is not fastest or test[0] > KEPT_UP_TO):
                yield test


def unmeasured() -> Iterator[Test]:
    """Yield the listed tests that the last runs did not have, as when only some suites ran."""
    measured = {test[1:] for language in SECONDS for test in tests(language)}
    for line in LIST.read_text().splitlines():
        if not line.startswith("#"):
            seconds, suite, name = line.split("\t")
            if (suite, name) not in measured:
                yield float(seconds), suite, name


def main() -> None:
    """Write the list."""
    found = sorted(
        [*unmeasured(), *(test for language in SECONDS for test in slow(language))],
        key=lambda t: t[1:],
    )
    lines = [
        "# Seconds, suite and name of the tests of `make test-all` that `make test` leaves out.",
        "# Written by `.venv/bin/python build/slow_tests.py` after `make test-all`.",
        *(f"{seconds:.0f}\t{suite}\t{name}" for seconds, suite, name in found),
    ]
    LIST.write_text("\n".join(lines) + "\n")
    total = sum(seconds for seconds, _, _ in found)
    print(f"{len(found)} slow tests, {total:.0f} seconds", file=sys.stderr)


if __name__ == "__main__":
    main()
