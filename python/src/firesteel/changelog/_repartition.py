"""Splits the state of a streaming query in another number of partitions."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firesteel import _errors
from firesteel.session import require_extension

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Repartitioned:
    """What has become of a checkpoint.

    Attributes:
        batch: The last micro-batch that has ended, that of the repartitioning among them.
        before: The number of partitions until now.
        partitions: The number with which the query goes on.
    """

    batch: int
    before: int
    partitions: int


def repartition_state(
    spark: SparkSession, checkpoint: str | os.PathLike[str], partitions: int
) -> Repartitioned:
    """Split the state of a stopped streaming query in another number of partitions.

    Spark fixes the number when a query begins, by ``spark.sql.shuffle.partitions``. Afterwards the
    query is started as always, and goes on with the new number. It also mends a checkpoint that
    Spark's own ``StreamingCheckpointManager``, which knows no operator of this package, has left
    so that the query starts no more.

    Whenever it is interrupted, the query starts with the old number or with the new one. Any SQL
    client can call ``SELECT * FROM firesteel_repartition_state('/checkpoint', 8)``.

    Args:
        spark: A session with the extension, classic or Connect.
        checkpoint: The query's option ``checkpointLocation``.
        partitions: How many partitions its state is to have.

    Returns:
        What was done; where the state has as many partitions already, nothing.

    Raises:
        ExtensionNotLoadedError: The session runs without firesteel.
        ValueError: An argument is of another type.
        AnalysisException: The query runs, has a micro-batch that has not ended, or has state that
            cannot be split.

    Source:
        Spark's ``StreamingCheckpointManager.repartition``; Flink's rescaling from a savepoint.

    Example:
        >>> repartition_state(spark, "/nowhere", 0)
        Traceback (most recent call last):
        ...
        pyspark.errors.exceptions.captured.AnalysisException: [FIRESTEEL_REPARTITION_BAD_NUMBER]...
    """
    if not isinstance(checkpoint, (str, os.PathLike)):
        raise _errors.bad_value("checkpoint", checkpoint, "the folder of a query's checkpoint")
    if isinstance(partitions, bool) or not isinstance(partitions, int):
        raise _errors.bad_value("partitions", partitions, "a number of partitions")
    require_extension(spark)
    call = "SELECT * FROM firesteel_repartition_state(:checkpoint, :partitions)"
    arguments = {"checkpoint": os.fspath(checkpoint), "partitions": partitions}
    (row,) = spark.sql(call, args=arguments).collect()
    return Repartitioned(row["batch"], row["partitions_before"], row["partitions"])
