"""Sends connectors, and the code that runs them, to Spark's Python workers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any
from zlib import compress

import pyarrow as pa
import pyspark.cloudpickle
import pyspark.sql.pandas.functions
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, LongType, StructField, StructType

from firesteel.lookup import _errors as errors
from firesteel.lookup import _interfaces, _worker
from firesteel.lookup._worker.partitions import PartitionerSpec
from firesteel.lookup._worker.process import LookupProcess
from firesteel.lookup._worker.task import BatchStats, ConnectorSpec

if TYPE_CHECKING:
    from pyspark.sql._typing import UserDefinedFunctionLike

# Untyped, or with types that know no arrays of structs.
cloudpickle: Any = pyspark.cloudpickle
_functions: Any = pyspark.sql.pandas.functions

_pickling = Lock()  # the process has one list of modules to pickle by value


def pickled(name: str, thing: object) -> bytes:
    """Pickle a connector or a partitioner.

    Raises:
        InvalidConnectorError: It cannot be pickled.
    """
    try:
        return _by_value(thing)
    except Exception as error:
        raise errors.not_picklable(name, thing, error) from error


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow types in which the workers see a schema."""
    if "timezone" in inspect.signature(to_arrow_schema).parameters:
        return to_arrow_schema(schema, timezone="UTC")
    return to_arrow_schema(schema)  # before Spark 4.2 times are in UTC without being asked


def lookup_function(spec: ConnectorSpec, schema: StructType) -> UserDefinedFunctionLike:
    """Make the Arrow function of a connector's lookups: (request, shard, keys...) -> answer.

    Args:
        spec: The connector.
        schema: Its columns.

    Returns:
        A function that returns for each row a struct of ``rows``, an array of structs of the
        schema, and ``stats``, a struct of counts or null.
    """
    counts = [StructField(name, LongType()) for name in BatchStats.__dataclass_fields__]
    # All are nullable: a column that a query does not read is null.
    row = StructType([StructField(field.name, field.dataType, True) for field in schema])
    answer = StructType(
        [StructField("rows", ArrayType(row)), StructField("stats", StructType(counts))]
    )
    process, shipped = _worker_process(), _by_value(spec)

    def lookup(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        import pickle

        ours = process()
        yield from ours.reported(ours.lookup(pickle.loads(shipped), batches))

    udf: UserDefinedFunctionLike = _arrow_udf()(lookup, returnType=answer)
    return udf


def partition_function(spec: PartitionerSpec) -> UserDefinedFunctionLike:
    """Make the Arrow function of a partitioner: (request, keys...) -> partition.

    Args:
        spec: The partitioner.

    Returns:
        A function that returns for each row a whole number.
    """
    process, shipped = _worker_process(), _by_value(spec)

    def partition(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        import pickle

        ours = process()
        yield from ours.reported(ours.partition(pickle.loads(shipped), batches))

    udf: UserDefinedFunctionLike = _arrow_udf()(partition, returnType=LongType())
    return udf


def _arrow_udf() -> Callable[..., UserDefinedFunctionLike]:
    """Return PySpark's maker of Arrow functions, which came with 4.1."""
    made: Callable[..., UserDefinedFunctionLike] | None = getattr(_functions, "arrow_udf", None)
    if made is None:
        raise errors.no_arrow_functions(pyspark.__version__)
    return made


@cache
def _worker_process() -> Callable[[], LookupProcess]:
    """Return a function that returns the `LookupProcess` of the worker process that calls it.

    The function carries the code of `LookupProcess` and everything that it uses. It is nested, so
    cloudpickle pickles it by value: workers need PySpark, pyarrow and numpy, not this package.
    """
    code = compress(_by_value(LookupProcess))
    version = sha256(code).hexdigest()  # a worker may serve drivers with different versions

    def process() -> LookupProcess:
        import pickle
        import sys
        import types
        import zlib

        ours = vars(sys.modules.setdefault("_firesteel_lookup", types.ModuleType("ours")))
        if version not in ours:
            ours.setdefault(version, pickle.loads(zlib.decompress(code))())
        return ours[version]  # type: ignore[no-any-return]

    return process


def _by_value(thing: object) -> bytes:
    with _pickling:
        ours = [
            module
            for module in (_worker, _interfaces)
            if module.__name__ not in cloudpickle.list_registry_pickle_by_value()
        ]
        for module in ours:
            cloudpickle.register_pickle_by_value(module)
        try:
            return bytes(cloudpickle.dumps(thing))
        finally:
            for module in ours:
                cloudpickle.unregister_pickle_by_value(module)
