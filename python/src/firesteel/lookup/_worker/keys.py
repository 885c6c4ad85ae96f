"""Distinct keys of Arrow columns, as Python values with the equality of Spark's joins."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from firesteel.lookup._worker.arrays import Ints


@dataclass(frozen=True)
class DistinctKeys:
    """The distinct keys of n rows.

    Attributes:
        codes: n numbers: the index of each row's key; -1 if a column of the key is null.
        first: For each key, its first row.
        values: For each key, a value that is equal to another exactly if Spark's join treats the
            keys as equal.
    """

    codes: Ints
    first: Ints
    values: list[Hashable]


def distinct(columns: Sequence[pa.Array]) -> DistinctKeys:
    """Number the distinct keys of rows.

    Args:
        columns: One array of n values per key column, as `normalized` returns it.
    """
    leaves = [leaf for column in columns for leaf in _leaves(column)]
    valid = _without_nulls(columns)
    if len(leaves) == 1:
        encoded = leaves[0].dictionary_encode()
        codes = _codes(encoded.indices)
        values = _values(encoded.dictionary)
        return DistinctKeys(codes, _first_rows(codes, len(values)), values)
    codes, count = _combined(leaves, valid)
    first = _first_rows(codes, count)
    parts = [_values(leaf.take(pa.array(first))) for leaf in leaves]
    return DistinctKeys(codes, first, list(zip(*parts, strict=True)))


def normalized(column: pa.Array) -> pa.Array:
    """Give equal floats the same bits: Spark's joins have one NaN and one zero."""
    if pa.types.is_floating(column.type):
        nan = pa.scalar(float("nan"), column.type)
        positive = pc.add(column, pa.scalar(0.0, column.type))  # -0.0 + 0.0 is 0.0
        return pc.if_else(pc.is_nan(positive), nan, positive)
    if pa.types.is_struct(column.type) and _has_floats(column.type):
        children = [normalized(child) for child in column.flatten()]
        return pa.StructArray.from_arrays(
            children, fields=list(column.type), mask=pc.is_null(column)
        )
    return column


def _has_floats(arrow_type: pa.DataType) -> bool:
    if pa.types.is_struct(arrow_type):
        return any(_has_floats(field.type) for field in arrow_type)
    return bool(pa.types.is_floating(arrow_type))


def _leaves(column: pa.Array) -> list[pa.Array]:
    """Split structs into columns, and view each column as a type that hashes fast."""
    kind = column.type
    if pa.types.is_struct(kind):
        below = [leaf for child in column.flatten() for leaf in _leaves(child)]
        return [pc.cast(column.is_valid(), pa.int8()), *below]
    if pa.types.is_dictionary(kind):
        return _leaves(column.dictionary_decode())
    if pa.types.is_floating(kind):
        return [column.view({16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bit_width])]
    if pa.types.is_string(kind):
        return [column.view(pa.binary())]
    if pa.types.is_large_string(kind):
        return [column.view(pa.large_binary())]
    if pa.types.is_decimal(kind):
        return [column.view(pa.binary(kind.byte_width))]
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return [column.view(pa.int32())]
    if pa.types.is_temporal(kind):
        return [column.view(pa.int64())]
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return [column.cast(pa.int8())]
    return [column]


def _without_nulls(columns: Sequence[pa.Array]) -> pa.Array | None:
    """Return where no column is null; None if no column has a null."""
    valid = None
    for column in columns:
        if column.null_count:
            here = column.is_valid()
            valid = here if valid is None else pc.and_(valid, here)
    return valid


def _combined(leaves: Sequence[pa.Array], valid: pa.Array | None) -> tuple[Ints, int]:
    """Number the distinct rows of several columns, by combining two numbers at a time."""
    rows = len(leaves[0])
    codes, count = np.zeros(rows, dtype=np.int64), 1
    for leaf in leaves:
        encoded = leaf.dictionary_encode(null_encoding="encode")
        # Neither factor is larger than the number of rows, so their product fits.
        pairs = codes * len(encoded.dictionary) + _codes(encoded.indices)
        again = pa.array(pairs).dictionary_encode()
        codes, count = _codes(again.indices), len(again.dictionary)
    if valid is None:
        return codes, count
    known = pa.array(codes, mask=pc.invert(valid).to_numpy(zero_copy_only=False))
    encoded = known.dictionary_encode()
    return _codes(encoded.indices), len(encoded.dictionary)


def _codes(indices: pa.Array) -> Ints:
    filled = indices.fill_null(-1) if indices.null_count else indices
    codes: Ints = filled.to_numpy().astype(np.int64)
    return codes


def _first_rows(codes: Ints, count: int) -> Ints:
    first = np.zeros(count + 1, dtype=np.int64)  # the last place is for -1
    # Backwards, because the last of several assignments to one place wins.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1, dtype=np.int64)
    return first[:count]


def _values(leaf: pa.Array) -> list[Hashable]:
    if leaf.null_count:  # numpy would make floats of integers with nulls
        values: list[Hashable] = leaf.to_pylist()
    else:
        values = leaf.to_numpy(zero_copy_only=False).tolist()
    return values


def shown(columns: Sequence[pa.Array], names: Sequence[str], row: int) -> str:
    """Write the key of a row for an error, ``id = 7, type = 'x'``, with long values cut."""
    parts = []
    for name, column in zip(names, columns, strict=True):
        text = repr(column[row].as_py())
        parts.append(f"{name} = {text if len(text) <= 100 else text[:97] + '...'}")
    return ", ".join(parts)
