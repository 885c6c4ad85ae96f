"""The entry for Spark: Arrow batches of keys in, Arrow batches of answers out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import asdict
from threading import Lock

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from firesteel.lookup._interfaces import TaskInfo
from firesteel.lookup._worker import failures
from firesteel.lookup._worker.answers import Found
from firesteel.lookup._worker.arrays import Ints
from firesteel.lookup._worker.cache import LookupCache
from firesteel.lookup._worker.partitions import PartitionerSpec, Partitions
from firesteel.lookup._worker.request import LookupRequest, request_of
from firesteel.lookup._worker.task import BatchStats, ConnectorSpec, LookupTask, bounds_of

MAX_CACHES = 4096
"""The most caches of a worker process, as on the JVM. The least recently used goes first."""

MAX_IDLE_SECONDS = 15 * 60
"""How long an unused cache stays, as on the JVM. Spark ends workers that are idle for a minute."""


class LookupProcess:
    """The state of a worker process between tasks: the caches.

    Spark runs concurrent tasks in different Python processes and reuses idle processes. So the
    tasks that one process runs, one after the other, share a cache.
    """

    def __init__(self) -> None:
        self._caches: OrderedDict[tuple[object, ...], LookupCache] = OrderedDict()
        self._lock = Lock()

    def lookup(
        self, spec: ConnectorSpec, batches: Iterator[tuple[pa.Array, ...]]
    ) -> Generator[pa.Array]:
        """Answer all batches of one task.

        Args:
            spec: The connector.
            batches: Arrays (request, shard, key columns...), n rows each. The request is JSON and
                the same in all rows; a null repeats the request before it. The shard is the
                partition of a custom shuffle, or null.

        Yields:
            Arrays of structs, n structs per batch, in several arrays if one would be too large:
            ``rows``, the matches of the row, and ``stats``, in the first row only. Spark counts
            the rows of all arrays, so they may be cut anywhere.
        """
        tasks: dict[tuple[str, int | None], LookupTask] = {}
        text = ""
        requests: dict[str, LookupRequest] = {}
        results = Results(spec.schema)
        ended = False
        try:
            for sent, shards, *columns in batches:
                if not len(sent):
                    yield results.none()
                    continue
                text = _first_known(sent) or text
                request = requests.get(text) or requests.setdefault(text, request_of(text))
                parts = []
                for shard, rows in _by_shard(shards):
                    task = tasks.get((text, shard))
                    if task is None:
                        task = tasks[text, shard] = self._task(spec, request, shard)
                    mine = columns if rows is None else [c.take(pa.array(rows)) for c in columns]
                    parts.append((rows, *task.rows_of(mine)))
                yield from results.of(parts, len(sent))
            ended = True
        finally:
            _close(tasks.values(), quietly=not ended)

    def partition(
        self, spec: PartitionerSpec, batches: Iterator[tuple[pa.Array, ...]]
    ) -> Iterator[pa.Array]:
        """Choose the partitions of all batches of one task.

        Args:
            spec: The partitioner.
            batches: Arrays (request, key columns...), n rows each.

        Yields:
            For each batch an array of n partitions.
        """
        partitions = None
        for first, *columns in batches:
            if partitions is None:
                partitions = Partitions(spec)
            yield partitions.of_batch(first, columns) if len(first) else pa.array([], pa.int64())

    @staticmethod
    def reported(answers: Iterator[pa.Array]) -> Iterator[pa.Array]:
        """Emit the answers of a task; see `failures.sentence_first`."""
        return failures.sentence_first(answers)

    def _task(self, spec: ConnectorSpec, request: LookupRequest, shard: int | None) -> LookupTask:
        info = _task_info(spec.name, request, shard)
        return LookupTask(spec, request, info, self._cache(spec, request, shard))

    def _cache(
        self, spec: ConnectorSpec, request: LookupRequest, shard: int | None
    ) -> LookupCache | None:
        if not request.cached:
            return None
        names = [*request.context.columns]
        row_type = pa.struct([spec.schema.field(name).with_nullable(True) for name in names])
        query = running_query()
        if request.private or query is None:
            return LookupCache(bounds_of(request), row_type)
        # Retries are part of it: a join with more attempts must not use the misses of another.
        retry = (request.max_attempts, request.delay_ms)
        identity = (query, spec.registration, request.context, bounds_of(request), retry, shard)
        with self._lock:
            self._drop_unused()
            cache = self._caches.get(identity)
            if cache is None:
                cache = self._caches[identity] = LookupCache(bounds_of(request), row_type)
            self._caches.move_to_end(identity)
            if len(self._caches) > MAX_CACHES:
                self._caches.popitem(last=False)
        return cache

    def _drop_unused(self) -> None:
        for identity, cache in list(self._caches.items()):
            with cache.lock:
                cache.purge()
                unused = not len(cache) or cache.idle_seconds() > MAX_IDLE_SECONDS
            if unused:
                del self._caches[identity]


def running_query() -> str | None:
    """Return the id that a cache belongs to: of a stream, or of one run of a batch query.

    A plan has no such id, because it may run more than once.

    Returns:
        The id; None if Spark has none.
    """
    running = TaskContext.get()
    if running is None:
        return "no task"  # outside of Spark there is one query
    ids = map(running.getLocalProperty, ("sql.streaming.queryId", "spark.sql.execution.id"))
    return next((found for found in ids if found), None)


class Results:
    """Builds answers in the form that Spark expects, with all columns of a schema."""

    names = ("rows", "stats")

    def __init__(self, schema: pa.Schema) -> None:
        self._fields = [field.with_nullable(True) for field in schema]
        names = list(BatchStats.__dataclass_fields__)
        self._stats = pa.struct([pa.field(name, pa.int64()) for name in names])

    def none(self) -> pa.Array:
        """Return the answer to a batch without rows."""
        empty = self._lists(pa.array([], pa.struct(self._fields)), np.zeros(0, dtype=np.int64))
        return pa.StructArray.from_arrays([empty, pa.array([], self._stats)], self.names)

    def of(
        self, parts: Sequence[tuple[Ints | None, Found, BatchStats]], rows: int
    ) -> Iterator[pa.Array]:
        """Put together the answers to the shards of one batch.

        Args:
            parts: For each shard its rows of the batch (None for all), their matches, and counts.
            rows: The number of rows of the batch.

        Yields:
            The answers, in as many arrays as their size needs, each built on demand.
        """
        found = _in_order([(positions, matches) for positions, matches, _ in parts], rows)
        counts = [asdict(stats) for *_, stats in parts]
        summed = {name: sum(count[name] for count in counts) for name in counts[0]}
        for first, stop in found.pieces():
            lists = self._lists(found.rows_of(first, stop), found.lengths[first:stop])
            stats = pa.nulls(stop - first, self._stats)
            if not first:
                stats = pa.concat_arrays([pa.array([summed], self._stats), stats[1:]])
            yield pa.StructArray.from_arrays([lists, stats], self.names)

    def _lists(self, matches: pa.StructArray, lengths: Ints) -> pa.ListArray:
        present = dict(zip((f.name for f in matches.type), matches.flatten(), strict=True))
        columns = [
            present[field.name] if field.name in present else pa.nulls(len(matches), field.type)
            for field in self._fields
        ]
        structs = pa.StructArray.from_arrays(columns, fields=self._fields)
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), structs)


def _first_known(texts: pa.Array) -> str | None:
    position = 0 if texts[0].is_valid else texts.is_valid().index(True).as_py()
    return None if position < 0 else str(texts[position].as_py())


def _by_shard(shards: pa.Array) -> list[tuple[int | None, Ints | None]]:
    """Split a batch by shard: (shard, its rows). The rows are None if there is only one shard."""
    different = shards.unique().to_pylist()
    if len(different) == 1:
        return [(different[0], None)]
    numbers = shards.fill_null(-1).to_numpy()
    return [
        (shard, np.flatnonzero(numbers == (-1 if shard is None else shard))) for shard in different
    ]


def _in_order(parts: Sequence[tuple[Ints | None, Found]], rows: int) -> Found:
    """Bring the matches of all shards of a batch into the order of its rows."""
    if len(parts) == 1:
        return parts[0][1]
    starts, lengths = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    before = 0
    for positions, found in parts:
        starts[positions] = found.starts + before
        lengths[positions] = found.lengths
        before += len(found.rows)
    return Found(pa.concat_arrays([found.rows for _, found in parts]), starts, lengths)


def _task_info(name: str, request: LookupRequest, shard: int | None) -> TaskInfo:
    running = TaskContext.get()
    attempt = running.attemptNumber() if running else 0
    index = (running.partitionId() if running else 0) if shard is None else shard
    count = 0 if shard is None else request.context.num_partitions
    stage = f"stage {running.stageId()}, " if running else ""
    return TaskInfo(index, count, attempt, f"lookup {name}, {stage}partition {index}")


def _close(tasks: Iterable[LookupTask], quietly: bool) -> None:
    """Close all, then raise the first error. Quietly, if another error ended the task."""
    errors: list[Exception] = []
    for task in tasks:
        try:
            task.close()
        except Exception as error:
            errors.append(error)
    if errors and not quietly:
        raise errors[0]
