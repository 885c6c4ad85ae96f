"""`from_changelog` and `from_debezium`: read rows that describe changes as the changed table."""

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
    """Read rows that describe changes as the table that they change.

    The result has the columns of the table, without ``op``. Operators above follow the changes:
    for example, an aggregate retracts a deleted row. In a batch query the result is the table
    after all changes.

    Without ``keys``, a deletion repeats the deleted row, and an update has the row before it as
    well. Leave out columns that differ between the two, such as the version of a commit. With
    ``keys``, a row replaces the row with the same keys, whatever its ``op`` is. A deletion then
    needs only the keys, and the state store keeps one row per key.

    If two rows have the same keys, the row with the greater ``sequence_by`` wins, and else the
    later row. Without ``sequence_by``, all rows of a key must come from one partition of the
    input, in order. Kafka guarantees this; files do not.

    SQL has the same: ``from_changelog(TABLE(t), op => 'op', keys => array('id'))``.

    Args:
        df: The changes, streaming or not. Of the operators with state only ``dropDuplicates``
            may stand below.
        op: The column with the kind of change, in upper or lower case: ``+I I insert c create r
            read``, ``-U update_before update_preimage``, ``+U update_after update_postimage``,
            ``-D D delete``, and with ``keys`` also ``U update upsert``.
        keys: The columns that identify a row of the table: one name or several.
        sequence_by: The columns that order the rows of a key: one name or several. It needs
            ``keys``. Null sorts before every value, also in a deletion.

    Returns:
        The table.

    Raises:
        TypeError: An argument has the wrong type.
        ExtensionNotLoadedError: The session runs without firesteel.
        AnalysisException: A column does not exist or has an unsupported type.
        QueryExecutionException: A row has an unknown kind, while the query runs.

    Source:
        Flink's ``ChangelogNormalize``. ``sequence_by`` is from Databricks' ``APPLY CHANGES``.

    Example:
        >>> rows = [(1, "a", "c"), (2, "b", "c"), (1, "x", "u"), (2, None, "d")]
        >>> changes = spark.createDataFrame(rows, "id INT, v STRING, op STRING").coalesce(1)
        >>> from_changelog(changes, keys="id").collect()
        [Row(id=1, v='x')]
    """
    return call("from_changelog", df, {"op": op}, {"keys": keys, "sequence_by": sequence_by})


def from_debezium(
    df: DataFrame,
    schema: StructType | str,
    keys: str | Sequence[str] = (),
    value: str = "value",
    sequence_by: str | Sequence[str] = (),
) -> DataFrame:
    """Read Debezium's change events in JSON as the table that they change.

    An event is ``{"before": .., "after": .., "op": ..}``, with or without ``schema`` and
    ``payload`` around it. Null values, such as the tombstone after a deletion, are left out. See
    `from_changelog` for the effect of ``keys``. Without them every update and deletion must have
    the whole row before it. PostgreSQL writes it with ``REPLICA IDENTITY FULL``.

    SQL has the same: ``from_debezium(TABLE(t), 'id INT, v STRING', keys => array('id'))``.

    Args:
        df: The events, one per row, such as the rows of a Kafka source.
        schema: The columns of the table, as a StructType or DDL text.
        keys: The columns that identify a row of the table: one name or several.
        value: The column with the events, as text or bytes.
        sequence_by: Columns of the table that order the rows of a key; see `from_changelog`.

    Returns:
        The table.

    Raises:
        TypeError: An argument has the wrong type.
        ExtensionNotLoadedError: The session runs without firesteel.
        QueryExecutionException: An event is not a change or not JSON, while the query runs.

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
    if not isinstance(schema, StructType | str):
        raise _errors.bad_schema(schema)
    columns = schema.json() if isinstance(schema, StructType) else schema
    texts = {"schema": columns, "value": value}
    return call("from_debezium", df, texts, {"keys": keys, "sequence_by": sequence_by})


def call(
    function: str, df: DataFrame, texts: dict[str, str], names: dict[str, str | Sequence[str]]
) -> DataFrame:
    """Call a table function on a DataFrame by SQL, which works on Spark Connect too."""
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
    # PySpark drops a view of what it is given, and with it the cache of the same plan.
    changes = df if df.isStreaming else df.where("true")
    return spark.sql(call, None, changes=changes, **texts, **parts)


def _names(argument: str, given: object) -> Sequence[str]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise _errors.bad_names(argument, given)
    return names
