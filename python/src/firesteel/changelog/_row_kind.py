"""`row_kind()`: the change that a row of a streaming query's result describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions

if TYPE_CHECKING:
    from pyspark.sql import Column


def row_kind() -> Column:
    """Return the kind of change that each row of a streaming query's result describes.

    Select it as the last column. In append mode the query then emits every change, in an order in
    which a consumer can apply the rows one by one. In update mode it emits the newest row of each
    key, and deletions. SQL has the same function, ``row_kind()``.

    Returns:
        A column of text. ``+I`` is an insert, ``-U`` and ``+U`` are the row before and after an
        update, ``-D`` is a deletion. In a batch query every row has ``+I``.

    Source:
        Flink's ``RowKind``.

    Example:
        >>> spark.range(2).select("id", row_kind().alias("op")).collect()
        [Row(id=0, op='+I'), Row(id=1, op='+I')]
    """
    return functions.call_function("row_kind")
