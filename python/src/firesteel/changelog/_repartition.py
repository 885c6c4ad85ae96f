"""`repartition_state`: changes the number of state partitions of a streaming query."""

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
    """The result of `repartition_state`.

    Attributes:
        batch: The number of the last finished micro-batch, the repartitioning included.
        before: The number of partitions before.
        partitions: The number of partitions now.
    """

    batch: int
    before: int
    partitions: int


def repartition_state(
    spark: SparkSession, checkpoint: str | os.PathLike[str], partitions: int
) -> Repartitioned:
    """Change the number of state partitions of a stopped streaming query.

    Spark fixes this number when a query first starts, from ``spark.sql.shuffle.partitions``.
    Afterwards, start the query as before: it continues with the new number. The function also
    repairs a checkpoint that Spark's own ``StreamingCheckpointManager`` has broken: that manager
    does not know the operators of this package.

    If the function is interrupted, the query starts with the old number or with the new one. Any
    SQL client can call ``SELECT * FROM firesteel_repartition_state('/checkpoint', 8)``.

    Args:
        spark: A session with the extension, classic or Connect.
        checkpoint: The query's option ``checkpointLocation``.
        partitions: The new number of partitions.

    Returns:
        The numbers before and now. If the state already has this number of partitions, nothing
        changes.

    Raises:
        ExtensionNotLoadedError: The session runs without firesteel.
        ValueError: An argument has the wrong type.
        AnalysisException: The query runs, has an unfinished micro-batch, or has state that cannot
            be repartitioned.

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
    call = "SELECT * FROM firesteel_repartition_state({checkpoint}, {partitions})"
    # Not by parameters of SQL: Delta's parser loses them.
    arguments = {"checkpoint": os.fspath(checkpoint), "partitions": partitions}
    (row,) = spark.sql(call, None, **arguments).collect()
    return Repartitioned(row["batch"], row["partitions_before"], row["partitions"])
