"""What a connector implements, and what it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Row
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class TaskInfo:
    """The task that opens a connector.

    Attributes:
        index: Number of this task from 0; under custom shuffle, of its partition.
        count: Under custom shuffle the number of partitions that the partitioner was given; else
            0, since Spark does not tell its Python workers how many tasks there are.
        attempt: How often Spark has tried the task before.
        name: For logs.

    Source:
        Flink's ``FunctionContext.getTaskInfo()`` (FLIP-462).

    Example:
        >>> TaskInfo(index=0, count=4, attempt=0, name="lookup customers, partition 0").count
        4
    """

    index: int
    count: int
    attempt: int
    name: str


@dataclass(frozen=True)
class LookupContext:
    """What one query wants of a connector.

    Attributes:
        keys: The columns to look up by, in the order of the schema's columns.
        columns: The columns wanted; an answer has these and the keys, and may have more.
        filters: Conditions on the dimension alone, as SQL. A connector may use them to answer
            fewer rows, or ignore them: they are applied to its answers in any case.
        custom_shuffle: Whether the connector's partitioner **is applied**: then a task is asked
            only keys of its own partition. If not, every task is asked any key.
        num_partitions: The partitions of the custom shuffle; 0 when it is not applied.

    Source:
        Flink's ``LookupTableSource.LookupContext`` and its ``preferCustomShuffle()``.

    Example:
        >>> LookupContext(("id",), ("id", "country"), (), False, 0).keys
        ('id',)
    """

    keys: tuple[str, ...]
    columns: tuple[str, ...]
    filters: tuple[str, ...]
    custom_shuffle: bool
    num_partitions: int


@runtime_checkable
class SupportsLookup(Protocol):
    """A table of an outside store whose rows can be read by key.

    A connector is any object with these three members; deriving from this class is optional. It
    is pickled when it is registered, and every task works on a copy of its own: connections
    belong into ``open``, not into ``__init__``.

    It may also have

    - ``open(task)`` or ``open(task, context)``, with a `TaskInfo` and a `LookupContext`: called
      once per task, before its first lookup. A task that finds everything in the cache opens
      nothing. Under custom shuffle a copy is opened for each partition that the task serves,
      which is one.
    - ``close()``: called once at the end of the task, also when it failed or was cancelled, for
      each copy whose ``open`` was called. It is not called when the worker process is killed.
    - ``partition_keys``: see `SupportsLookupCustomShuffle`.
    - ``may_answer_other_keys``: true if the store may answer rows whose key was not asked, as
      databases do that compare text without case. Such rows are dropped; else they are an error.

    ``open``, ``lookup`` and ``close`` run in one thread, which is not the main one. With the hint
    ``async=true``, ``lookup`` is called by as many threads at once as ``capacity`` says.

    Attributes:
        schema: The columns of the table.
        keys: Names of the columns that it can be asked by. A query may use fewer.

    Source:
        Flink's ``LookupTableSource`` and ``LookupFunction``.

    Example:
        >>> class Squares:
        ...     schema = "id BIGINT, square BIGINT"
        ...     keys = ("id",)
        ...
        ...     def lookup(self, keys):
        ...         rows = [{"id": k, "square": k * k} for k in keys["id"].to_pylist()]
        ...         return pyarrow.Table.from_pylist(rows)
        >>> isinstance(Squares(), SupportsLookup)
        True
    """

    # Types may be narrower than these and attributes read-only, as mypy has it of a property; at
    # run time a property would forbid a class that derives from this one to set them.
    if TYPE_CHECKING:

        @property
        def schema(self) -> StructType | str: ...

        @property
        def keys(self) -> Sequence[str]: ...

    else:
        schema: StructType | str
        keys: Sequence[str]

    def lookup(self, keys: pa.Table) -> pa.Table:
        """Read all rows of all keys given.

        Args:
            keys: Distinct keys, one per row, none of them null, in the columns that
                `LookupContext` names as keys. Float keys have one NaN and no negative zero.

        Returns:
            A table with the wanted columns and the key columns, of types that fit the schema;
            more columns are dropped. In any order, for each key none, one or several rows.

        Raises:
            Exception: Whatever is raised fails the task, which Spark tries again; the error
                names the connector and the first key.
        """
        ...


@runtime_checkable
class InputDataPartitioner(Protocol):
    """Says in which task the rows with a key are looked up.

    It may also have ``is_deterministic() -> bool``: whether equal keys always get the same
    partition. Without it they do.

    Source:
        Flink's ``SupportsLookupCustomShuffle.InputDataPartitioner`` (FLIP-462, Flink 2.0).

    Example:
        >>> class ByRemainder:
        ...     def partition(self, join_keys, num_partitions):
        ...         return join_keys.id % num_partitions
        >>> isinstance(ByRemainder(), InputDataPartitioner)
        True
    """

    def partition(self, join_keys: Row, num_partitions: int) -> int:
        """Choose the partition of a key.

        Args:
            join_keys: One key: the lookup keys alone, constants included, by name and in the
                order of the schema's columns. Never null, since null keys look nothing up.
                Timestamps are in UTC.
            num_partitions: Number of partitions, which is the number of lookup tasks.

        Returns:
            From 0 to ``num_partitions - 1``; anything else fails the query.
        """
        ...


@runtime_checkable
class InputDataBatchPartitioner(Protocol):
    """Says in which task the rows with some keys are looked up: for many keys at once.

    A partitioner with both methods is asked by this one. It may also have ``is_deterministic``, as
    `InputDataPartitioner` may.

    Source:
        Flink's ``SupportsLookupCustomShuffle.InputDataPartitioner`` (FLIP-462), over Arrow.

    Example:
        >>> class ByRemainder:
        ...     def partition_batch(self, join_keys, num_partitions):
        ...         return join_keys["id"].to_numpy() % num_partitions
        >>> isinstance(ByRemainder(), InputDataBatchPartitioner)
        True
    """

    def partition_batch(self, join_keys: pa.Table, num_partitions: int) -> pa.Array:
        """Choose the partition of each key.

        Args:
            join_keys: n distinct keys, one per row: the lookup keys alone, constants included, by
                name and in the order of the schema's columns. None of them is null.
            num_partitions: Number of partitions, which is the number of lookup tasks.

        Returns:
            n whole numbers in the order of ``join_keys``, each from 0 to ``num_partitions - 1``:
            as an Arrow array, a numpy array or a list. Anything else fails the query.
        """
        ...


@runtime_checkable
class SupportsLookupCustomShuffle(SupportsLookup, Protocol):
    """A connector that decides which task looks up which key.

    So each task need cache and read only its share of the store. It is used when a query says
    ``shuffle=true``; when it is not used, `LookupContext.custom_shuffle` is false and every task
    must be able to answer every key.

    The connector may have ``partition_keys``, names of the key columns that the partitioner
    needs, by default all ``keys``. When a join does not give them all, the partitioner is not
    used, and ``firesteel.explain`` says so.

    A connector with a method ``partition`` or ``partition_batch`` of its own and no
    ``get_partitioner`` is its own partitioner.

    Source:
        Flink's ``SupportsLookupCustomShuffle`` (FLIP-462, Flink 2.0).

    Example:
        >>> class Sharded:
        ...     schema = "id BIGINT, name STRING"
        ...     keys = ("id",)
        ...
        ...     def lookup(self, keys):
        ...         return keys.append_column("name", keys["id"].cast("string"))
        ...
        ...     def get_partitioner(self):
        ...         return None  # or an InputDataPartitioner
        >>> isinstance(Sharded(), SupportsLookupCustomShuffle)
        True
    """

    def get_partitioner(self) -> InputDataPartitioner | InputDataBatchPartitioner | None:
        """Give the partitioner; asked once, when the connector is registered, and never later.

        Returns:
            The partitioner, which is pickled to the workers; None when there is none after all:
            then rows are distributed by hash of the keys.
        """
        ...
