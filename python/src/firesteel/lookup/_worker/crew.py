"""Threads in which a connector runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class Crew:
    """At most ``size`` threads, started when there is work for them.

    Not `concurrent.futures.ThreadPoolExecutor`, which waits at the end of the process for its
    threads: one that hangs in a connector would keep the worker for ever.
    """

    def __init__(self, size: int, name: str) -> None:
        self._size = size
        self._name = name
        self._threads: list[Thread] = []
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Run ``call`` in a thread as soon as one is free."""
        future: Future[T] = Future()
        self._work.put((future, call))
        if len(self._threads) < self._size:
            thread = Thread(target=self._run, name=self._name, daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def close(self) -> None:
        """Let the threads end when their work is done; does not wait for them."""
        for _ in self._threads:
            self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            future, call = work
            try:
                future.set_result(call())
            except BaseException as error:  # handed to whoever asked
                future.set_exception(error)
