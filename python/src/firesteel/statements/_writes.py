"""Writes the rows of a micro-batch to the targets of a statement set."""

from __future__ import annotations

import json
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING

from pyspark import InheritableThread
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from firesteel.statements._targets import Sink


@dataclass(frozen=True)
class Writes:
    """A function for ``foreachBatch`` that gives each statement its rows.

    It can be pickled, which Spark Connect requires.

    Attributes:
        sinks: The targets, in the order of their statements.
        checkpoint: The folder of the checkpoint, which notes what has been written.
        parallel: Whether the targets are written side by side.
        catalog: The catalog and the database in which tables are found by their names.
    """

    sinks: tuple[Sink, ...]
    checkpoint: str
    parallel: bool
    catalog: tuple[str, str]

    def __call__(self, rows: DataFrame, batch_id: int) -> None:
        """Write one micro-batch.

        Args:
            rows: The rows of all statements.
            batch_id: The number of the micro-batch.
        """
        self._use_catalog(rows)
        notes = Notes(rows, self.checkpoint, batch_id)
        done = notes.read()
        failed: dict[int, BaseException] = {}

        def write(sink: Sink) -> None:
            try:
                its = rows.where(f"statement = {sink.number}").select(f"s{sink.number}.*")
                sink.write(its, batch_id)
                notes.add(sink.name)
            except BaseException as error:  # raised below, when all have ended
                error.add_note(f"statement {sink.name!r}, micro-batch {batch_id}")
                failed[sink.number] = error

        waiting = [sink for sink in self.sinks if sink.name not in done]
        if self.parallel:
            # A thread of Spark's driver must know the query; one of a Connect client has no driver.
            kind = InheritableThread if isinstance(rows.sparkSession, SparkSession) else Thread
            threads = [kind(target=write, args=(sink,)) for sink in waiting]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            for sink in waiting:
                if not failed:
                    write(sink)
        if failed:
            raise failed[min(failed)]

    def _use_catalog(self, rows: DataFrame) -> None:
        """The session that Spark clones for a streaming query begins with the default catalog."""
        # That of a client's function is the client's own.
        if not isinstance(rows.sparkSession, SparkSession):
            return
        current = rows.sparkSession.catalog
        catalog, database = self.catalog
        if current.currentCatalog() != catalog:
            current.setCurrentCatalog(catalog)
        if database and current.currentDatabase() != database:
            current.setCurrentDatabase(database)


class Notes:
    """The statements that have written a micro-batch, in the checkpoint.

    They only save work: a target that its note missed is written again. On Spark Connect, where the
    function does not run on the driver, there are none.
    """

    def __init__(self, rows: DataFrame, checkpoint: str, batch_id: int) -> None:
        session = rows.sparkSession
        self._session = session if isinstance(session, SparkSession) else None
        self._checkpoint = checkpoint
        self._batch_id = batch_id

    def read(self) -> frozenset[str]:
        """The names of the statements that have written this micro-batch."""
        if self._session is None:
            return frozenset()
        from firesteel import _jvm

        written = _jvm.written_statements(self._session, self._checkpoint, self._batch_id)
        return frozenset(json.loads(written))

    def add(self, name: str) -> None:
        """Note a statement."""
        if self._session is not None:
            from firesteel import _jvm

            _jvm.note_statement(self._session, self._checkpoint, self._batch_id, name)
