"""Asks a connector's partitioner, once for each distinct key of a batch."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Row

from firesteel._lookup_worker import failures
from firesteel._lookup_worker.keys import distinct, normalized, shown
from firesteel._lookup_worker.request import request_of

LONG = range(-(2**63), 2**63)


@dataclass(frozen=True)
class PartitionerSpec:
    """A partitioner, as it travels to the workers.

    Attributes:
        name: The name that its connector is registered by.
        pickled: The partitioner.
        keys: All columns that the connector can be asked by, in the order of its schema.
        needed: Those that the partitioner needs.
        schema: The connector's columns.
    """

    name: str
    pickled: bytes
    keys: tuple[str, ...]
    needed: tuple[str, ...]
    schema: pa.Schema


class Partitions:
    """Gives the keys of batches their partitions, for one task."""

    def __init__(self, spec: PartitionerSpec) -> None:
        self._spec = spec
        try:
            self._partitioner: Any = pickle.loads(spec.pickled)
        except Exception as error:
            raise failures.not_loaded(spec.name, error) from error

    def of_batch(self, first: pa.Array, columns: Sequence[pa.Array]) -> pa.Array:
        """Return the partition of each row; what is out of range is left for the JVM to refuse.

        Args:
            first: The number of partitions, the same in all rows; or the lookup's JSON.
            columns: The key columns.
        """
        count, names = self._count_and_names(first, len(columns))
        types = [self._spec.schema.field(name).type for name in names]
        typed = [
            normalized(column if column.type == wanted else column.cast(wanted))
            for column, wanted in zip(columns, types, strict=True)
        ]
        keys = distinct(typed)
        # Rows without a key look nothing up, so any partition does.
        numbers: list[int | None] = [0] * (len(keys.values) + 1)
        firsts = pa.array(keys.first)
        parts = [column.take(firsts) for column in typed]
        row_of = Row(*names)
        for index, key in enumerate(zip(*(part.to_pylist() for part in parts), strict=True)):
            try:
                number = self._partitioner.partition(row_of(*key), count)
            except Exception as error:
                shown_key = shown(parts, names, index)
                raise failures.raised(self._spec.name, "partition", shown_key, error) from error
            numbers[index] = self._checked(number, parts, names, index)
        return pa.array(numbers, pa.int64()).take(
            pa.array(_last_for_none(keys.codes, len(numbers)))
        )

    def _count_and_names(self, first: pa.Array, columns: int) -> tuple[int, Sequence[str]]:
        said = next(value for value in _known(first))
        if isinstance(said, str):
            context = request_of(said).context
            return context.num_partitions, context.keys
        for names in (self._spec.keys, self._spec.needed):
            if len(names) == columns:
                return said, names
        raise failures.unknown_partition_keys(self._spec.name, columns, self._spec.needed)

    def _checked(
        self, number: object, parts: Sequence[pa.Array], names: Sequence[str], index: int
    ) -> int | None:
        if number is None:
            return None
        try:
            whole = operator.index(number)  # type: ignore[arg-type] # that is the question
        except TypeError:
            whole = None
        if whole is None or isinstance(number, bool) or whole not in LONG:
            raise failures.bad_partition(self._spec.name, shown(parts, names, index), number)
        return whole


def _known(column: pa.Array) -> Iterator[Any]:
    return (value.as_py() for value in column if value.is_valid)


def _last_for_none(codes: Any, count: int) -> Any:  # noqa: ANN401 - numpy arrays
    return np.where(codes >= 0, codes, count - 1)
