"""Checks a connector's partitioner, and the answers of each partition."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from firesteel.lookup import _shipping as shipping
from firesteel.lookup._check_answers import Copies, Key, Store, compare, naming
from firesteel.lookup._worker.partitions import PartitionerSpec
from firesteel.lookup._worker.process import LookupProcess

if TYPE_CHECKING:
    from firesteel.lookup import SupportsLookup

_PARTITION_COUNTS = (1, 2, 3, 7)


def check_partitioner(name: str, connector: SupportsLookup, copies: Copies, store: Store) -> None:
    partitioner = copies.partitioner
    if partitioner is None:
        return
    needed = tuple(getattr(connector, "partition_keys", store.keys))
    spec = PartitionerSpec(
        name, shipping.pickled(name, partitioner), store.keys, needed, store.types
    )
    says = getattr(partitioner, "is_deterministic", None)
    deterministic = bool(says()) if callable(says) else True
    asked = store.asked(store.keys)
    for count in _PARTITION_COUNTS:
        what = f"the partitioner with {count} partitions"
        numbers = _numbers(what, spec, copies, store, [asked], count)
        for key, number in zip(asked, numbers, strict=True):
            if number is None or not 0 <= number < count:
                raise AssertionError(
                    f"{what} gave the key {shown(store.keys, key)} the partition {number}: it "
                    f"must be from 0 to {count - 1}"
                )
        if deterministic:
            singly = _numbers(what, spec, copies, store, [[key] for key in reversed(asked)], count)
            _same_numbers(what, store, asked, numbers, singly[::-1], "in another call")
            _check_shards(copies, store, asked, numbers, count)
    if deterministic:
        what = "the partitioner with 7 partitions"
        others = _numbers_of_another_process(
            what, spec, copies.batch(store.keys, asked, columns=store.types.names, num_partitions=7)
        )
        _same_numbers(what, store, asked, numbers, others, "in another process")


def _same_numbers(
    what: str,
    store: Store,
    asked: Sequence[Key],
    numbers: Sequence[int],
    others: Sequence[int],
    where: str,
) -> None:
    for key, number, other in zip(asked, numbers, others, strict=True):
        if number != other:
            raise AssertionError(
                f"{what} gave the key {shown(store.keys, key)} the partition {number}, and "
                f"{other} {where}. Compute the number from the key alone (hash() of a text differs "
                "between processes), or return False from is_deterministic()"
            )


def _numbers(
    what: str,
    spec: PartitionerSpec,
    copies: Copies,
    store: Store,
    batches: Sequence[Sequence[Key]],
    count: int,
) -> list[int]:
    sent = [
        copies.batch(store.keys, keys, columns=store.types.names, num_partitions=count)
        for keys in batches
    ]
    with naming(what):
        # Without the shard, which partitioners do not get.
        answers = LookupProcess().partition(spec, iter([(b[0], *b[2:]) for b in sent]))
        return [number for answer in answers for number in answer.to_pylist()]


_OTHER_PROCESS = """
import json, pickle, sys
spec, batch = pickle.load(sys.stdin.buffer)
from firesteel.lookup._worker.process import LookupProcess
answers = LookupProcess().partition(spec, iter([batch]))
print(json.dumps([number for answer in answers for number in answer.to_pylist()]))
"""


def _numbers_of_another_process(
    what: str, spec: PartitionerSpec, batch: tuple[pa.Array, ...]
) -> list[int]:
    """Ask in a process with another seed of ``hash``: Spark's workers may have different ones."""
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    path = os.pathsep.join(part or str(Path.cwd()) for part in sys.path)
    found = subprocess.run(
        [sys.executable, "-c", _OTHER_PROCESS],
        input=pickle.dumps((spec, (batch[0], *batch[2:]))),
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    if found.returncode:
        raise AssertionError(f"{what}, in another process: {found.stderr.decode().strip()}")
    numbers: list[int] = json.loads(found.stdout.splitlines()[-1])
    return numbers


def _check_shards(
    copies: Copies, store: Store, asked: Sequence[Key], numbers: Sequence[int], count: int
) -> None:
    """Each shard is asked its keys alone; without a custom shuffle any task is asked any key."""
    for shard in sorted(set(numbers)):
        keys = [key for key, number in zip(asked, numbers, strict=True) if number == shard]
        what = f"lookup under custom shuffle in the partition {shard} of {count}"
        got = copies.ask(
            what, store.keys, keys, shard=shard, custom_shuffle=True, num_partitions=count
        )
        compare(what, store.keys, keys, got, store.rows_of(store.keys, keys))


def shown(keys: Sequence[str], key: Key) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in zip(keys, key, strict=True))
