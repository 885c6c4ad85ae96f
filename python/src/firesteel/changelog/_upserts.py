"""`from_upsert` and `to_upsert`: a topic of upserts read as a table, and written from one."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from firesteel import _errors
from firesteel.changelog._sources import call


def from_upsert(df: DataFrame, schema: StructType | str, keys: str | Sequence[str]) -> DataFrame:
    """Read a topic of upserts, such as a compacted topic of Kafka, as the table that it makes.

    A record replaces the row of its key. A record without value, a tombstone, deletes it. The
    result has the columns of the schema: the key columns from the JSON object in ``key``, the
    others from the JSON object in ``value``. Fields that are missing are null; fields that are not
    in the schema are ignored. In a batch query the result is the table after all records.

    All records of a key must come from one partition of the topic, which Kafka's partitioner sees
    to, and from one partition of the DataFrame: leave Spark's option ``minPartitions`` unset. Read
    from the first offset, by ``startingOffsets=earliest``. A reader that stops for longer than the
    topic's ``delete.retention.ms`` may miss deletions.

    SQL has the same: ``from_upsert(TABLE(t), 'id INT, v STRING', keys => array('id'))``.

    Args:
        df: The records, streaming or not, with Kafka's columns ``key`` and ``value``, as text or
            bytes. No operator below may keep state.
        schema: The columns of the table, the key's among them, as a StructType or DDL text.
        keys: The columns that identify a row of the table: one name or several.

    Returns:
        The table.

    Raises:
        TypeError: An argument has the wrong type.
        ExtensionNotLoadedError: The session runs without firesteel.
        AnalysisException: A key is not in the schema, or ``df`` has no such columns.
        QueryExecutionException: A record has no key, or is empty or not JSON of the schema, while
            the query runs.

    Source:
        Flink's ``upsert-kafka``.

    Example:
        >>> rows = [('{"id":1}', '{"v":"a"}'), ('{"id":2}', '{"v":"b"}'), ('{"id":2}', None)]
        >>> records = spark.createDataFrame(rows, "key STRING, value STRING").coalesce(1)
        >>> from_upsert(records, "id INT, v STRING", keys="id").collect()
        [Row(id=1, v='a')]
    """
    if not isinstance(schema, StructType | str):
        raise _errors.bad_schema(schema)
    columns = schema.json() if isinstance(schema, StructType) else schema
    return call("from_upsert", df, {"schema": columns}, {"keys": keys})


def to_upsert(df: DataFrame, keys: str | Sequence[str]) -> DataFrame:
    """Turn the changes of a query's result into records of an upsert topic, with tombstones.

    The result has the columns ``key`` and ``value``, for ``format("kafka")``. ``key`` is a JSON
    object of the key columns, ``value`` one of all columns. A deletion has the value null. Times
    are written in UTC. `from_upsert` reads the topic as the table::

        records = firesteel.to_upsert(counts, keys="word")
        records.writeStream.format("kafka").option("topic", "counts").option(...).start()

    In a micro-batch a key has at most one record, its net change, from one task. Rows whose change
    is undone in the same micro-batch have none. So records of a key are in order on the topic, if
    its number of partitions stays.

    The topic does not tell which rows it has. So the keys must identify a row of the result: they
    must contain columns that the query knows to be a key, such as those of a GROUP BY.
    Otherwise the query is refused when it starts.

    Records are written at least once. After a crash Spark repeats the unfinished micro-batch, and
    its records are on the topic twice. The newest record of each key is right all the same, if the
    repeated query gives the same rows; see the conditions of `apply_changes`. A reader that adds
    up records instead of replacing rows by key counts them twice.

    Make the topic beforehand, with ``cleanup.policy=compact``: a topic that the first record makes
    is not compacted, and loses rows after its retention.

    SQL has the same: ``to_upsert(TABLE(q), keys => array('word'))``.

    Args:
        df: The query, streaming or not. A selected ``row_kind()`` is left out. In append and update
            mode the records are the same; complete mode is refused.
        keys: The columns that identify a row of the result: one name or several.

    Returns:
        The records.

    Raises:
        TypeError: An argument has the wrong type.
        ExtensionNotLoadedError: The session runs without firesteel.
        AnalysisException: A key does not exist. When a stream starts: the keys do not identify its
            rows.

    Source:
        Flink's ``upsert-kafka``.

    Example:
        >>> to_upsert(spark.sql("SELECT 'a' AS word, 2 AS n"), keys="word").collect()
        [Row(key='{"word":"a"}', value='{"word":"a","n":2}')]
    """
    return call("to_upsert", df, {}, {"keys": keys})
