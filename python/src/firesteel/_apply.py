"""The target of `apply_changes`, as what foreachBatch calls."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from firesteel import _errors
from firesteel._durations import Duration, milliseconds
from firesteel.session import require_extension

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SOURCE = "firesteel-table"
_BUCKETS = range(1, 10_001)  # as the data source has it


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


def checked(
    target: object,
    keys: object,
    *,
    op: str | None,
    query_id: str | None,
    upserts: bool,
    buckets: int | None,
    retention: Duration | None,
) -> ApplyChanges:
    """Make sure that arguments are what they must be.

    Args:
        target: What the user gave, as are all the others.
        keys: See `apply_changes`, as for the others.
        op: See there.
        query_id: See there.
        upserts: See there.
        buckets: See there.
        retention: See there.

    Raises:
        TypeError: An argument is of another type.
        ValueError: Or has another value.
    """
    if hasattr(target, "isStreaming"):
        raise _errors.dataframe_as_target()
    options = {"changes.keys": json.dumps(_names(keys))}
    for option, text in (("op", op), ("query_id", query_id)):
        if text is not None and (not isinstance(text, str) or not text):
            raise _errors.bad_value(option, text, "text that is not empty")
        if text is not None:
            options[f"changes.{option.replace('_', '-')}"] = text
    if not isinstance(upserts, bool):
        raise _errors.bad_value("upserts", upserts, "True or False")
    if upserts:
        options["changes.upserts"] = "true"
    if buckets is not None:
        if isinstance(buckets, bool) or not isinstance(buckets, int) or buckets not in _BUCKETS:
            raise _errors.bad_value("buckets", buckets, f"from 1 to {_BUCKETS.stop - 1}")
        options["changes.buckets"] = str(buckets)
    if retention is not None:
        options["changes.retention"] = f"{milliseconds('retention', retention)}ms"
    return ApplyChanges(_target(target), options)


def _names(keys: object) -> list[str]:
    names = [keys] if isinstance(keys, str) else keys
    if not isinstance(names, (list, tuple)) or not all(isinstance(k, str) for k in names):
        raise _errors.bad_names("keys", keys)
    if not names:
        raise ValueError("keys must name at least one column: what identifies a row of the target")
    return list(names)


def _target(target: object) -> str | dict[str, str]:
    if isinstance(target, Mapping):
        # As PySpark's own options: None is not given, True is true.
        given = {str(name): _text(v) for name, v in target.items() if v is not None}
        missing = [name for name in ("url", "dbtable") if name not in map(str.lower, given)]
        if missing:
            raise ValueError(
                f"The target has no option {' and no '.join(missing)}: a table of PostgreSQL is "
                "given by the options of Spark's JDBC source, url, dbtable, user and password."
            )
        return given
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
    return folder


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
