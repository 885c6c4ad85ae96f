"""Code of a user that type checkers must accept: `build/check_types.py` reads it, nothing runs it.

Each class is another way to write a connector: any object or a class that derives from an
interface, attributes of the class, of the object, or read-only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructType

import firesteel
from firesteel import LookupContext, TaskInfo
from firesteel.changelog import from_changelog, from_debezium, from_upsert, row_kind, to_upsert
from firesteel.lookup import (
    InputDataBatchPartitioner,
    InputDataPartitioner,
    SupportsLookup,
    SupportsLookupCustomShuffle,
    lookup_join,
    register_lookup,
    unregister_lookup,
)
from firesteel.sinks import ApplyChanges, apply_changes


class AnyObject:
    """Derives from nothing."""

    schema = "id BIGINT"
    keys = ("id",)

    def lookup(self, keys: pa.Table) -> pa.Table:
        """Return the keys."""
        return keys


class Derived(SupportsLookup):
    """Derives, with attributes of the class."""

    schema = "id BIGINT"
    keys = ("id",)

    def lookup(self, keys: pa.Table) -> pa.RecordBatch:
        """Return the keys as one batch."""
        return keys.combine_chunks().to_batches()[0]


class OfTheObject(SupportsLookup):
    """Derives, with attributes of the object."""

    def __init__(self) -> None:
        self.schema = StructType()
        self.keys = ["id"]

    def open(self, task: TaskInfo, context: LookupContext) -> None:
        """Keep the wanted columns."""
        self.wanted = context.columns if task.count else ()

    def lookup(self, keys: pa.Table) -> pa.Table:
        """Return the keys."""
        return keys


class ByKey:
    """Chooses partitions key by key."""

    def partition(self, join_keys: Row, num_partitions: int) -> int:
        """Choose by remainder."""
        return int(join_keys.id) % num_partitions


class ByTable(InputDataBatchPartitioner):
    """Chooses partitions for many keys at once."""

    def partition_batch(self, join_keys: pa.Table, num_partitions: int) -> npt.NDArray[np.int64]:
        """Choose the first partition."""
        return np.zeros(len(join_keys), dtype=np.int64)


class Sharded(SupportsLookupCustomShuffle):
    """Declares its attributes, and has one kind of partitioner."""

    schema: str = "id BIGINT"
    keys: tuple[str, ...] = ("id",)

    def lookup(self, keys: pa.Table) -> pa.Table:
        """Return the keys."""
        return keys

    def get_partitioner(self) -> ByKey:
        """Return the partitioner."""
        return ByKey()


class MaybeSharded(SupportsLookupCustomShuffle):
    """May have no partitioner."""

    schema = StructType()
    keys = ("id",)
    partition_keys = ("id",)

    def lookup(self, keys: pa.Table) -> pa.Table:
        """Return the keys."""
        return keys

    def get_partitioner(self) -> InputDataPartitioner | None:
        """Return no partitioner."""
        return None


class ReadOnly:
    """Computes its attributes, and is its own partitioner."""

    @property
    def schema(self) -> StructType:
        """Return no columns."""
        return StructType()

    @property
    def keys(self) -> list[str]:
        """Return the keys."""
        return ["id"]

    def lookup(self, keys: pa.Table) -> pa.Table:
        """Return the keys."""
        return keys

    def partition_batch(self, join_keys: pa.Table, num_partitions: int) -> list[int]:
        """Choose the first partition."""
        return [0] * len(join_keys)


def register(spark: SparkSession) -> None:
    """Register all."""
    register_lookup(spark, "a", AnyObject(), cache="PARTIAL", max_rows=10, expire_after_write=2.5)
    for connector in (Derived(), OfTheObject(), Sharded(), MaybeSharded(), ReadOnly()):
        register_lookup(spark, "others", connector, options={"lookup.batch-size": "10"})
    unregister_lookup(spark, "others")


def interfaces() -> tuple[object, ...]:
    """Assign to variables of the interfaces."""
    lookup: SupportsLookup = AnyObject()
    sharded: SupportsLookupCustomShuffle = Sharded()
    by_key: InputDataPartitioner = ByKey()
    by_table: InputDataBatchPartitioner = ByTable()
    itself: InputDataBatchPartitioner = ReadOnly()
    return lookup, sharded, by_key, by_table, itself


def use(spark: SparkSession, orders: DataFrame) -> ApplyChanges:
    """Call the functions."""
    customers = spark.table("a")
    matching = orders["customer"] == customers["id"]
    joined = lookup_join(orders, "a", on=["id"], how="left", timeout="30 s", async_=True)
    joined = lookup_join(joined, customers, matching)
    joined = firesteel.lookup_join(joined, customers, [matching, matching])
    changes = joined.select("*", row_kind().alias("op"))
    apply = apply_changes({"url": "jdbc:postgresql:", "dbtable": "t"}, ["id"], retention="1 h")
    changes.writeStream.foreachBatch(apply).start()
    for found in firesteel.explain(orders).declined:
        print(found.values.get("limit"), found.setting)
    from_changelog(orders, keys="id", sequence_by=("at",)).show()
    to_upsert(from_upsert(orders, "id INT", ["id"]), keys="id").show()
    return apply_changes("/tables/t", from_debezium(orders, "id INT", "id").columns)
