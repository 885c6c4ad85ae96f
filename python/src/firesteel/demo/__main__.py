"""``python -m firesteel.demo``."""

from __future__ import annotations

import sys
from importlib.util import find_spec

if __name__ == "__main__":
    if find_spec("rich") is None:
        sys.exit("the demo needs rich: pip install 'firesteel[demo]'")
    from firesteel.demo.main import main

    sys.exit(main(sys.argv[1:]))
