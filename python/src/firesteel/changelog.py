"""Changelogs: streaming queries whose results change, and what their rows say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions

from firesteel._apply import ApplyChanges, checked

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column

    from firesteel._durations import Duration

__all__ = ["ApplyChanges", "apply_changes", "row_kind"]


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


def apply_changes(
    target: str | os.PathLike[str] | Mapping[str, str],
    keys: str | Sequence[str],
    *,
    op: str | None = None,
    query_id: str | None = None,
    upserts: bool = False,
    buckets: int | None = None,
    retention: Duration | None = None,
) -> ApplyChanges:
    """Keep a table equal to a streaming query's result: apply its changelog, each batch once.

    Pass what it returns to ``foreachBatch``, or call it with the DataFrame and the number that
    ``foreachBatch`` gives to a function of yours. The stream is a changelog, which `row_kind` makes
    of any query::

        changes = trending.select("*", firesteel.row_kind().alias("op"))
        changes.writeStream.foreachBatch(
            firesteel.apply_changes("/tables/trending", keys=["category", "item"])
        ).option("checkpointLocation", ...).start()

    The target has the last micro-batch's number, written together with its changes. A micro-batch
    that Spark repeats after a crash is passed over, so that each is applied exactly once, whenever
    the driver, an executor or the database is killed.

    The keys may be others than those of the query: each micro-batch is brought to at most one
    change of a key first, whatever tasks its changes come from. They must identify a row of the
    query's result; that one key has two rows is an error when a micro-batch shows it.

    A folder gets a new version with every micro-batch, in Parquet files of which only those are
    written anew that hold a changed key. Readers see the newest version, whole::

        spark.read.format("firesteel-table").load("/tables/trending")

    A table of PostgreSQL must be there, with the keys as its primary key or in a unique index.
    Tasks write to a staging table; one transaction on the driver deletes, upserts and notes the
    number in the table ``firesteel_applied_batches``. The JDBC driver must be on Spark's class
    path.

    Args:
        target: A folder for Parquet files, or, for a table of PostgreSQL, the options of Spark's
            JDBC source: ``url``, ``dbtable``, ``user``, ``password`` and the driver's own.
        keys: The column or columns that identify a row of the target.
        op: The column of ``+I``, ``-U``, ``+U`` and ``-D``; by default ``op``, or ``row_kind()``.
        query_id: Who writes. By default the streaming query's id, which its checkpoint keeps; on
            Spark Connect, where it cannot be seen, it must be given. Also for several queries that
            write different rows to one target.
        upserts: That the changelog has only the newest row of a key and deletions, as
            ``outputMode("update")`` writes it. The keys must then be those of the query. A
            query's result that comes as it is says so itself; other keys are then refused.
        buckets: Into how many parts a new folder's rows are split, by default 8. The more, the less
            a micro-batch of few changes writes.
        retention: How long files of a folder stay that no version needs any more, for readers that
            have begun: a timedelta, seconds, or text; by default ``10 min``.

    Returns:
        A function of a DataFrame and a batch's number.

    Raises:
        TypeError: A DataFrame was passed, or a target that is neither a folder nor options.
        ValueError: An argument is not what it must be.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp() + "/counts"
        >>> apply = apply_changes(folder, keys="word", query_id="counts")
        >>> apply(spark.sql("SELECT 'a' AS word, 1 AS n, '+I' AS op"), 0)
        >>> update = "SELECT * FROM VALUES ('a', 1, '-U'), ('a', 2, '+U') AS t(word, n, op)"
        >>> apply(spark.sql(update), 1)
        >>> apply(spark.sql(update), 1)  # a repeated batch is passed over
        >>> spark.read.format("firesteel-table").load(folder).collect()
        [Row(word='a', n=2)]

    Source:
        Flink's upsert sinks; ``foreachBatch`` of Spark's Structured Streaming.
    """
    return checked(
        target,
        keys,
        op=op,
        query_id=query_id,
        upserts=upserts,
        buckets=buckets,
        retention=retention,
    )
