"""The threads in which a connector runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class Crew:
    """At most ``size`` threads, each started when there is work for it.

    This is not `concurrent.futures.ThreadPoolExecutor`, which waits for its threads at the end of
    the process: a thread that hangs in a connector would keep the worker process alive.
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
        """Let each thread end after its work. This does not wait for the threads."""
        for _ in self._threads:
            self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            future, call = work
            try:
                future.set_result(call())
            except BaseException as error:  # raised in the thread that waits
                future.set_exception(error)
