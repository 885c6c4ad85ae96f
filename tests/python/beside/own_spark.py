"""A Spark of its own in this process, beside one that other tests may have started.

The class path of a JVM is fixed when it starts, and PySpark knows one JVM at a time. So the other
one is put aside, and put back at the end.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

import firesteel

EXTENSION = "io.firesteel.FiresteelExtensions"


class OwnSpark:
    """Starts sessions in one JVM, one at a time."""

    def __init__(self, jars: Sequence[Path], folder: Path) -> None:
        self.jars = ",".join(str(jar) for jar in jars)
        self.folder = folder

    def start(self, *extensions: str, **settings: object) -> SparkSession:
        """Start a session; the one before it is stopped.

        Args:
            extensions: Classes in the order of ``spark.sql.extensions``; ours is `EXTENSION`.
            settings: Settings of Spark, with ``__`` for a dot.
        """
        self.stop()
        builder = (
            SparkSession.builder.master("local[2]")
            .config("spark.jars", self.jars)
            .config("spark.sql.extensions", ",".join(extensions) or EXTENSION)
            .config("spark.ui.enabled", False)
            .config("spark.ui.showConsoleProgress", False)
            .config("spark.sql.shuffle.partitions", 2)
            .config("spark.sql.warehouse.dir", str(self.folder / "warehouse"))
            # The second compiler does not earn back what it costs.
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        )
        for name, value in settings.items():
            builder.config(name.replace("__", "."), value)
        session = firesteel.configure(builder).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        firesteel.check(session)
        return session

    def stop(self) -> None:
        if SparkContext._active_spark_context is not None:
            SparkSession.builder.getOrCreate().stop()


@contextlib.contextmanager
def own_spark(jars: Sequence[Path], folder: Path) -> Iterator[OwnSpark]:
    """A JVM with jars, which ends with the block."""
    other = (
        SparkContext._gateway,
        SparkContext._jvm,
        SparkContext._active_spark_context,
        SparkSession._instantiatedSession,
    )
    _become(None, None, None, None)
    own = OwnSpark(jars, folder)
    try:
        yield own
    finally:
        own.stop()
        gateway = SparkContext._gateway
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()  # the JVM ends with it
            gateway.proc.wait(timeout=60)
        _become(*other)


def _become(gateway: object, jvm: object, context: object, session: object) -> None:
    SparkContext._gateway = gateway
    SparkContext._jvm = jvm
    SparkContext._active_spark_context = context  # type: ignore[assignment]
    SparkSession._instantiatedSession = session  # type: ignore[assignment]
