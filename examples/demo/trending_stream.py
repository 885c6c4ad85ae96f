"""``python -m demo.trending_stream FOLDER``: the stream in the process that the demo kills."""

from __future__ import annotations

import sys
from pathlib import Path

from demo import spark, trending


def main(work: Path) -> None:
    """Run the stream until there are no more events."""
    trending.start(spark.start(work / "stream"), work).awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
