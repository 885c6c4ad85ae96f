"""Checks the types of code that users write: by pyright, and by mypy as strict as it is.

It reads the examples, ``tests/python/typed_user.py`` and the Python of the manual's page on
connectors. Users have either checker, and they disagree about protocols, so both must accept it.

    .venv/bin/python build/check_types.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ("examples", "tests/python/typed_user.py")
PAGES = ("docs/connectors.md",)

BEFORE = """\
import firesteel
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
"""


def main() -> None:
    """Check, and exit with an error if a checker finds one."""
    sys.path.insert(0, str(ROOT))
    from tests.python.manual_page import blocks

    folder = ROOT / "target/types"
    folder.mkdir(parents=True, exist_ok=True)
    pages = []
    for page in PAGES:
        found = blocks((ROOT / page).read_text("utf-8"))
        pages.append(folder / f"{Path(page).stem}.py")
        pages[-1].write_text(
            "\n".join([BEFORE, *(b.code for b in found if b.language == "python")]), "utf-8"
        )
    sources = [*SOURCES, *(str(path.relative_to(ROOT)) for path in pages)]
    # pyright finds the package by the interpreter's path, which a worktree sets by PYTHONPATH.
    package = str(ROOT / "python/src")
    environment = os.environ | {"PYTHONPATH": package}
    checkers = (
        ["pyright", "--pythonpath", sys.executable],
        ["mypy", "--config-file", "python/pyproject.toml", "--no-error-summary"],
    )
    failed = False
    for name, *options in checkers:
        command = [sys.executable, "-m", name, *options, *sources]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            failed = True
            print(done.stdout + done.stderr, file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
