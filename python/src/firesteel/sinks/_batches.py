"""What a micro-batch tells about its streaming query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def query_id(rows: DataFrame) -> str | None:
    """Return the id of the query that passed a micro-batch to ``foreachBatch``.

    Args:
        rows: The micro-batch.

    Returns:
        The id, which the checkpoint keeps; None on Spark Connect, which does not tell it, and
        outside of ``foreachBatch``.
    """
    session = rows.sparkSession
    if not isinstance(session, SparkSession):
        return None
    return session.sparkContext.getLocalProperty("sql.streaming.queryId")
