"""`statement_set`: several statements as one streaming query."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from firesteel import _errors
from firesteel.explain import explain
from firesteel.session import require_extension
from firesteel.sinks import LiveTable
from firesteel.statements._explained import ExplainedStatement, SetExplanation
from firesteel.statements._targets import Sink, Target, checked
from firesteel.statements._writes import Writes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_MODES = ("append", "update", "complete")
_BEGINNINGS = (None, "start", "now")


def statement_set(
    spark: SparkSession, checkpoint: str | os.PathLike[str], *, parallel: bool = False
) -> StatementSet:
    """Run several statements as one streaming query (Flink: a statement set).

    Two queries over one view read its source twice, compute it twice and keep its state twice. The
    statements of a set are one `StreamingQuery` with one checkpoint. What several of them compute
    is computed once in each micro-batch, with one state, and its rows go to each::

        s = firesteel.statement_set(spark, "/checkpoints/visits")
        top = spark.table("trending").select("*", firesteel.row_kind().alias("op"))
        s.insert("top", top, firesteel.apply_changes("/tables/top", keys=["category", "item"]))
        s.insert("alerts", spark.sql("SELECT ..."), {"format": "kafka", "topic": "alerts", ...})
        s.insert("counts", counts, counted, mode="complete")
        query = s.start(trigger={"availableNow": True})

    In a micro-batch the statements write in the order in which they were inserted, when all shared
    parts and all state have been computed. If one fails, the query fails. When it starts again it
    repeats the micro-batch: targets that keep the batch number in their own transaction, as
    `apply_changes` and Delta do, skip it if they have it. The checkpoint also notes which
    statements have written it; a target whose note was not written in time gets its rows again.

    A checkpoint knows its statements by their names. When the set starts again it may have fewer:
    the state of their own goes with them, and what they shared with others stays. A statement that
    the checkpoint does not have says with ``from_`` where it begins.

    Args:
        spark: A running session with firesteel, classic or Connect. Tables are found by their names
            in the catalog and the database that a classic one has now.
        checkpoint: The folder of the checkpoint.
        parallel: Whether the targets of a micro-batch are written side by side.

    Returns:
        A set without statements.

    Raises:
        TypeError: ``spark`` is not a session, ``checkpoint`` no path, or ``parallel`` no bool.
        ExtensionNotLoadedError: The session runs without firesteel.

    Source:
        Flink's ``StatementSet``; the rows of a view are shared before plans are optimized.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> ticks = spark.readStream.format("rate").load()
        >>> s = statement_set(spark, folder + "/checkpoint")
        >>> s.insert("ticks", ticks, {"format": "parquet", "path": folder + "/ticks"})
        >>> s.names
        ('ticks',)
    """
    require_extension(spark)
    if not isinstance(checkpoint, str | os.PathLike) or not os.fspath(checkpoint):
        raise TypeError(f"checkpoint must be a folder, not {checkpoint!r}")
    if not isinstance(parallel, bool):
        raise TypeError(f"parallel must be True or False, not {parallel!r}")
    return StatementSet(spark, os.fspath(checkpoint), parallel)


class StatementSet:
    """Statements that run as one streaming query; `statement_set` makes it."""

    def __init__(self, spark: SparkSession, checkpoint: str, parallel: bool) -> None:
        self._spark = spark
        self._checkpoint = checkpoint
        self._parallel = parallel
        self._catalog = (spark.catalog.currentCatalog(), spark.catalog.currentDatabase())
        self._statements: list[tuple[DataFrame, Sink]] = []
        self._places: dict[str | None, str] = {}  # statements by what they write to

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the statements, in the order of their writes."""
        return tuple(sink.name for _, sink in self._statements)

    def insert(
        self,
        name: str,
        df: DataFrame,
        target: Target,
        *,
        mode: str = "append",
        from_: str | None = None,
    ) -> None:
        """Add a statement.

        Args:
            name: Its name in the checkpoint, in metrics and in errors.
            df: Its query, streaming.
            target: A function of a DataFrame and a batch number, such as `apply_changes` makes and
                ``foreachBatch`` takes. Or the options of a format of Spark's batch writer, with its
                name as ``format``; ``console`` shows the rows. Or the name of a table.
            mode: Its output mode: ``append``, ``update`` or ``complete``. Complete mode replaces
                what a format or table has.
            from_: Where it begins if the checkpoint has the set without it. ``start``: its target
                and its state are made from all rows of its sources. ``now``: it has the rows that
                come, and must have no state. A checkpoint that has the statement takes no notice.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: The name is taken, the mode is unknown, ``df`` is not streaming, or another
                statement has the target.
            UnsupportedOnConnectError: On Spark Connect `apply_changes` has no ``query_id``, or the
                target is a live table.
        """
        if not isinstance(name, str):
            raise _errors.not_text("name", name)
        if not name or name in self.names:
            raise ValueError(f"The statement needs a name of its own, not {name!r}.")
        if not hasattr(df, "isStreaming"):
            raise _errors.not_a_dataframe("insert", df)
        if mode not in _MODES:
            raise _errors.bad_value("mode", mode, "one of 'append', 'update' and 'complete'")
        if from_ not in _BEGINNINGS:
            raise _errors.bad_value("from_", from_, "'start', 'now' or None")
        if not df.isStreaming:
            raise ValueError(f"The DataFrame of statement {name!r} is not streaming.")
        sink = Sink(len(self._statements), name, mode, from_ or "", checked(target))
        place = sink.place(self._spark)
        if place in self._places:
            raise ValueError(
                # Without the place: a URL may have a password.
                f"The statements {self._places[place]!r} and {name!r} write to one target. "
                "Write the union of their queries instead."
            )
        if not isinstance(self._spark, SparkSession):
            if isinstance(target, LiveTable):
                raise _errors.live_table_on_connect()
            if sink.needs_query_id:
                raise _errors.unnamed_on_connect()
        self._statements.append((df, sink))
        if place is not None:
            self._places[place] = name

    def start(
        self, *, trigger: Mapping[str, Any] | None = None, name: str | None = None
    ) -> StreamingQuery:
        """Start the query.

        Args:
            trigger: The argument of Spark's ``DataStreamWriter.trigger``, such as
                ``{"availableNow": True}``. A continuous trigger is refused.
            name: The name of the query.

        Returns:
            The running query. Its rows are those of all statements.

        Raises:
            ValueError: The set has no statements.
            AnalysisException: A query cannot run in its mode, or the checkpoint cannot become this
                set.
        """
        sinks = tuple(sink for _, sink in self._statements)
        writer = (
            self._rows()
            .writeStream.outputMode("append")
            .option("checkpointLocation", self._checkpoint)
            .foreachBatch(Writes(sinks, self._checkpoint, self._parallel, self._catalog))
        )
        if name is not None:
            writer = writer.queryName(name)
        if trigger is not None:
            writer = writer.trigger(**trigger)
        return writer.start()

    def explain(self) -> SetExplanation:
        """Explain the set as it would start with a new checkpoint.

        Returns:
            The statements with their guarantees, the decisions and the physical plan.
            ``SharedPlans`` names the shared parts, and ``SharedView`` is where one is read. Parts
            that are computed for each statement are named above the plan, with the reason.

        Raises:
            ValueError: The set has no statements.
            AnalysisException: A query cannot run in its mode.
        """
        its = explain(self._rows())
        is_connect = not isinstance(self._spark, SparkSession)
        statements = tuple(
            ExplainedStatement(
                sink.name, sink.mode, sink.kind, sink.guarantee(is_connect=is_connect)
            )
            for _, sink in self._statements
        )
        return SetExplanation(its.fired, its.declined, its.plan, statements)

    def _rows(self) -> DataFrame:
        """The rows of all statements: the number of one, and for each a struct of its columns."""
        if not self._statements:
            raise ValueError("The statement set has no statements: call insert first.")
        queries = {f"query_{i}": df for i, (df, _) in enumerate(self._statements)}
        names = {f"name_{i}": sink.name for i, (_, sink) in enumerate(self._statements)}
        modes = {f"mode_{i}": sink.mode for i, (_, sink) in enumerate(self._statements)}
        starts = {f"start_{i}": sink.begins for i, (_, sink) in enumerate(self._statements)}
        tables = ", ".join(f"TABLE({{{query}}})" for query in queries)
        named, written, begun = (
            ", ".join(f"{{{its}}}" for its in part) for part in (names, modes, starts)
        )
        call = (
            f"SELECT * FROM firesteel_statement_set({tables}, names => array({named}), "
            f"modes => array({written}), starts => array({begun}))"
        )
        return self._spark.sql(call, None, **queries, **names, **modes, **starts)
