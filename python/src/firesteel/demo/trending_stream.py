"""``python -m firesteel.demo.trending_stream FOLDER``: the stream that the demo kills."""

from __future__ import annotations

import sys
from pathlib import Path

import firesteel
from firesteel.demo import spark, trending


def main(work: Path) -> None:
    """Apply the changes of the trending items to a table, until there are no more events."""
    session = spark.start(work / "stream")
    # Each partition of each operator has a store to commit, in every micro-batch.
    session.conf.set("spark.sql.shuffle.partitions", 2)
    # The checkpoint is on a local disk, where Hadoop would start a process for each of its files.
    manager = "io.firesteel.checkpoint.LocalCheckpointFileManager"
    session.conf.set("spark.sql.streaming.checkpointFileManagerClass", manager)
    events = session.readStream.schema(trending.SCHEMA).option("maxFilesPerTrigger", 1)
    events.csv(str(work / "events")).createOrReplaceTempView("events")
    changes = session.sql(f"SELECT *, row_kind() AS op FROM ({trending.QUERY})")
    apply = firesteel.apply_changes(work / "trending", keys=trending.KEYS)
    stream = changes.writeStream.foreachBatch(apply).trigger(availableNow=True)
    stream.option("checkpointLocation", str(work / "checkpoint")).start().awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
