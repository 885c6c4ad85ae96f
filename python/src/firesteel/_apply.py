"""The target of `apply_changes`, as what foreachBatch calls."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from firesteel import errors
from firesteel.session import require_extension

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SOURCE = "firesteel-table"


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
            raise errors.not_a_batch(type(df).__name__)
        if df.isStreaming:
            raise errors.not_yet_a_batch()
        if isinstance(batch_id, bool) or not isinstance(batch_id, int):
            raise errors.not_a_batch_id(batch_id)
        session = df.sparkSession
        require_extension(session)
        if not isinstance(session, SparkSession) and "changes.query-id" not in self.options:
            raise errors.unnamed_on_connect()  # Connect's session is a class of its own
        writer = df.write.format(_SOURCE).mode("append").options(**self.options)
        writer = writer.option("changes.batch-id", batch_id)
        if isinstance(self.target, Mapping):
            writer.options(**self.target).save()
        else:
            writer.save(self.target)


def checked(target: object, keys: object, given: Mapping[str, object]) -> ApplyChanges:
    """Make sure that arguments are what they must be.

    Args:
        target: What the user gave.
        keys: What the user gave.
        given: Other options of the data source; ``None`` where they were left out.

    Raises:
        TypeError: An argument is of another type.
        ValueError: Or has another value.
    """
    if hasattr(target, "isStreaming"):
        raise errors.dataframe_as_target()
    names = [keys] if isinstance(keys, str) else keys
    if not isinstance(names, (list, tuple)) or not all(isinstance(k, str) for k in names):
        raise TypeError(f"keys must be a column name or a sequence of them, not {keys!r}")
    if not names:
        raise ValueError("keys must name at least one column: what identifies a row of the target")
    options = {"changes.keys": json.dumps(list(names))}
    options |= {f"changes.{name}": _text(v) for name, v in given.items() if v is not None}
    if isinstance(target, Mapping):
        missing = [name for name in ("url", "dbtable") if name not in map(str.lower, target)]
        if missing:
            raise ValueError(
                f"The target has no option {' and no '.join(missing)}: a table of PostgreSQL is "
                "given by the options of Spark's JDBC source, url, dbtable, user and password."
            )
        return ApplyChanges({str(k): str(v) for k, v in target.items()}, options)
    if not isinstance(target, (str, os.PathLike)):
        raise TypeError(f"target must be a folder or options, not {type(target).__name__}")
    folder = os.fspath(target)
    if folder.startswith("jdbc:"):
        raise ValueError(
            "A table of PostgreSQL is given by options, so that no password is part of a name: "
            "apply_changes({'url': ..., 'dbtable': ..., 'user': ..., 'password': ...}, keys)"
        )
    if not folder:
        raise ValueError("target must be a folder or options, not an empty name")
    return ApplyChanges(folder, options)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
