"""The three most frequent words of each first letter, kept in a folder while words come in.

    python examples/changelog/trending_to_folder.py --words DIR --checkpoint DIR --table DIR

``--words`` has JSON files such as ``{"word": "apple"}``. The stream takes all files that are there,
prints the table and ends; run it again when there are more. It may be killed at any moment and
started again: each micro-batch is applied to the table exactly once. For a table of PostgreSQL
instead, give `apply_changes` the options of Spark's JDBC source.
"""

from __future__ import annotations

import argparse

from pyspark.sql import SparkSession

import firesteel

TRENDING = """
    SELECT letter, place, word, c, row_kind() AS op FROM (
      SELECT *, row_number() OVER (PARTITION BY letter ORDER BY c DESC, word) AS place FROM (
        SELECT substr(word, 1, 1) AS letter, word, count(*) AS c FROM words GROUP BY 1, 2))
    WHERE place <= 3"""


def run(spark: SparkSession, words: str, checkpoint: str, table: str) -> None:
    """Apply all that has come, a file in each micro-batch."""
    incoming = spark.readStream.schema("word STRING").option("maxFilesPerTrigger", 1).json(words)
    incoming.createOrReplaceTempView("words")
    # A place is another word's with each change of order; the words are the query's own key.
    apply = firesteel.apply_changes(table, keys=["letter", "place"])
    stream = (
        spark.sql(TRENDING)
        .writeStream.foreachBatch(apply)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    stream.awaitTermination()
    spark.read.format("firesteel-table").load(table).orderBy("letter", "place").show()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Keeps the most frequent words in a folder.")
    for name in ("--words", "--checkpoint", "--table"):
        parser.add_argument(name, required=True)
    given = parser.parse_args()
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2)
    spark = firesteel.configure(builder.config("spark.ui.enabled", False)).getOrCreate()
    run(spark, given.words, given.checkpoint, given.table)
    spark.stop()


if __name__ == "__main__":
    main()
