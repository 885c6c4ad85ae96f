"""`row_kind()`: the change that a row of a streaming query's result describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions

if TYPE_CHECKING:
    from pyspark.sql import Column


def row_kind() -> Column:
    """Tell what each row of a streaming query's result says: that a row came, changed or went.

    Select it last, in append mode, to get every change in an order in which a consumer can apply
    them row by row; in update mode, to get each key's newest row and deletions. SQL has the same
    function, ``row_kind()``.

    Returns:
        A string column: ``+I`` for a new row, ``-U`` and ``+U`` for a row before and after an
        update, ``-D`` for a deleted one. In a batch query always ``+I``.

    Example:
        >>> spark.range(2).select("id", row_kind().alias("op")).collect()
        [Row(id=0, op='+I'), Row(id=1, op='+I')]

    Source:
        Flink's ``RowKind``.
    """
    return functions.call_function("row_kind")
