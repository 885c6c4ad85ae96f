"""Where the rows of a statement go: functions, formats and tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from firesteel.sinks import ApplyChanges, LiveTable
from firesteel.sinks._batches import query_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Target: TypeAlias = "Callable[[DataFrame, int], object] | Mapping[str, Any] | str"
"""A function for ``foreachBatch``, the options of a format with its name, or a table's name."""

_STATEMENT = "firesteel.statement"
_DESCRIPTION = "spark.job.description"

# Formats that keep the micro-batch's number in their transactions.
_OF_THEIR_OWN = frozenset({"delta", "iceberg"})

# The options that together name what a format writes to.
_PLACES = (("url", "dbtable"), ("kafka.bootstrap.servers", "topic"), ("path",))

# Properties of Iceberg's snapshots: which statement of which query wrote one, and its micro-batch.
_OWNER = "firesteel.statement"
_BATCH = "firesteel.batch"


@dataclass(frozen=True)
class Sink:
    """Where one statement writes; it can be pickled, which Spark Connect requires.

    Attributes:
        number: The statement's number in the set.
        name: The statement's name.
        mode: Its output mode.
        begins: Where it begins if the checkpoint does not have it: ``start``, ``now`` or nothing.
        target: Where its rows go. ``repr`` hides it, because options may have a password.
    """

    number: int
    name: str
    mode: str
    begins: str
    target: Target = field(repr=False)

    def write(self, rows: DataFrame, batch_id: int) -> None:
        """Write the rows of a micro-batch."""
        session = rows.sparkSession
        if not isinstance(session, SparkSession):
            self._write(rows, batch_id)
            return
        context = session.sparkContext
        before = context.getLocalProperty(_DESCRIPTION)
        shown = "<br/>".join([*filter(None, [before]), f"statement = {self.name}"])
        # By it a target tells a second statement from a repeated micro-batch.
        context.setLocalProperty(_STATEMENT, self.name)
        context.setLocalProperty(_DESCRIPTION, shown)
        try:
            self._write(rows, batch_id)
        finally:
            # None removes a property, which PySpark's annotations do not say.
            context.setLocalProperty(_STATEMENT, None)  # type: ignore[arg-type]
            context.setLocalProperty(_DESCRIPTION, before)  # type: ignore[arg-type]

    def _write(self, rows: DataFrame, batch_id: int) -> None:
        if callable(self.target):
            self.target(rows, batch_id)
        elif isinstance(self.target, Mapping):
            self._save(rows, batch_id, dict(self.target))
        else:
            rows.write.mode(self._save_mode).saveAsTable(self.target)

    @property
    def _save_mode(self) -> str:
        return "overwrite" if self.mode == "complete" else "append"

    def _save(self, rows: DataFrame, batch_id: int, options: dict[str, Any]) -> None:
        given = options.pop("format")
        form = given.lower()  # Spark finds short names so
        if form == "console":
            its = {name.lower(): value for name, value in options.items()}
            truncate = its.get("truncate", True)
            if isinstance(truncate, str):
                # A length, or a boolean as Spark's console has it.
                truncate = int(truncate) if truncate.isdecimal() else truncate.lower() == "true"
            rows.show(int(its.get("numrows", 20)), truncate=truncate)
            return
        name = form if form in _OF_THEIR_OWN else given
        writer = rows.write.format(name).mode(self._save_mode).options(**options)
        query = query_id(rows)
        if query is not None:
            own = f"{query}/{self.name}"
            if form == "delta" and "txnAppId" not in options:
                # Delta keeps both in its own transaction, and skips a batch that it has.
                writer = writer.options(txnAppId=own, txnVersion=str(batch_id))
            elif form == "iceberg":
                if _has_snapshot(rows.sparkSession, str(options["path"]), own, batch_id):
                    return
                marks = {_OWNER: own, _BATCH: str(batch_id)}
                writer = writer.options(**{f"snapshot-property.{key}": marks[key] for key in marks})
        writer.save()

    @property
    def kind(self) -> str:
        """What kind of target it is; without its place, which may have a password."""
        its = self.target
        if isinstance(its, ApplyChanges):
            return "apply_changes"
        if isinstance(its, LiveTable):
            return "a live table"
        if isinstance(its, Mapping):
            return f"format {its['format']}"
        return f"table {its}" if isinstance(its, str) else "a function"

    def guarantee(self, *, is_connect: bool) -> str:
        """How often a row is written if a micro-batch is repeated.

        Args:
            is_connect: Whether the target is written over Spark Connect, which does not tell a
                function the id of its query.
        """
        its = self.target
        if isinstance(its, LiveTable):
            return "shown once"
        keeps_batch = isinstance(its, ApplyChanges) or (
            isinstance(its, Mapping) and its["format"].lower() in _OF_THEIR_OWN and not is_connect
        )
        return "exactly once" if keeps_batch else "at least once"

    @property
    def needs_query_id(self) -> bool:
        """Whether the target must know the query, which Spark Connect does not tell."""
        its = self.target
        return isinstance(its, ApplyChanges) and "changes.query-id" not in its.options

    def place(self, spark: SparkSession) -> str | None:
        """What the target writes to, to find two statements with one; none if it is not known."""
        if isinstance(self.target, LiveTable):
            return f"live table {id(self.target)}"
        its = self.target.target if isinstance(self.target, ApplyChanges) else self.target
        if isinstance(its, Mapping):
            # Spark takes names of options in upper and lower case.
            given = {str(name).lower(): _folder(str(value)) for name, value in its.items()}
            known = next((names for names in _PLACES if given.keys() >= set(names)), ())
            return " ".join(given[name] for name in known) or None
        if not isinstance(its, str):
            return None
        return _folder(its) if isinstance(self.target, ApplyChanges) else _qualified(spark, its)


def _folder(path: str) -> str:
    return re.sub("^file:/+", "/", path.rstrip("/"))


def _qualified(spark: SparkSession, name: str) -> str:
    """A table's name with its catalog and namespace, in which Spark takes upper and lower case."""
    parts = [quoted or plain for quoted, plain in re.findall("`((?:[^`]|``)+)`|([^.`]+)", name)]
    home = [spark.catalog.currentCatalog(), spark.catalog.currentDatabase()]
    return ".".join([*home[: max(3 - len(parts), 0)], *parts]).lower()


def checked(target: object) -> Target:
    """Check a target.

    Raises:
        TypeError: It is neither a function nor options nor a name.
        ValueError: The options have no format, or the name is empty.
    """
    if isinstance(target, Mapping):
        if not isinstance(target.get("format"), str):
            raise ValueError(
                "The options of a target must have its format, such as "
                "{'format': 'kafka', 'topic': ...}."
            )
        if target["format"].lower() == "iceberg" and "path" not in target:
            raise ValueError(
                "The options of an Iceberg target must have its table, such as "
                "{'format': 'iceberg', 'path': 'catalog.database.table'}."
            )
        return target
    if isinstance(target, str):
        if not target.strip():
            raise ValueError("The name of a table must not be empty.")
        return target
    if callable(target):
        return target
    raise TypeError(
        "A target is a function of a DataFrame and a batch number, such as "
        "firesteel.apply_changes(...), options with a format, or the name of a table, not "
        f"{type(target).__name__}"
    )


def _has_snapshot(spark: SparkSession, table: str, owner: str, batch_id: int) -> bool:
    """Whether an Iceberg table has the rows of this micro-batch or of a later one.

    A snapshot that was the current one, and is no ancestor of the one that is now, has been rolled
    back.
    """

    def read(name: str) -> DataFrame:
        separator = "#" if "/" in table else "."
        return spark.read.format("iceberg").load(f"{table}{separator}{name}")

    summary = F.col("summary")
    is_written = (summary[_OWNER] == owner) & (summary[_BATCH].cast("long") >= batch_id)
    rolled_back = read("history").where(~F.col("is_current_ancestor"))
    written = read("snapshots").where(is_written)
    return not written.join(rolled_back, "snapshot_id", "left_anti").isEmpty()
