"""Registers a connector in a session: functions for its lookups, and a view that names them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.sql.types import ArrayType, MapType, StringType, StructType

from firesteel.lookup import _errors as errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

    from firesteel.lookup._interfaces import (
        AnyConnector,
        InputDataBatchPartitioner,
        InputDataPartitioner,
    )


def register(
    spark: SparkSession, name: str, connector: AnyConnector, options: dict[str, str]
) -> None:
    """Register the functions of a connector, then the view that names them to the engine.

    It uses only public methods of the session, so it works on Spark Connect too.

    Args:
        spark: The session.
        name: The view's name, checked.
        connector: The connector, not checked yet.
        options: Text by Flink's option name, checked.

    Raises:
        InvalidConnectorError: The connector lacks a member or cannot be pickled.
        ImportError: pyarrow or numpy is not installed.
    """
    if not all(hasattr(connector, part) for part in ("schema", "keys")) or not callable(
        getattr(connector, "lookup", None)
    ):
        raise errors.no_lookup(name, connector)
    if isinstance(connector, type) and not _takes_keys(connector.lookup):
        raise errors.not_an_instance(name, connector)
    schema = _schema(spark, name, connector.schema)
    keys = _keys(name, "keys", connector.keys, schema)
    try:
        from firesteel.lookup import _shipping as shipping
        from firesteel.lookup._worker.partitions import PartitionerSpec
        from firesteel.lookup._worker.task import ConnectorSpec
    except ImportError as error:
        raise errors.no_arrow(error) from error
    arrow = shipping.arrow_schema(schema)
    drop_others = bool(getattr(connector, "may_answer_other_keys", False))
    spec = ConnectorSpec(name, uuid4().hex, shipping.pickled(name, connector), arrow, drop_others)
    needed = _keys(name, "partition_keys", getattr(connector, "partition_keys", keys), schema, keys)
    partitioner = _partitioner(name, connector)
    # The names belong to this registration: an existing query keeps its own functions.
    lookup_udf, partition_udf = f"{functions_of(name)[0]}{spec.registration}", None
    functions = {lookup_udf: shipping.lookup_function(spec, schema)}
    if partitioner is not None:
        partition_udf = f"{functions_of(name)[1]}{spec.registration}"
        shipped = shipping.pickled(name, partitioner)
        functions[partition_udf] = shipping.partition_function(
            PartitionerSpec(name, shipped, keys, needed, arrow)
        )
    description = {
        "name": name,
        "udf": lookup_udf,
        "partition_udf": partition_udf,
        "deterministic": _is_deterministic(name, partitioner),
        "schema": schema.jsonValue(),
        "keys": keys,
        "partition_keys": needed if partitioner is not None else (),
        "options": options,
    }
    for function, udf in functions.items():
        spark.udf.register(function, udf)
    text = json.dumps(description, ensure_ascii=False).replace("\\", "\\\\").replace("'", "\\'")
    table = f"firesteel_python_lookup('{text}')"
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM {table}")


def functions_of(name: str) -> tuple[str, str]:
    """The prefixes of the names of a connector's functions: of its lookups and its partitioner."""
    return f"__firesteel_lookup_{name}_", f"__firesteel_partition_{name}_"


def _takes_keys(lookup: Callable[..., object]) -> bool:
    """Whether a method of a class can be called without an instance."""
    try:
        inspect.signature(lookup).bind(None)
    except TypeError:
        return False
    except ValueError:  # it has no signature
        pass
    return True


def _schema(spark: SparkSession, name: str, schema: object) -> StructType:
    if isinstance(schema, str):
        try:
            # Parsed by the session itself, so that Connect needs no JVM here.
            return spark.createDataFrame([], schema).schema
        except Exception as error:
            raise errors.bad_schema(name, schema, str(error)) from error
    if not isinstance(schema, StructType):
        raise errors.bad_schema(name, schema, "must be a StructType or DDL text")
    return schema


def _keys(
    name: str,
    attribute: str,
    keys: Any,  # noqa: ANN401 - the user's, not checked yet
    schema: StructType,
    among: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """Check names of columns and put them in the schema's order."""
    known = tuple(schema.names) if among is None else tuple(among)
    if (
        isinstance(keys, str)
        or not isinstance(keys, Sequence)
        or not keys
        or not all(isinstance(key, str) for key in keys)
        or len(set(keys)) < len(keys)
        or not set(keys) <= set(known)
    ):
        raise errors.bad_keys(name, attribute, keys, known)
    for column in keys:
        _check_key_type(name, column, schema[column].dataType)
    return tuple(column for column in schema.names if column in keys)


def _check_key_type(name: str, column: str, kind: DataType) -> None:
    for part in [
        kind,
        *([field.dataType for field in kind] if isinstance(kind, StructType) else []),
    ]:
        if isinstance(part, ArrayType | MapType):
            reason = "use columns of simple types or structs of them"
            raise errors.bad_key_type(name, column, kind.simpleString(), reason)
        if isinstance(part, StringType) and not part.isUTF8BinaryCollation():
            reason = "the store would not compare text as the collation does; use plain STRING"
            raise errors.bad_key_type(name, column, kind.simpleString(), reason)


_WAYS = ("partition", "partition_batch")
"""The methods of a partitioner: for one key, and for many keys."""


def _partitioner(
    name: str, connector: object
) -> InputDataPartitioner | InputDataBatchPartitioner | None:
    if callable(ask := getattr(connector, "get_partitioner", None)):
        try:
            partitioner = ask()
        except Exception as error:
            raise errors.raised(name, "get_partitioner", error) from error
    else:
        partitioner = connector if any(hasattr(connector, way) for way in _WAYS) else None
    if partitioner is not None and not any(
        callable(getattr(partitioner, way, None)) for way in _WAYS
    ):
        raise errors.bad_partitioner(name, partitioner)
    return partitioner  # type: ignore[no-any-return]


def _is_deterministic(name: str, partitioner: object) -> bool:
    ask = getattr(partitioner, "is_deterministic", None)
    try:
        return bool(ask()) if callable(ask) else True
    except Exception as error:
        raise errors.raised(name, "is_deterministic", error) from error
