"""Keeps the three most frequent words of each first letter in a folder, while words arrive.

    python examples/changelog/trending_to_folder.py --words DIR --checkpoint DIR --table DIR

``--words`` has JSON files such as ``{"word": "apple"}``. The program reads all files, prints the
table and ends. Run it again when there are more files. You may kill it at any moment and start it
again: each micro-batch is applied to the table exactly once. For a PostgreSQL table, pass
`apply_changes` the options of Spark's JDBC source.
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
    """Apply all files, one in each micro-batch."""
    incoming = spark.readStream.schema("word STRING").option("maxFilesPerTrigger", 1).json(words)
    incoming.createOrReplaceTempView("words")
    # The key need not be the query's own, which is (letter, word): a place changes its word.
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
