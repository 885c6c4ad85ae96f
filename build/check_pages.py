"""Check Markdown: width, links, and that every setting and code that a page names exists.

    .venv/bin/python build/check_pages.py

Lines hold 100 characters at most; tables, links and code are free. Links of pages outside ``docs``
lead to files and headings that are there (Sphinx checks the manual's own). Names that look like
settings, errors or reasons are those of REFERENCE.md, which the code writes. A sentence begins with
its subject, not with "What", "Of", "Where" or "Who"; a question may.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WIDTH = 100
GENERATED = {"REFERENCE.md"}
RESULTS = "scala/bench/results/"

_CODE = re.compile(r"^(```|:::|~~~)")
_START = re.compile(r"(?:^|[.!?:] )(What|Of|Where|Who) [^?]*$")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_NAMES = re.compile(
    r"\bspark\.firesteel(?:\.\w+)+\b(?!\.\*|\.<)|\bFIRESTEEL_(?!TEST_)[A-Z_]+[A-Z]\b"
    r"|\b(?:PANES|RANK|SHUFFLE|SKEW)\.[A-Z_]+[A-Z]\b"
)


def main() -> int:
    """Print what is wrong, a line each; the exit code is 1 if anything is."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    pages = [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    reference = (ROOT / "REFERENCE.md").read_text(encoding="utf-8")
    known = set(_NAMES.findall(reference))
    faults = [fault for name in pages for fault in _faults(name, known)]
    print("\n".join(faults) if faults else f"{len(pages)} pages are right")
    return 1 if faults else 0


def _faults(name: str, known: set[str]) -> Iterator[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    written = name not in GENERATED and not name.startswith(RESULTS)
    in_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _CODE.match(line) is not None
        in_code = in_code != fence
        prose = not (in_code or fence or line.startswith("|") or _LINK.search(line))
        if prose and written and len(line) > WIDTH:
            yield f"{name}:{number}: {len(line)} characters, at most {WIDTH}"
        if prose and written and (start := _START.search(line)):
            yield f"{name}:{number}: a sentence begins with {start[1]}"
        for found in _NAMES.findall(line):
            rooms_switch = found.count(".") == 2 and any(k.startswith(found + ".") for k in known)
            if found not in known and not rooms_switch:
                yield f"{name}:{number}: {found} is in no list of REFERENCE.md"
        if not name.startswith("docs/") and not in_code:
            yield from _dead_links(name, number, line)


def _dead_links(name: str, number: int, line: str) -> Iterator[str]:
    for target in _LINK.findall(line):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        if not file.exists():
            yield f"{name}:{number}: {target} leads nowhere"
        elif anchor and file.suffix == ".md" and anchor not in _anchors(file):
            yield f"{name}:{number}: {target} has no such heading"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


if __name__ == "__main__":
    sys.exit(main())
