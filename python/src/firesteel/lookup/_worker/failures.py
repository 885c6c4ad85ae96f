"""Every error of a lookup in a worker, one function per error, and how a user sees it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


class LookupFailedError(RuntimeError):
    """A connector raised an exception, took too long, or returned a wrong answer."""


LookupFailedError.__module__ = "firesteel"  # as a user reads it; the class is sent by value


def sentence_first(answers: Iterator[T]) -> Iterator[T]:
    """Emit answers. If one fails, let Spark show the error's sentence first and the stack below.

    PySpark writes the whole stack before the sentence, unless this variable is set. The stack
    below the sentence begins in the connector. Call this only in a worker: the variable affects no
    other task, because PySpark ends a worker process after an error.

    Args:
        answers: The answers of a task.

    Raises:
        LookupFailedError: The same error, with the connector's stack in its text.

    Source:
        ``handle_worker_exception`` in ``pyspark.util``.
    """
    try:
        yield from answers
    except LookupFailedError as error:
        if os.environ.get("SPARK_HIDE_TRACEBACK"):
            raise  # the user wants no stack: spark.sql.execution.pyspark.udf.hideTraceback.enabled
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
        raise LookupFailedError(f"{error}{_stack_below(error.__cause__)}") from None


def _stack_below(cause: BaseException | None) -> str:
    if cause is None:
        return ""
    stack = cause.__traceback__
    # Frames of this package come before those of the connector.
    while stack and stack.tb_frame.f_globals.get("__name__", "").startswith(_OURS):
        stack = stack.tb_next
    lines = "".join(traceback.format_exception(type(cause), cause, stack))
    return f"\n\nThe stack in the worker:\n{lines.rstrip()}"


_OURS = ("firesteel.lookup._worker.", "concurrent.futures.", "threading")


def raised(connector: str, step: str, key: str, cause: BaseException) -> LookupFailedError:
    """Name the step and the key at which a connector raised an exception."""
    at = f" for {key}" if key else ""
    return LookupFailedError(
        f"Lookup connector '{connector}' failed in {step}{at}: {type(cause).__name__}: {cause}"
    )


def not_loaded(connector: str, cause: BaseException) -> LookupFailedError:
    """Name the connector that a worker cannot unpickle, usually because a package is missing."""
    return LookupFailedError(
        f"Lookup connector '{connector}' could not be loaded in a Python worker: "
        f"{type(cause).__name__}: {cause}. The workers need every package and module that it "
        "imports: install them there, or add them with spark.addArtifacts(..., pyfile=True)."
    )


def timed_out(connector: str, key: str, keys: int, millis: int) -> LookupFailedError:
    """Name the key and the time, and the options that change them."""
    return LookupFailedError(
        f"Lookup connector '{connector}' did not answer within {millis} ms, retries included, "
        f"when asked for {keys} keys, first key {key}. Raise the hint option timeout "
        f"('timeout'='{2 * millis}ms') or look up fewer keys at once (lookup.batch-size)."
    )


def too_slow(connector: str, step: str, millis: int) -> LookupFailedError:
    """Name the step that did not end and the option that gives it more time."""
    return LookupFailedError(
        f"Lookup connector '{connector}' did not end {step} within {millis} ms. Raise the hint "
        f"option timeout ('timeout'='{2 * millis}ms')."
    )


def not_a_table(connector: str, got: object) -> LookupFailedError:
    """Name the type that lookup returned instead of a table."""
    return LookupFailedError(
        f"Lookup connector '{connector}' returned {type(got).__module__}.{type(got).__name__}: "
        "lookup(keys) must return a pyarrow.Table or a pyarrow.RecordBatch."
    )


def missing_column(connector: str, column: str, got: Sequence[str]) -> LookupFailedError:
    """Name the column that an answer lacks and the columns that it has."""
    return LookupFailedError(
        f"Lookup connector '{connector}' returned a table with no column '{column}', or with "
        "several of that name. lookup(keys) must return the key columns and the columns of "
        f"LookupContext.columns. The table has {', '.join(got) or 'no columns'}."
    )


def wrong_type(
    connector: str, column: str, wanted: object, got: object, reason: str
) -> LookupFailedError:
    """Name the column, its type in the schema and its type in the answer."""
    return LookupFailedError(
        f"Lookup connector '{connector}' returned column '{column}' as {got}, but its schema has "
        f"{wanted}{': ' + reason if reason else ''}. Return the schema's type, or one that casts "
        "to it without loss."
    )


def null_in_column(connector: str, column: str) -> LookupFailedError:
    """Name the column that the schema declares NOT NULL."""
    return LookupFailedError(
        f"Lookup connector '{connector}' returned null in column '{column}', which its schema "
        "declares NOT NULL. Return a value, or drop NOT NULL from the schema."
    )


def key_not_asked(connector: str, key: str) -> LookupFailedError:
    """Name a key of the answer that was not among the keys asked for."""
    return LookupFailedError(
        f"Lookup connector '{connector}' returned a row for {key}, a key that it was not asked "
        "for. If the store compares keys less strictly than Spark, set may_answer_other_keys = "
        "True on the connector: then the join drops such rows."
    )


def bad_partition(connector: str, key: str, got: object) -> LookupFailedError:
    """Name the value that a partitioner returned instead of a whole number."""
    return LookupFailedError(
        f"The partitioner of lookup connector '{connector}' returned {got!r} for {key}: it must "
        "return an int from 0 to num_partitions - 1."
    )


def bad_partitions(connector: str, keys: int, got: object) -> LookupFailedError:
    """Name the value that partition_batch returned instead of one whole number per key."""
    return LookupFailedError(
        f"The partitioner of lookup connector '{connector}' received {keys} keys, and "
        f"partition_batch returned {got}. It must return one whole number per key, from 0 to "
        "num_partitions - 1, as an Arrow array, a numpy array or a list."
    )


def unknown_partition_keys(connector: str, count: int, names: Sequence[str]) -> LookupFailedError:
    """Name the keys that came without names: a bug of the engine, not a mistake of a user."""
    return LookupFailedError(
        f"The partitioner of lookup connector '{connector}' received {count} keys without names. "
        f"It needs {', '.join(names)}."
    )
