"""`apply_changes`: a function for foreachBatch that keeps a table equal to a changelog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from firesteel import _errors
from firesteel.session import require_extension
from firesteel.sinks._arguments import options_of, target_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from firesteel._durations import Duration

_SOURCE = "firesteel-table"


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

    Pass the returned function to ``foreachBatch``. Or call it in a function of your own, with the
    DataFrame and the number that ``foreachBatch`` passes. The stream must be a changelog;
    `row_kind` makes one of any query::

        changes = trending.select("*", firesteel.row_kind().alias("op"))
        changes.writeStream.foreachBatch(
            firesteel.apply_changes("/tables/trending", keys=["category", "item"])
        ).option("checkpointLocation", ...).start()

    The target keeps the number of the last micro-batch and writes it together with the changes. If
    Spark repeats a micro-batch after a crash, the target skips it. So each micro-batch is applied
    exactly once, even if the driver, an executor or the database is killed.

    ``keys`` may differ from the keys of the query. Within a micro-batch the changes of a key are
    reduced to at most one, from all tasks. The keys must identify a row of the query's result. If
    a micro-batch has two rows of one key, it fails.

    A folder gets a new version with every micro-batch. Each version is a set of Parquet files, and
    a micro-batch rewrites only the files with changed keys. Readers see the newest version as a
    whole::

        spark.read.format("firesteel-table").load("/tables/trending")

    A PostgreSQL table must exist, with the keys as its primary key or in a unique index. Tasks
    write to a staging table. Then one transaction on the driver deletes, upserts and writes the
    batch number to the table ``firesteel_applied_batches``. The JDBC driver must be on Spark's
    class path.

    Args:
        target: The path of a folder for Parquet files. For a PostgreSQL table, the options of
            Spark's JDBC source: ``url``, ``dbtable``, ``user``, ``password`` and options of the
            driver.
        keys: The columns that identify a row of the target: one name or several.
        op: The column with ``+I``, ``-U``, ``+U`` and ``-D``; by default ``op`` or ``row_kind()``.
        query_id: The name of the writing query. By default the streaming query's id, which its
            checkpoint keeps. Required on Spark Connect, where a batch does not have the id. Also
            required if several queries write different rows to one target.
        upserts: Whether the changelog has only the newest row of a key and deletions, as
            ``outputMode("update")`` emits them. The keys must then be those of the query. The
            direct result of a query declares this itself, and then other keys are an error.
        buckets: The number of parts of a new folder, by default 8. With more parts, a small
            micro-batch rewrites less.
        retention: How long a folder keeps files that no version needs, so that running readers can
            finish: a timedelta, seconds, or text; by default ``10 min``.

    Returns:
        A function that takes a DataFrame and a batch number.

    Raises:
        TypeError: ``target`` is a DataFrame or neither a path nor options, or ``keys`` are not
            names.
        ValueError: An argument has a value that is not allowed.

    Source:
        Flink's upsert sinks; ``foreachBatch`` of Spark's Structured Streaming.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp() + "/counts"
        >>> apply = apply_changes(folder, keys="word", query_id="counts")
        >>> apply(spark.sql("SELECT 'a' AS word, 1 AS n, '+I' AS op"), 0)
        >>> update = "SELECT * FROM VALUES ('a', 1, '-U'), ('a', 2, '+U') AS t(word, n, op)"
        >>> apply(spark.sql(update), 1)
        >>> apply(spark.sql(update), 1)  # a repeated batch is skipped
        >>> spark.read.format("firesteel-table").load(folder).collect()
        [Row(word='a', n=2)]
    """
    return ApplyChanges(
        target_of(target),
        options_of(
            keys,
            op=op,
            query_id=query_id,
            upserts=upserts,
            buckets=buckets,
            retention=retention,
        ),
    )


@dataclass(frozen=True)
class ApplyChanges:
    """Applies micro-batches of a changelog to a table; `apply_changes` returns it.

    Pass it to ``foreachBatch``, or call it with the arguments that ``foreachBatch`` passes. It can
    be pickled, which Spark Connect requires.

    Attributes:
        target: The path of a folder, or options of Spark's JDBC source. ``repr`` hides it, because
            options may have a password.
        options: The options of the data source ``firesteel-table``, except the batch number.
    """

    target: str | Mapping[str, str] = field(repr=False)
    options: Mapping[str, str]

    def __call__(self, df: DataFrame, batch_id: int) -> None:
        """Apply one micro-batch, or skip it if the target already has it.

        Args:
            df: The micro-batch that ``foreachBatch`` passes.
            batch_id: The batch number that ``foreachBatch`` passes.

        Raises:
            TypeError: An argument has another type than ``foreachBatch`` passes.
            ExtensionNotLoadedError: The session runs without firesteel.
            UnsupportedOnConnectError: The session is a Connect client and has no ``query_id``.
        """
        if not hasattr(df, "isStreaming"):
            raise _errors.not_a_batch(type(df).__name__)
        if df.isStreaming:
            raise _errors.not_yet_a_batch()
        if isinstance(batch_id, bool) or not isinstance(batch_id, int):
            raise _errors.not_a_batch_id(batch_id)
        session = df.sparkSession
        require_extension(session)
        if not isinstance(session, SparkSession) and "changes.query-id" not in self.options:
            raise _errors.unnamed_on_connect()  # Connect's session is a class of its own
        writer = df.write.format(_SOURCE).mode("append").options(**self.options)
        writer = writer.option("changes.batch-id", batch_id)
        if isinstance(self.target, Mapping):
            writer.options(**self.target).save()
        else:
            writer.save(self.target)
