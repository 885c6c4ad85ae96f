"""Every error of a lookup in a worker; Spark shows its text and its cause to the user."""

from __future__ import annotations

from collections.abc import Sequence


class LookupFailedError(RuntimeError):
    """A connector failed, took too long, or answered what it must not."""


def raised(connector: str, step: str, key: str, cause: BaseException) -> LookupFailedError:
    """Name the step and the key at which a connector raised an exception."""
    at = f" for {key}" if key else ""
    return LookupFailedError(
        f"Lookup connector '{connector}' failed in {step}{at}: {type(cause).__name__}: {cause}"
    )


def not_loaded(connector: str, cause: BaseException) -> LookupFailedError:
    """Tell that the worker could not unpickle the connector, mostly for want of a package."""
    return LookupFailedError(
        f"Lookup connector '{connector}' could not be loaded in a Python worker: "
        f"{type(cause).__name__}: {cause}. The workers need every package and module that it "
        "imports: install them there, or add them with spark.addArtifacts(..., pyfile=True)."
    )


def timed_out(connector: str, key: str, keys: int, millis: int) -> LookupFailedError:
    """Name the key and the time, and the options that change them."""
    return LookupFailedError(
        f"Lookup connector '{connector}' did not answer within {millis} ms, retries included, "
        f"when asked {keys} keys, the first being {key}. Raise the hint option timeout "
        f"('timeout'='{2 * millis}ms') or ask fewer keys at once (lookup.batch-size)."
    )


def too_slow(connector: str, step: str, millis: int) -> LookupFailedError:
    """Name the step that did not end, and the option that gives it more time."""
    return LookupFailedError(
        f"Lookup connector '{connector}' did not end {step} within {millis} ms. Raise the hint "
        f"option timeout ('timeout'='{2 * millis}ms')."
    )


def not_a_table(connector: str, got: object) -> LookupFailedError:
    """Name the type that came instead of a table."""
    return LookupFailedError(
        f"Lookup connector '{connector}' answered {type(got).__module__}.{type(got).__name__}: "
        "lookup(keys) must return a pyarrow.Table."
    )


def missing_column(connector: str, column: str, got: Sequence[str]) -> LookupFailedError:
    """Name the column that an answer lacks, and those that it has."""
    return LookupFailedError(
        f"Lookup connector '{connector}' answered without column '{column}' or with several of "
        f"that name. Wanted are the key columns and the columns of LookupContext.columns; the "
        f"answer has {', '.join(got) or 'none'}."
    )


def wrong_type(
    connector: str, column: str, wanted: object, got: object, reason: str
) -> LookupFailedError:
    """Name the column, what its type should be, and what it was."""
    return LookupFailedError(
        f"Lookup connector '{connector}' answered column '{column}' as {got}, which does not fit "
        f"its schema's {wanted}{': ' + reason if reason else ''}."
    )


def null_in_column(connector: str, column: str) -> LookupFailedError:
    """Name the column that the schema says is never null."""
    return LookupFailedError(
        f"Lookup connector '{connector}' answered null in column '{column}', which its schema "
        "says is not nullable."
    )


def key_not_asked(connector: str, key: str) -> LookupFailedError:
    """Name the key of a row that nobody asked for."""
    return LookupFailedError(
        f"Lookup connector '{connector}' answered a row for {key}, a key that it was not asked. "
        "If the store compares keys less strictly than Spark, set may_answer_other_keys = True on "
        "the connector, and such rows are dropped."
    )


def bad_partition(connector: str, key: str, got: object) -> LookupFailedError:
    """Name what a partitioner returned instead of a whole number."""
    return LookupFailedError(
        f"The partitioner of lookup connector '{connector}' returned {got!r} for {key}: it must "
        "return an int from 0 to num_partitions - 1."
    )


def bad_partitions(connector: str, keys: int, got: object) -> LookupFailedError:
    """Name what a partitioner returned for a batch of keys instead of a whole number for each."""
    return LookupFailedError(
        f"The partitioner of lookup connector '{connector}' was given {keys} keys, and "
        f"partition_batch returned {got}: it must return as many whole numbers, in an Arrow array, "
        "a numpy array or a list, each from 0 to num_partitions - 1."
    )


def unknown_partition_keys(connector: str, count: int, names: Sequence[str]) -> LookupFailedError:
    """Tell that the engine sent keys without their names. A mistake of the engine, not a user's."""
    return LookupFailedError(
        f"The partitioner of lookup connector '{connector}' got {count} keys without names; it "
        f"needs {', '.join(names)}."
    )
