"""Changelog sources: tables of which a stream, or a batch, tells the changes."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from firesteel import _errors
from firesteel.session import require_extension


def from_changelog(
    df: DataFrame,
    op: str = "op",
    keys: str | Sequence[str] = (),
    sequence_by: str | Sequence[str] = (),
) -> DataFrame:
    """Read rows that tell changes as the table that they change.

    The result has the table's columns, without ``op``. Operators above follow the changes: an
    aggregate takes back what a deleted row had added. In a batch query the result is the table
    that all changes have made.

    Without ``keys`` rows come and go whole: a deletion repeats the row, an update tells the row
    before it as well. Columns that differ between the two, such as a commit's version, must be
    left out before. With ``keys`` a row replaces the one with the same keys, whatever ``op`` calls
    it; a deletion needs the keys alone, and each key's row is kept in state.

    Of two rows of a key, the one wins that is greater by ``sequence_by``, or else that comes later.
    Without ``sequence_by``, rows of a key must come from one partition of the input, in order, as
    Kafka gives them: files do not.

    SQL has the same: ``from_changelog(TABLE(t), op => 'op', keys => array('id'))``.

    Args:
        df: The changes, streaming or not; nothing below may keep state.
        op: The column with each row's kind, in capitals or not: ``+I I insert c create r read``,
            ``-U update_before update_preimage``, ``+U update_after update_postimage``,
            ``-D D delete``, and with ``keys`` also ``U update upsert``.
        keys: The columns that identify a row of the table.
        sequence_by: The columns by which of two rows of a key the later is told; it needs
            ``keys``. A missing value comes before all others, that of a deletion too.

    Returns:
        The table.

    Raises:
        TypeError: An argument is not what it must be.
        ExtensionNotLoadedError: The session runs without firesteel.
        AnalysisException: A column is not there, or is not of a type that will do.
        QueryExecutionException: While the query runs: an unknown kind.

    Source:
        Flink's ``ChangelogNormalize``; ``sequence_by`` is that of Databricks' ``APPLY CHANGES``.

    Example:
        >>> rows = [(1, "a", "c"), (2, "b", "c"), (1, "x", "u"), (2, None, "d")]
        >>> changes = spark.createDataFrame(rows, "id INT, v STRING, op STRING").coalesce(1)
        >>> from_changelog(changes, keys="id").collect()
        [Row(id=1, v='x')]
    """
    return _call("from_changelog", df, {"op": op}, {"keys": keys, "sequence_by": sequence_by})


def from_debezium(
    df: DataFrame,
    schema: StructType | str,
    keys: str | Sequence[str] = (),
    value: str = "value",
    sequence_by: str | Sequence[str] = (),
) -> DataFrame:
    """Read Debezium's change events in JSON as the table that they change.

    An event is ``{"before": .., "after": .., "op": ..}``, with or without ``schema`` and
    ``payload`` around it; missing values, such as the tombstone after a deletion, are left out.
    See `from_changelog` for what ``keys`` change. Without them every update and deletion must tell
    the whole row before it, which PostgreSQL does with ``REPLICA IDENTITY FULL``.

    SQL has the same: ``from_debezium(TABLE(t), 'id INT, v STRING', keys => array('id'))``.

    Args:
        df: The events, one in a row, such as Kafka's rows.
        schema: The table's columns, as a StructType or DDL text.
        keys: The columns that identify a row of the table.
        value: The column with the events, as text or as bytes.
        sequence_by: See `from_changelog`; columns of the table.

    Returns:
        The table.

    Raises:
        TypeError: An argument is not what it must be.
        ExtensionNotLoadedError: The session runs without firesteel.
        QueryExecutionException: While the query runs: an event that is no change, or no JSON.

    Source:
        Flink's ``debezium-json``.

    Example:
        >>> events = spark.createDataFrame(
        ...     [
        ...         ('{"before": null, "after": {"id": 1, "v": "a"}, "op": "c"}',),
        ...         ('{"before": {"id": 1, "v": "a"}, "after": {"id": 1, "v": "b"}, "op": "u"}',),
        ...     ],
        ...     ["value"],
        ... )
        >>> from_debezium(events, "id INT, v STRING").collect()
        [Row(id=1, v='b')]
    """
    columns = schema.json() if isinstance(schema, StructType) else schema
    texts = {"schema": columns, "value": value}
    return _call("from_debezium", df, texts, {"keys": keys, "sequence_by": sequence_by})


def _call(
    function: str, df: DataFrame, texts: dict[str, str], names: dict[str, str | Sequence[str]]
) -> DataFrame:
    """Call a table function on a DataFrame, as SQL: so it reaches a Connect server, too."""
    if not isinstance(df, DataFrame):
        raise _errors.not_a_dataframe(function, df)
    for argument, text in texts.items():
        if not isinstance(text, str):
            raise _errors.not_text(argument, text)
    spark = df.sparkSession
    require_extension(spark)
    written = ["TABLE({changes})", *(f"{argument} => {{{argument}}}" for argument in texts)]
    parts: dict[str, str] = {}
    for argument, given in names.items():
        own = {f"{argument}_{i}": name for i, name in enumerate(_names(argument, given))}
        if own:
            parts |= own
            fields = ", ".join(f"{{{part}}}" for part in own)
            written.append(f"{argument} => array({fields})")
    call = f"SELECT * FROM {function}({', '.join(written)})"
    return spark.sql(call, None, changes=df, **texts, **parts)


def _names(argument: str, given: object) -> Sequence[str]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise _errors.bad_names(argument, given)
    return names
