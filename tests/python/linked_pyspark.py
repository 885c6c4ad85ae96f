"""PySpark in an environment that a test makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def link_pyspark(into: Path) -> None:
    """Give an environment PySpark without copying 450 MB; all else stays out of it."""
    site = "import sysconfig; print(sysconfig.get_path('purelib'))"
    target, source = (
        Path(subprocess.check_output([python, "-c", site], text=True).strip())
        for python in (into, Path(sys.executable))
    )
    for part in [*source.glob("pyspark*"), *source.glob("py4j*")]:
        (target / part.name).symlink_to(part)
