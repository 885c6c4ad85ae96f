"""What `import firesteel` says on a PySpark that it does not support; each case is a process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import firesteel
from firesteel import FiresteelError, UnsupportedSparkError, changelog, errors, lookup, sinks

SOURCES = Path(__file__).parents[1] / "src"


def imported_beside(pyspark: str, folder: Path) -> str:
    """Import firesteel where PySpark is a version and nothing else; return the last line told."""
    (folder / "pyspark").mkdir()
    (folder / "pyspark" / "__init__.py").touch()
    (folder / "pyspark" / "version.py").write_text(f"__version__ = {pyspark!r}")
    program = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(SOURCES)!r}]; import firesteel"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("pyspark", ["3.5.9", "4.4.0", "4.30.0", "5.0.0"])
def test_another_pyspark_is_refused_with_both_versions(pyspark: str, tmp_path: Path) -> None:
    assert imported_beside(pyspark, tmp_path) == (
        "firesteel.errors.UnsupportedSparkError: This package of firesteel supports PySpark "
        f"4.0, 4.1, 4.2 or 4.3, but PySpark {pyspark} is installed here: "
        "pip install 'pyspark==4.3.*'."
    )


@pytest.mark.parametrize("pyspark", ["4.0.1", "4.1.4", "4.2.1", "4.3.9", "4.3.1.dev0"])
def test_releases_of_each_supported_version_are_let_through(pyspark: str, tmp_path: Path) -> None:
    assert "UnsupportedSparkError" not in imported_beside(pyspark, tmp_path)


def test_who_expects_an_import_to_fail_catches_it() -> None:
    assert issubclass(UnsupportedSparkError, ImportError)
    assert issubclass(UnsupportedSparkError, FiresteelError)


def test_every_public_name_is_on_the_page_of_the_api_and_in_the_package_of_its_subject() -> None:
    page = (Path(__file__).parents[2] / "docs/api/python.md").read_text()
    shown = {*re.findall(r"auto(?:class|function):: (\w+)", page), *vars(errors), "__version__"}
    assert set(firesteel.__all__) <= shown
    for package in (changelog, lookup, sinks):
        for name in package.__all__:
            assert getattr(firesteel, name) is getattr(package, name)
