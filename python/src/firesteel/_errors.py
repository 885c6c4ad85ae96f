"""The errors of the package, one function per error, each with the cure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from firesteel.errors import (
    ExtensionNotLoadedError,
    UnsupportedOnConnectError,
    UnsupportedSparkError,
    VersionMismatchError,
)

EXTENSION = "io.firesteel.FiresteelExtensions"


def not_set(jar: str) -> ExtensionNotLoadedError:
    """Name the setting that is missing, for a session in this process."""
    return ExtensionNotLoadedError(
        f"This session runs without firesteel: spark.sql.extensions does not name {EXTENSION}. "
        "Spark reads the setting only while its JVM and first session start: restart Python and "
        "call firesteel.configure(builder) before the first getOrCreate(), or pass "
        f"--jars {jar} --conf spark.sql.extensions={EXTENSION} to spark-submit."
    )


def not_on_class_path(jar: str) -> ExtensionNotLoadedError:
    """Name the class that Spark could not load; Spark only logs it."""
    return ExtensionNotLoadedError(
        f"This session runs without firesteel: spark.sql.extensions names {EXTENSION}, but Spark "
        "could not load it and continued without it. Its log has the reason. Usually the JVM "
        "started before firesteel.configure(builder): restart Python and call that first, "
        f"or pass --jars {jar} to spark-submit."
    )


def not_on_server(jar: str) -> ExtensionNotLoadedError:
    """Name the options of a Connect server; a client cannot install the extension."""
    return ExtensionNotLoadedError(
        "The Spark Connect server runs without firesteel, and a client cannot install it: start "
        f"the server with --jars {PurePath(jar).name} --conf spark.sql.extensions={EXTENSION} "
        f"(this package's jar is {jar}; copy it to the server)."
    )


def no_jvm_class() -> ExtensionNotLoadedError:
    """Name `check`, which finds the reason why the JVM has no firesteel."""
    return ExtensionNotLoadedError(
        "The JVM of this session has no firesteel on its class path: "
        "call firesteel.check(spark), whose error names the cure."
    )


def query_without_extension() -> ExtensionNotLoadedError:
    """Name `check`, which finds the reason why a streaming query's session has no firesteel."""
    return ExtensionNotLoadedError(
        "The session of this streaming query runs without firesteel: "
        "call firesteel.check(spark), whose error names the cure."
    )


def version_mismatch(jar: str, package: str) -> VersionMismatchError:
    """Name both versions and the cure on each side."""
    return VersionMismatchError(
        f"The firesteel jar in Spark's JVM is {jar}, but this Python package is {package}: "
        f"install firesteel=={jar} here, or give Spark the jar of {package} and remove the other "
        "from its class path (spark.jars, --jars, Spark's jars folder)."
    )


def jar_of_another_spark(actual: str, built_for: str, jar: str) -> UnsupportedSparkError:
    """Name both versions and the jar that fits."""
    return UnsupportedSparkError(
        f"The firesteel jar in Spark's JVM was built for Spark {built_for}, but this session runs "
        f"on Spark {actual}: give Spark {jar}, and remove the other jar from its class path."
    )


def unsupported_spark(actual: str, supported: Sequence[str]) -> UnsupportedSparkError:
    """Name the version in use and those that work."""
    return UnsupportedSparkError(
        f"firesteel supports Spark {_either(supported)}, but this session runs on Spark {actual}: "
        f"use one of these (pip install 'pyspark=={supported[-1]}.*'), or remove {EXTENSION} "
        "from spark.sql.extensions."
    )


def unsupported_pyspark(actual: str, supported: Sequence[str]) -> UnsupportedSparkError:
    """Name the PySpark that is installed and those that work."""
    return UnsupportedSparkError(
        f"This package of firesteel supports PySpark {_either(supported)}, but PySpark {actual} is "
        f"installed here: pip install 'pyspark=={supported[-1]}.*'."
    )


def _either(versions: Sequence[str]) -> str:
    return f"{', '.join(versions[:-1])} or {versions[-1]}"


def streaming_on_connect() -> UnsupportedOnConnectError:
    """Name what a Connect client can do instead."""
    return UnsupportedOnConnectError(
        "A streaming query cannot be explained by firesteel over Spark Connect: call "
        "query.explain(), whose physical plan shows the operators that are really used, or run "
        "firesteel.explain(query) in the server's own process."
    )


def lookup_metrics_of_stream_on_connect() -> UnsupportedOnConnectError:
    """Name what a Connect client can do instead."""
    return UnsupportedOnConnectError(
        "Spark Connect does not give a client the metrics of a streaming query's plan: read them "
        "in the SQL tab of Spark's UI, or call firesteel.lookup_metrics(query) in the server's own "
        "process."
    )


def no_metrics_on_connect() -> UnsupportedOnConnectError:
    """Name the action that gives a Connect client its metrics."""
    return UnsupportedOnConnectError(
        "This DataFrame has no metrics yet: a Spark Connect client gets them with the rows. Run an "
        "action that collects rows, such as df.collect() or df.toPandas(), on this same DataFrame "
        "first."
    )


def bad_value(name: str, value: object, wanted: str) -> ValueError:
    """Name an argument, its value and the allowed values."""
    return ValueError(f"{name} = {value!r}: must be {wanted}")


def bad_duration(name: str, value: object) -> ValueError:
    """Name an argument that is not a length of time, and the allowed forms."""
    return ValueError(
        f"{name} = {value!r}: must be a time in whole milliseconds, as a timedelta, in seconds, or "
        "as text with a unit (ms, s, min, h, d) such as '10 s' or '5 min'"
    )


def dataframe_as_target() -> TypeError:
    """Name the calls that take the target and the DataFrame."""
    return TypeError(
        "apply_changes takes the target first, and its result takes the DataFrame: "
        "changes.writeStream.foreachBatch(firesteel.apply_changes(target, keys)), or in a function "
        "of your own firesteel.apply_changes(target, keys)(df, batch_id)"
    )


def not_a_batch(found: str) -> TypeError:
    """Name the type that was passed instead of a DataFrame."""
    return TypeError(
        f"apply_changes(target, keys) takes a DataFrame and a batch number, not a {found}: pass it "
        "to foreachBatch, which calls it so"
    )


def not_yet_a_batch() -> TypeError:
    """Name the call that writes a streaming DataFrame."""
    return TypeError(
        "A streaming DataFrame is applied micro-batch by micro-batch: "
        "changes.writeStream.foreachBatch(firesteel.apply_changes(target, keys)).start()"
    )


def not_a_batch_id(found: object) -> TypeError:
    """Name the value that is not a batch number."""
    return TypeError(
        f"batch_id must be the number that foreachBatch passes as the second argument, "
        f"not {found!r}: it identifies a repeated batch"
    )


def unnamed_on_connect() -> UnsupportedOnConnectError:
    """Name the argument that Spark Connect requires."""
    return UnsupportedOnConnectError(
        "On Spark Connect a batch does not have the id of its streaming query: name the query, as "
        "in firesteel.apply_changes(target, keys, query_id='trending'). Keep the name as long as "
        "the checkpoint."
    )


def not_a_dataframe(function: str, found: object) -> TypeError:
    """Name the function and the argument that is not a DataFrame."""
    return TypeError(f"{function} takes a DataFrame, not {found!r}")


def bad_names(argument: str, found: object) -> TypeError:
    """Name the argument that is neither a column name nor several."""
    return TypeError(f"{argument} must be a column name or a sequence of them, not {found!r}")


def no_names(argument: str) -> ValueError:
    """Name the argument that is empty."""
    return ValueError(f"{argument} must name at least one column")


def no_column(name: str, columns: Sequence[str]) -> ValueError:
    """Name a column that a micro-batch does not have, and those that it has."""
    return ValueError(f"The micro-batch has no column {name}: it has {', '.join(columns)}")


def unknown_kind(kind: object, column: str) -> ValueError:
    """Name a value that is no row kind."""
    return ValueError(f"{column} = {kind!r}: must be +I, -U, +U or -D")


def too_many_rows(most: int) -> ValueError:
    """Name the bound of a live table, and what shows more."""
    return ValueError(
        f"The result has more than {most:,} rows, which a live table does not keep: show a part of "
        "it, as with ORDER BY ... LIMIT, or keep it in a folder with firesteel.apply_changes."
    )


def live_table_on_connect() -> UnsupportedOnConnectError:
    """Name a way to see the rows of a query that runs on a server."""
    return UnsupportedOnConnectError(
        "A live table shows rows where the query runs, which over Spark Connect is the server: "
        "write them with firesteel.apply_changes and read that table, or use firesteel.watch."
    )


def not_text(argument: str, found: object) -> TypeError:
    """Name the argument that is not text."""
    return TypeError(f"{argument} must be text, not {found!r}")


def bad_schema(found: object) -> TypeError:
    """Name the argument that is not a schema."""
    return TypeError(f"schema must be a StructType or DDL text such as 'id INT', not {found!r}")


def not_a_session(found: object) -> TypeError:
    """Name the argument that is not a session."""
    return TypeError(f"spark = {found!r}: must be the SparkSession, classic or Connect")


def not_a_builder(found: object) -> TypeError:
    """Name the argument that is not a session builder."""
    return TypeError(
        f"builder = {found!r}: must be a session builder that has not created its session yet, as "
        "in firesteel.configure(SparkSession.builder).getOrCreate()"
    )
