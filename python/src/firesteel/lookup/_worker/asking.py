"""Calls a connector: in batches, several at the same time if wanted, again on a miss."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from firesteel.lookup._worker import failures
from firesteel.lookup._worker.answers import AnswerReader, Found
from firesteel.lookup._worker.arrays import spread
from firesteel.lookup._worker.crew import Crew
from firesteel.lookup._worker.keys import shown

if TYPE_CHECKING:
    from firesteel.lookup._worker.request import LookupRequest

LONGEST_WAIT_SECONDS = 10
"""The longest wait after a failed batch, for other batches under way, before `close`."""


@dataclass
class Asked:
    """Counts: calls of the connector, keys answered, seconds in the connector."""

    requests: int = 0
    loads: int = 0
    seconds: float = 0.0


class Asker:
    """Calls one opened connector.

    Args:
        connector: Its name, for errors.
        lookup: Its method ``lookup``.
        crew: The threads, one for each batch that may be under way.
        request: Batch size, retries and timeout.
        reader: Checks the answers.
    """

    def __init__(
        self,
        connector: str,
        lookup: Callable[[pa.Table], object],
        crew: Crew,
        request: LookupRequest,
        reader: AnswerReader,
    ) -> None:
        self._connector = connector
        self._lookup = lookup
        self._crew = crew
        self._request = request
        self._reader = reader
        self._cost = Asked()
        self._counting = Lock()
        self._given_up = False
        self.hangs = False

    def ask(self, keys: pa.Table, values: Sequence[Hashable]) -> Found:
        """Look up keys and wait for all answers.

        Args:
            keys: n distinct keys without nulls.
            values: The same n keys as `DistinctKeys.values`.

        Returns:
            The rows, together by key and in the order of the keys.
        """
        under_way: deque[tuple[pa.Table, float, Future[Found]]] = deque()
        try:
            answers = self._ask_all(keys, values, under_way)
        except BaseException:
            self._given_up = True
            wait([future for *_, future in under_way], timeout=LONGEST_WAIT_SECONDS)
            raise
        if len(answers) == 1:
            return answers[0]
        rows = pa.concat_arrays([self._none(), *(answer.rows for answer in answers)])
        lengths = np.concatenate([np.zeros(0, np.int64), *(answer.lengths for answer in answers)])
        return Found(rows, np.cumsum(lengths) - lengths, lengths)

    def _ask_all(
        self,
        keys: pa.Table,
        values: Sequence[Hashable],
        under_way: deque[tuple[pa.Table, float, Future[Found]]],
    ) -> list[Found]:
        size = self._request.batch_size
        answers: list[Found] = []
        for start in range(0, len(values), size):
            if len(under_way) == self._request.in_flight:
                answers.append(self._wait(*under_way.popleft()))
            batch, some = keys.slice(start, size), values[start : start + size]
            future = self._crew.submit(partial(self._ask_again_on_a_miss, batch, some))
            under_way.append((batch, time.monotonic(), future))
        while under_way:
            answers.append(self._wait(*under_way.popleft()))
        return answers

    def cost(self) -> Asked:
        """Return the counts since the last call of this method."""
        with self._counting:
            cost, self._cost = self._cost, Asked()
        return cost

    def _none(self) -> pa.StructArray:
        return pa.array([], self._reader.row_type)

    def _wait(self, keys: pa.Table, since: float, future: Future[Found]) -> Found:
        if not self._request.timeout_ms:
            return future.result()
        left = since + self._request.timeout_ms / 1000 - time.monotonic()
        try:
            return future.result(timeout=max(left, 0))
        except TimeoutError:
            if future.done():  # it ended just now, or raised a TimeoutError of its own
                return future.result()
            self.hangs = True
            raise failures.timed_out(
                self._connector, self._first(keys), len(keys), self._request.timeout_ms
            ) from None

    def _ask_again_on_a_miss(self, keys: pa.Table, values: Sequence[Hashable]) -> Found:
        found = self._ask_once(keys, values)
        for _ in range(self._request.max_attempts - 1):
            missing = np.flatnonzero(found.lengths == 0)
            if not len(missing) or self._given_up:
                break
            time.sleep(self._request.delay_ms / 1000)
            again = self._ask_once(
                keys.take(pa.array(missing)), [values[index] for index in missing.tolist()]
            )
            found.starts[missing] = again.starts + len(found.rows)
            found.lengths[missing] = again.lengths
            found = Found(pa.concat_arrays([found.rows, again.rows]), found.starts, found.lengths)
        with self._counting:
            self._cost.loads += len(values)
        if self._request.max_attempts == 1:
            return found
        rows = found.rows.take(pa.array(spread(found.starts, found.lengths)))
        return Found(rows, np.cumsum(found.lengths) - found.lengths, found.lengths)

    def _ask_once(self, keys: pa.Table, values: Sequence[Hashable]) -> Found:
        start = time.monotonic()
        try:
            answer = self._lookup(keys)
        except Exception as error:
            raise failures.raised(self._connector, "lookup", self._first(keys), error) from error
        finally:
            with self._counting:
                self._cost.requests += 1
                self._cost.seconds += time.monotonic() - start
        return self._reader.read(answer, {value: index for index, value in enumerate(values)})

    def _first(self, keys: pa.Table) -> str:
        return shown([column.combine_chunks() for column in keys.columns], keys.column_names, 0)
