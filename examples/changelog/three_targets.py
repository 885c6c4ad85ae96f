"""Counts visits of pages once, and keeps three targets from one folder of JSON files.

    python examples/changelog/three_targets.py --visits DIR --checkpoint DIR --targets DIR

``--visits`` has JSON files such as ``{"page": "/home", "visitor": 7, "seconds": 12}``. The targets
are folders below ``--targets``:

    top       the three pages with the most visits, with their place
    counts    visits and seconds of each page
    long      each visit of a minute or more, with an id

One statement set reads the files once and counts once. The program reads all files, prints what it
has written and ends. Run it again when there are more files. You may kill it at any moment and
start it again: each micro-batch is in each target exactly once, and an id stays as it is.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pyspark.sql import SparkSession

import firesteel

COUNTS = "SELECT page, count(*) AS visits, sum(seconds) AS seconds FROM visits GROUP BY page"

TOP = """
    SELECT place, page, visits, row_kind() AS op FROM (
      SELECT *, row_number() OVER (ORDER BY visits DESC, page) AS place FROM counts)
    WHERE place <= 3"""

LONG = "SELECT uuid() AS id, page, visitor, seconds, row_kind() AS op FROM visits"


def statements(spark: SparkSession, visits: str, checkpoint: str, targets: Path) -> None:
    """Run the statements until all files are read, one in each micro-batch."""
    schema = "page STRING, visitor BIGINT, seconds BIGINT"
    incoming = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(visits)
    incoming.createOrReplaceTempView("visits")
    spark.sql(COUNTS).createOrReplaceTempView("counts")
    counts = spark.sql("SELECT *, row_kind() AS op FROM counts")
    s = firesteel.statement_set(spark, checkpoint)
    s.insert("top", spark.sql(TOP), firesteel.apply_changes(targets / "top", keys="place"))
    s.insert("counts", counts, firesteel.apply_changes(targets / "counts", keys="page"))
    long = spark.sql(LONG).where("seconds >= 60")
    s.insert("long", long, firesteel.apply_changes(targets / "long", keys="id"))
    s.start(trigger={"availableNow": True}).awaitTermination()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Keeps three targets from one stream of visits.")
    for name in ("--visits", "--checkpoint", "--targets"):
        parser.add_argument(name, required=True)
    given = parser.parse_args()
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2)
    # The checkpoint is on a local disk, where Hadoop would start a process for each of its files.
    manager = "io.firesteel.checkpoint.LocalCheckpointFileManager"
    builder.config("spark.sql.streaming.checkpointFileManagerClass", manager)
    spark = firesteel.configure(builder.config("spark.ui.enabled", False)).getOrCreate()
    targets = Path(given.targets)
    statements(spark, given.visits, given.checkpoint, targets)
    for name, order in (("top", "place"), ("counts", "page"), ("long", "page")):
        print(name)
        spark.read.format("firesteel-table").load(str(targets / name)).orderBy(order).show(5)
    spark.stop()


if __name__ == "__main__":
    main()
