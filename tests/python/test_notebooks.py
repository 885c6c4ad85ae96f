"""The notebooks of examples/notebooks: each runs from top to bottom, and git has no outputs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import firesteel
from tests.python.since_spark import needs_arrow_functions

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"


def read(name: str) -> Any:  # noqa: ANN401 - nbformat has no types
    return nbformat.read(NOTEBOOKS / name, as_version=4)  # type: ignore[no-untyped-call]


def html(cell: Any) -> str:  # noqa: ANN401 - as above
    return "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_git_has_no_outputs(path: Path) -> None:
    code = [cell for cell in read(path.name).cells if cell.cell_type == "code"]
    assert code
    assert [cell for cell in code if cell.outputs or cell.execution_count is not None] == []


@needs_arrow_functions
def test_the_tour_runs_and_shows_tables(
    tmp_path: Path, plain_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A kernel of this interpreter, whatever kernels this machine has.
    kernels = tmp_path / "jupyter" / "kernels" / "python3"
    kernels.mkdir(parents=True)
    (kernels / "kernel.json").write_text(
        f'{{"argv": ["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"],'
        ' "display_name": "Python 3", "language": "python"}',
        encoding="utf-8",
    )
    for name in {*os.environ} - {*plain_environment}:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(Path(firesteel.__file__).parents[1]))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    tour = read("tour.ipynb")
    NotebookClient(tour, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    code = [cell for cell in tour.cells if cell.cell_type == "code"]
    shown = {cell.source.splitlines()[-1]: html(cell) for cell in code}
    assert "PlanTopN" in shown['firesteel.explain(numbered.where("place <= 3"))']
    assert "RANK.NO_UPPER_BOUND" in shown['firesteel.explain(numbered.where("place >= 3"))']
    assert "hit rate" in shown["firesteel.lookup_metrics(joined)"]
    assert "changelogMode" in shown["firesteel.explain(top)"]
    assert "the three best" in shown["table"]
    assert '">p10</td>' in shown["table"]
    for last in ("firesteel.watch(query).awaitTermination()", "firesteel.watch(query)"):
        assert "top products: stopped" in shown[last]
        assert "changelogAggregate" in shown[last]
