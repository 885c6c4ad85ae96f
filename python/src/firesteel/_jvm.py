"""The only module that uses py4j and the private members of PySpark that lead to the JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py4j.java_gateway import JavaClass
from pyspark import SparkConf, SparkContext

from firesteel import _errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession
    from pyspark.sql.classic.dataframe import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


def explain(df: DataFrame, output_mode: str) -> str:
    """Return the report on a DataFrame's own plan, as JSON."""
    return str(_api().explain(df._jdf, output_mode))


def explain_streaming(query: StreamingQuery) -> str:
    """Return the report on a streaming query's last batch, as JSON.

    Raises:
        ExtensionNotLoadedError: The query's session runs without firesteel.
    """
    return str(_api_for(query).explainStreaming(query._jsq))


def measured_run(df: DataFrame, columns: Sequence[str]) -> str:
    """Run a DataFrame to its end; return a digest of ``columns`` and the plan's counts, as JSON."""
    return str(_api().measuredRun(df._jdf, list(columns)))


def lookup_metrics(df: DataFrame) -> str:
    """Return the counts of the lookup joins of a DataFrame that has run, as JSON."""
    return str(_api().lookupMetrics(df._jdf))


def lookup_metrics_of_batch(query: StreamingQuery) -> str:
    """Return the counts of the lookup joins of a streaming query's last micro-batch, as JSON.

    Raises:
        ExtensionNotLoadedError: The query's session runs without firesteel.
    """
    return str(_api_for(query).lookupMetricsOfBatch(query._jsq))


def written_statements(spark: SparkSession, checkpoint: str, batch_id: int) -> str:
    """Return the names of the statements that have written a micro-batch, as JSON."""
    return str(_api().writtenStatements(spark._jsparkSession, checkpoint, batch_id))


def note_statement(spark: SparkSession, checkpoint: str, batch_id: int, name: str) -> None:
    """Note that a statement of a set has written a micro-batch."""
    _api().noteStatement(spark._jsparkSession, checkpoint, batch_id, name)


def start() -> None:
    """Connect to the JVM; in a process that `spark-submit` started it is running already."""
    SparkContext._ensure_initialized()


def launched_with(key: str) -> str | None:
    """Return the value of ``key`` in `spark-submit`; call it only in a process that it started."""
    start()
    return SparkConf().get(key)


def _api() -> Any:  # noqa: ANN401 - py4j knows no types
    """Return `io.firesteel.extension.PythonApi`, all that Python may call.

    A class that is not on the class path looks like a package to py4j, and calling it fails with
    a message about packages.
    """
    jvm: Any = SparkContext._jvm
    api = jvm.io.firesteel.extension.PythonApi
    if not isinstance(api, JavaClass):
        raise _errors.no_jvm_class()
    return api


def _api_for(query: StreamingQuery) -> Any:  # noqa: ANN401 - as `_api`
    """Return the same for a streaming query whose session has the extension."""
    # The class alone does not tell: the jar may be there, and the setting not.
    if not query._jsq.sparkSession().catalog().functionExists("firesteel_version"):
        raise _errors.query_without_extension()
    return _api()


def lacks_jar() -> bool:
    """Whether the JVM of this process is running already, without firesteel on its class path."""
    jvm: Any = SparkContext._jvm
    return jvm is not None and not isinstance(jvm.io.firesteel.extension.PythonApi, JavaClass)
