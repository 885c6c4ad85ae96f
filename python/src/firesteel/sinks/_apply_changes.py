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
    """Applies micro-batches of a changelog to a table: what `apply_changes` returns.

    It is passed to ``foreachBatch``, or called with what ``foreachBatch`` passes. It can be
    pickled, as Spark Connect asks.

    Attributes:
        target: A folder, or options of Spark's JDBC source; not shown, since they hold passwords.
        options: The options of the data source ``firesteel-table``, but for the batch's number.
    """

    target: str | Mapping[str, str] = field(repr=False)
    options: Mapping[str, str]

    def __call__(self, df: DataFrame, batch_id: int) -> None:
        """Apply one micro-batch, or pass it over when the target has it.

        Args:
            df: The micro-batch that ``foreachBatch`` gives.
            batch_id: Its number, which ``foreachBatch`` gives.

        Raises:
            TypeError: These are not what ``foreachBatch`` gives.
            ExtensionNotLoadedError: The session runs without firesteel.
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
