"""Calls a partitioner for the distinct keys of a batch: for all at once, or key by key."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Row

from firesteel.lookup._worker import failures
from firesteel.lookup._worker.keys import distinct, normalized, shown
from firesteel.lookup._worker.request import request_of

LONG = range(-(2**63), 2**63)


@dataclass(frozen=True)
class PartitionerSpec:
    """A partitioner, in the form that is sent to the workers.

    Attributes:
        name: The name of its connector's table.
        pickled: The partitioner, pickled.
        keys: All key columns of the connector, in the order of its schema.
        needed: The key columns that the partitioner needs.
        schema: The connector's columns.
    """

    name: str
    pickled: bytes
    keys: tuple[str, ...]
    needed: tuple[str, ...]
    schema: pa.Schema


class Partitions:
    """Chooses the partitions of batches, for one task."""

    def __init__(self, spec: PartitionerSpec) -> None:
        self._spec = spec
        try:
            self._partitioner: Any = pickle.loads(spec.pickled)
        except Exception as error:
            raise failures.not_loaded(spec.name, error) from error
        self._takes_batches = callable(getattr(self._partitioner, "partition_batch", None))

    def of_batch(self, first: pa.Array, columns: Sequence[pa.Array]) -> pa.Array:
        """Return the partition of each row. The engine refuses a number that is out of range.

        Args:
            first: The request's JSON or the number of partitions, the same in all n rows.
            columns: One array of n values per key column.
        """
        count, names = self._count_and_names(first, len(columns))
        types = [self._spec.schema.field(name).type for name in names]
        typed = [
            normalized(column if column.type == wanted else column.cast(wanted))
            for column, wanted in zip(columns, types, strict=True)
        ]
        keys = distinct(typed)
        firsts = pa.array(keys.first)
        parts = [column.take(firsts) for column in typed]
        of_keys = self._of_all if self._takes_batches else self._of_each
        numbers = of_keys(parts, names, count) if len(firsts) else pa.array([], pa.int64())
        # A row without a key is not looked up, so any partition will do.
        numbers = pa.concat_arrays([numbers, pa.array([0], pa.int64())])
        return numbers.take(pa.array(_last_for_none(keys.codes, len(numbers))))

    def _of_all(self, parts: Sequence[pa.Array], names: Sequence[str], count: int) -> pa.Array:
        rows = len(parts[0])
        try:
            answer = self._partitioner.partition_batch(pa.table(parts, names=names), count)
        except Exception as error:
            subject = f"{rows} keys, first key {shown(parts, names, 0)}"
            raise failures.raised(self._spec.name, "partition_batch", subject, error) from error
        numbers = _numbers(answer)
        if numbers is None or len(numbers) != rows:
            got = f"{len(numbers)} numbers" if numbers is not None else repr(answer)
            raise failures.bad_partitions(self._spec.name, rows, got)
        return numbers

    def _of_each(self, parts: Sequence[pa.Array], names: Sequence[str], count: int) -> pa.Array:
        numbers: list[int | None] = []
        row_of = Row(*names)
        for index, key in enumerate(zip(*(part.to_pylist() for part in parts), strict=True)):
            try:
                number = self._partitioner.partition(row_of(*key), count)
            except Exception as error:
                shown_key = shown(parts, names, index)
                raise failures.raised(self._spec.name, "partition", shown_key, error) from error
            numbers.append(self._checked(number, parts, names, index))
        return pa.array(numbers, pa.int64())

    def _count_and_names(self, first: pa.Array, columns: int) -> tuple[int, Sequence[str]]:
        sent = next(value for value in _known(first))
        if isinstance(sent, str):
            context = request_of(sent).context
            return context.num_partitions, context.keys
        for names in (self._spec.keys, self._spec.needed):
            if len(names) == columns:
                return sent, names
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


def _numbers(answer: object) -> pa.Array | None:
    """Return whole numbers as an Arrow array; None for anything else."""
    try:
        array = pa.chunked_array([answer]) if isinstance(answer, pa.Array) else answer
        if not isinstance(array, pa.ChunkedArray):
            array = pa.chunked_array([pa.array(answer)])
        if not pa.types.is_integer(array.type):
            return None
        return array.cast(pa.int64()).combine_chunks()
    except (pa.ArrowException, TypeError):
        return None


def _known(column: pa.Array) -> Iterator[Any]:
    return (value.as_py() for value in column if value.is_valid)


def _last_for_none(codes: Any, count: int) -> Any:  # noqa: ANN401 - numpy arrays
    return np.where(codes >= 0, codes, count - 1)
