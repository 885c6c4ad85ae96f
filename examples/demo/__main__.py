"""``python examples/demo``, or ``python -m demo`` in the folder ``examples``."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

if __name__ == "__main__":
    if find_spec("rich") is None:
        sys.exit("demo: rich is not installed: run `make demo`, or pip install rich")
    # Python puts the folder of the demo on the path when it is given that folder.
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from demo.main import main

    sys.exit(main(sys.argv[1:]))
