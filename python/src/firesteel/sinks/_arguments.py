"""Checks the arguments of `apply_changes` and translates them to options of the data source."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from firesteel import _errors
from firesteel._durations import Duration, milliseconds

_BUCKETS = range(1, 10_001)  # as the data source has it


def target_of(target: object) -> str | dict[str, str]:
    """Check the target of `apply_changes`.

    Args:
        target: The argument that the user passed.

    Returns:
        The path of a folder, or options of Spark's JDBC source.

    Raises:
        TypeError: The target is neither a path nor options, or is a DataFrame.
        ValueError: The path is empty or a JDBC URL, or an option is missing.
    """
    if hasattr(target, "isStreaming"):
        raise _errors.dataframe_as_target()
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


def options_of(
    keys: object,
    *,
    op: str | None,
    query_id: str | None,
    upserts: bool,
    buckets: int | None,
    retention: Duration | None,
) -> dict[str, str]:
    """Check the other arguments of `apply_changes`.

    Args:
        keys: The key columns: a name, or a list or tuple of names.
        op: The column with the row kind; None for the default.
        query_id: The name of the streaming query; None for Spark's own id.
        upserts: Whether the changelog has only new rows and deletions.
        buckets: The number of parts of a new folder; None for the default.
        retention: How long unneeded files stay; None for the default.

    Returns:
        Options of the data source ``firesteel-table``, without those that are None.

    Raises:
        TypeError: ``keys`` are not names.
        ValueError: An argument has a value that is not allowed.
    """
    options = {"changes.keys": json.dumps(names_of("keys", keys))}
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
    return options


def names_of(argument: str, given: object) -> list[str]:
    """Check an argument that names columns.

    Args:
        argument: Its name, for errors.
        given: A name, or a list or tuple of names.

    Raises:
        TypeError: It is not names.
        ValueError: It names no column.
    """
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, (list, tuple)) or not all(isinstance(k, str) for k in names):
        raise _errors.bad_names(argument, given)
    if not names:
        raise _errors.no_names(argument)
    return list(names)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
