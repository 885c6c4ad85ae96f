"""Checks the answers of a connector and brings them into the order of the keys."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.lookup._worker import failures
from firesteel.lookup._worker.arrays import spread
from firesteel.lookup._worker.keys import distinct, normalized, shown

if TYPE_CHECKING:
    from firesteel.lookup._worker.arrays import Ints


ROWS_AT_ONCE = 100_000
"""The most rows of answers in one Arrow batch, unless one input row has more."""

BYTES_AT_ONCE = 32 << 20
"""The most bytes of answers in one Arrow batch, if all rows have the same size."""


@dataclass(frozen=True)
class Found:
    """Rows by key or by input row: i has ``rows[starts[i] : starts[i] + lengths[i]]``.

    Several may share the same rows, which are then kept once.
    """

    rows: pa.StructArray
    starts: Ints
    lengths: Ints

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Cut into parts that fit into an Arrow batch, each as (first, first of the next part)."""
        each = self.rows.nbytes / max(1, len(self.rows))
        most = ROWS_AT_ONCE if each == 0 else max(1, min(ROWS_AT_ONCE, int(BYTES_AT_ONCE / each)))
        ends = np.cumsum(self.lengths)
        first = 0
        while first < len(ends):
            before = int(ends[first - 1]) if first else 0
            # If one alone does not fit, it is a part of its own.
            stop = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
            yield first, stop
            first = stop

    def rows_of(self, first: int, stop: int) -> pa.StructArray:
        """Return the rows of a part, in order."""
        positions = spread(self.starts[first:stop], self.lengths[first:stop])
        if len(positions) and (np.diff(positions) == 1).all():
            return self.rows.slice(int(positions[0]), len(positions))  # they are adjacent
        return self.rows.take(pa.array(positions, pa.int64()))


class AnswerReader:
    """Reads the answers of one connector to one query.

    Args:
        connector: Its name, for errors.
        schema: All its columns.
        keys: The names of the columns to look up by.
        columns: The names of the columns that the query reads.
        drop_others: Whether rows of other keys are dropped. Otherwise they are an error.
    """

    def __init__(
        self,
        connector: str,
        schema: pa.Schema,
        keys: tuple[str, ...],
        columns: tuple[str, ...],
        drop_others: bool,
    ) -> None:
        self._connector = connector
        self._keys = tuple(schema.field(name) for name in keys)
        self._columns = tuple(schema.field(name) for name in columns)
        self._drop_others = drop_others
        # All are nullable: nulls are checked against the schema, and other columns are left out.
        self.row_type = pa.struct([field.with_nullable(True) for field in self._columns])

    def read(self, answer: object, asked: Mapping[Hashable, int]) -> Found:
        """Check an answer.

        Args:
            answer: The return value of ``lookup``.
            asked: The index of each key.
        """
        if isinstance(answer, pa.RecordBatch):
            answer = pa.Table.from_batches([answer])
        if not isinstance(answer, pa.Table):
            raise failures.not_a_table(self._connector, answer)
        rows = pa.StructArray.from_arrays(
            [self._column(answer, field) for field in self._columns], fields=list(self.row_type)
        )
        keys = [normalized(self._column(answer, field)) for field in self._keys]
        index = self._indexes(keys, asked)
        if self._drop_others:
            wanted = np.flatnonzero(index >= 0)
            rows, index = rows.take(pa.array(wanted)), index[wanted]
        if len(index) > 1 and (np.diff(index) < 0).any():
            order = np.argsort(index, kind="stable")
            rows = rows.take(pa.array(order))
        lengths = np.bincount(index, minlength=len(asked)).astype(np.int64)
        return Found(rows, np.cumsum(lengths) - lengths, lengths)

    def _indexes(self, keys: list[pa.Array], asked: Mapping[Hashable, int]) -> Ints:
        """Return for each row the index of its key; -1 if the key was not looked up."""
        found = distinct(keys)
        index_of = np.array([*(asked.get(key, -1) for key in found.values), -1], dtype=np.int64)
        index: Ints = index_of[found.codes]
        if not self._drop_others and (index < 0).any():
            names = [field.name for field in self._keys]
            row = int(np.argmax(index < 0))
            raise failures.key_not_asked(self._connector, shown(keys, names, row))
        return index

    def _column(self, answer: pa.Table, field: pa.Field) -> pa.Array:
        if answer.column_names.count(field.name) != 1:
            raise failures.missing_column(self._connector, field.name, answer.column_names)
        column = answer.column(field.name).combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # more than one array can hold
            column = pa.concat_arrays(column.chunks)
        if not field.nullable and column.null_count:
            raise failures.null_in_column(self._connector, field.name)
        return self._cast(column, field)

    def _cast(self, column: pa.Array, field: pa.Field) -> pa.Array:
        if column.type == field.type:
            return column
        got = column.type
        if pa.types.is_dictionary(got):
            column = column.dictionary_decode()
        reason = ""
        if _fits(column.type, field.type):
            try:
                cast = pc.cast(column, field.type)
            except pa.ArrowException as error:
                reason = str(error)
            else:
                if not _overflows(column, cast):
                    return cast
                reason = "a value is out of range"
        raise failures.wrong_type(self._connector, field.name, field.type, got, reason)


def _overflows(column: pa.Array, cast: pa.Array) -> bool:
    """Whether a number became infinite, which Arrow's cast to a shorter FLOAT does not check."""
    if not pa.types.is_floating(cast.type) or not pa.types.is_floating(column.type):
        return False
    became = pc.and_(pc.is_inf(cast), pc.invert(pc.is_inf(column)))
    return bool(pc.any(became).as_py())


def _fits(got: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether values of one type convert to the other if they are in its range.

    Text does not convert to a number, and a time without a zone not to a time with one: both are
    usually mistakes.
    """
    if pa.types.is_null(got) or got == wanted:
        return True
    if pa.types.is_struct(wanted):
        return (
            pa.types.is_struct(got)
            and [field.name for field in got] == [field.name for field in wanted]
            and all(_fits(one.type, other.type) for one, other in zip(got, wanted, strict=True))
        )
    if pa.types.is_map(wanted):
        return (
            pa.types.is_map(got)
            and _fits(got.key_type, wanted.key_type)
            and _fits(got.item_type, wanted.item_type)
        )
    if _is_list(wanted):
        return _is_list(got) and _fits(got.value_type, wanted.value_type)
    if pa.types.is_timestamp(wanted):
        return pa.types.is_timestamp(got) and (got.tz is None) == (wanted.tz is None)
    if pa.types.is_floating(wanted) or pa.types.is_decimal(wanted):
        return pa.types.is_integer(got) or _kind(got) == _kind(wanted)
    return _kind(got) is not None and _kind(got) == _kind(wanted)


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _kind(kind: pa.DataType) -> str | None:
    kinds = {
        "integer": pa.types.is_integer,
        "float": pa.types.is_floating,
        "decimal": pa.types.is_decimal,
        "text": lambda t: (
            pa.types.is_string(t) or pa.types.is_large_string(t) or _is(t, "is_string_view")
        ),
        "binary": lambda t: (
            pa.types.is_binary(t)
            or pa.types.is_large_binary(t)
            or pa.types.is_fixed_size_binary(t)
            or _is(t, "is_binary_view")
        ),
        "boolean": pa.types.is_boolean,
        "date": pa.types.is_date,
        "time": pa.types.is_time,
        "duration": pa.types.is_duration,
    }
    return next((name for name, matches in kinds.items() if matches(kind)), None)


def _is(kind: pa.DataType, check: str) -> bool:
    """A check that came with pyarrow 16; Spark 4.1 takes 15, which has no such types."""
    known = getattr(pa.types, check, None)
    return known is not None and bool(known(kind))
