"""The interfaces of a connector written in Python.

`firesteel.lookup` exports them. The package sends this module to Spark's Python workers by value,
because a class of a user may derive from an interface. So it imports nothing else of the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from pyspark.sql import Row
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class TaskInfo:
    """The task that opens a connector.

    Attributes:
        index: The task's number, from 0. With a custom shuffle, the number of its partition.
        count: With a custom shuffle, the number of partitions that the partitioner received.
            Otherwise 0: Spark does not give its Python workers the number of tasks.
        attempt: How many times Spark has tried the task before.
        name: A name for logs.

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
    """The part of a query that concerns its connector.

    Attributes:
        keys: The columns to look up by, in the order of the schema.
        columns: The columns that the query reads. An answer has these and the keys. It may have
            more.
        filters: Conditions on the dimension table alone, as SQL. A connector may use them to
            return fewer rows, or ignore them: the join applies them to every answer.
        custom_shuffle: Whether the join uses the connector's partitioner. If true, a task receives
            only keys of its own partition. If false, any task may receive any key.
        num_partitions: The number of partitions of the custom shuffle; 0 without one.

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
    """A table of an outside store that can read rows by key.

    A connector is any object with these three members. It need not derive from this class.
    `register_lookup` pickles the connector, and every task works on a copy of its own: open
    connections in ``open``, not in ``__init__``.

    A connector may also have these members:

    - ``open(task)`` or ``open(task, context)``, with a `TaskInfo` and a `LookupContext`. It runs
      once per task, before the first lookup. A task that finds every key in the cache opens
      nothing. With a custom shuffle, one copy is opened for each partition that the task serves,
      which is one partition.
    - ``close()``. It runs once at the end of the task for each copy whose ``open`` was called,
      also when the task failed or was cancelled. It does not run when the worker process is
      killed.
    - ``partition_keys``: see `SupportsLookupCustomShuffle`.
    - ``may_answer_other_keys``: true if the store may return rows of other keys, as a database
      does that compares text without case. The join drops such rows. Without this member such a
      row is an error.

    ``open``, ``lookup`` and ``close`` run in one thread, which is not the main thread. With the
    hint ``async=true``, up to ``capacity`` threads call ``lookup`` at the same time.

    Attributes:
        schema: The columns of the table, as a StructType or DDL text.
        keys: The names of the columns that the store can look up by. A query may use fewer.

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

    # For type checkers `Any`: a class that derives from this one may then assign a narrower type,
    # in its body or in `__init__`. A read-only property would forbid both. `AnyConnector` checks
    # the types.
    if TYPE_CHECKING:
        schema: Any
        keys: Any
    else:
        schema: StructType | str
        keys: Sequence[str]

    def lookup(self, keys: pa.Table) -> pa.Table | pa.RecordBatch:
        """Read all rows of the keys.

        Args:
            keys: n distinct keys, one per row, in the columns of `LookupContext.keys`. No value is
                null. Float keys have one NaN and no negative zero.

        Returns:
            A table of the rows found, none, one or several per key, in any order. It has the key
            columns and the columns of `LookupContext.columns`, with types that fit the schema.
            The join drops other columns.

        Raises:
            Exception: Any exception fails the task, which Spark may try again. The error names the
                connector and the first key.
        """
        ...


if TYPE_CHECKING:

    class AnyConnector(Protocol):
        """`SupportsLookup` for type checkers: attributes may be narrower, and read-only."""

        @property
        def schema(self) -> StructType | str: ...

        @property
        def keys(self) -> Sequence[str]: ...

        def lookup(self, keys: pa.Table) -> pa.Table | pa.RecordBatch: ...


@runtime_checkable
class InputDataPartitioner(Protocol):
    """Chooses the task that looks up a key.

    It may also have ``is_deterministic() -> bool``: whether equal keys always get the same
    partition. Without this method they do.

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
        """Choose the partition of one key.

        Args:
            join_keys: One key: the lookup keys alone, constants included, by name and in the order
                of the schema. No value is null, because null keys are not looked up. Timestamps
                are in UTC.
            num_partitions: The number of partitions, which is the number of lookup tasks.

        Returns:
            A number from 0 to ``num_partitions - 1``. Any other value fails the query.
        """
        ...


@runtime_checkable
class InputDataBatchPartitioner(Protocol):
    """Chooses the tasks that look up many keys at once.

    If a partitioner has ``partition`` too, only ``partition_batch`` is called. A partitioner may
    have ``is_deterministic``, as `InputDataPartitioner` may.

    Source:
        Flink's ``SupportsLookupCustomShuffle.InputDataPartitioner`` (FLIP-462), over Arrow.

    Example:
        >>> class ByRemainder:
        ...     def partition_batch(self, join_keys, num_partitions):
        ...         return join_keys["id"].to_numpy() % num_partitions
        >>> isinstance(ByRemainder(), InputDataBatchPartitioner)
        True
    """

    def partition_batch(
        self, join_keys: pa.Table, num_partitions: int
    ) -> pa.Array | pa.ChunkedArray | npt.NDArray[np.integer[Any]] | Sequence[int]:
        """Choose the partition of each key.

        Args:
            join_keys: n distinct keys, one per row: the lookup keys alone, constants included, by
                name and in the order of the schema. No value is null.
            num_partitions: The number of partitions, which is the number of lookup tasks.

        Returns:
            n whole numbers in the order of ``join_keys``, each from 0 to ``num_partitions - 1``,
            as an Arrow array, a numpy array or a list. Anything else fails the query.
        """
        ...


@runtime_checkable
class SupportsLookupCustomShuffle(SupportsLookup, Protocol):
    """A connector that chooses the task that looks up each key.

    Each task then caches and reads only its share of the store. A query uses the partitioner if it
    has the hint ``shuffle=true``. Otherwise `LookupContext.custom_shuffle` is false, and every
    task must be able to look up every key.

    The connector may have ``partition_keys``, the names of the key columns that the partitioner
    needs; by default all ``keys``. If a join does not give all of them, it does not use the
    partitioner, and ``firesteel.explain`` gives the reason.

    A connector that has a method ``partition`` or ``partition_batch`` and no ``get_partitioner``
    is its own partitioner.

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
        """Return the partitioner. `register_lookup` calls this once; no task calls it.

        Returns:
            The partitioner, which is pickled to the workers, or None. Without a partitioner the
            join distributes rows by hash of the keys.
        """
        ...
