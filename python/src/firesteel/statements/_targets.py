"""Where the rows of a statement go: functions, formats and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import SparkSession

from firesteel.sinks import ApplyChanges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Target: TypeAlias = "Callable[[DataFrame, int], object] | Mapping[str, Any] | str"
"""A function for ``foreachBatch``, the options of a format with its name, or a table's name."""

_STATEMENT = "firesteel.statement"
_DESCRIPTION = "spark.job.description"


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
        form = options.pop("format")
        if form == "console":
            rows.show(int(options.get("numRows", 20)), truncate=options.get("truncate", True))
            return
        writer = rows.write.format(form).mode(self._save_mode).options(**options)
        query = _query_id(rows)
        if form == "delta" and "txnAppId" not in options and query is not None:
            # Delta keeps both in its own transaction, and skips a batch that it has.
            writer = writer.option("txnAppId", f"{query}/{self.name}")
            writer = writer.option("txnVersion", str(batch_id))
        writer.save()

    @property
    def needs_query_id(self) -> bool:
        """Whether the target must know the query, which Spark Connect does not tell."""
        its = self.target
        return isinstance(its, ApplyChanges) and "changes.query-id" not in its.options

    @property
    def place(self) -> str | None:
        """What the target writes to, to find two statements with one; none if it is not known."""
        its = self.target.target if isinstance(self.target, ApplyChanges) else self.target
        if isinstance(its, Mapping):
            options = ("url", "dbtable", "path", "kafka.bootstrap.servers", "topic")
            table = [its.get(option) for option in options]
            known = [str(part).rstrip("/") for part in table if part is not None]
            return " ".join(known) or None
        return its.rstrip("/") if isinstance(its, str) else None


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


def _query_id(rows: DataFrame) -> str | None:
    session = rows.sparkSession
    if not isinstance(session, SparkSession):  # Spark Connect does not tell it
        return None
    return session.sparkContext.getLocalProperty("sql.streaming.queryId")
