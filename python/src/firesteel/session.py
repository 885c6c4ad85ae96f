"""Puts the extension into a session, and makes sure that it is really there."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePath

from pyspark.sql import SparkSession

from firesteel import _errors, _jvm
from firesteel._errors import EXTENSION
from firesteel._supported_spark import SUPPORTED_SPARK, is_supported
from firesteel._version import __version__
from firesteel.errors import ExtensionNotLoadedError

_UNSEEN_SETTINGS = ("PYSPARK_SUBMIT_ARGS", "SPARK_HOME", "SPARK_CONF_DIR")
"""Variables through which a master may come that a builder does not know of."""


@dataclass(frozen=True)
class CheckResult:
    """What `check` found.

    Attributes:
        version: Version of the jar and of this package.
        spark_version: Version of Spark, on Connect that of the server.
        rooms: The rooms installed, such as ``rank``.
    """

    version: str
    spark_version: str
    rooms: tuple[str, ...]


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add the bundled jar and the extension to a session builder.

    Nothing is downloaded: the jar is the one inside this package, built from the same commit. Jars
    and extensions already named on the builder, or given to ``spark-submit``, are kept; those in
    ``spark-defaults.conf`` cannot be seen from here and must be named on the builder too. Calling
    it twice changes nothing.

    Call it before the first ``getOrCreate`` of the process, since Spark reads both settings only
    while its JVM and first session start. When a JVM without the jar or a session without the
    extension is already running, a warning says so; `check` raises with the cure. ``spark-submit``
    starts the JVM before Python, so that it must be given the jar itself, by ``--jars``. On a
    ``sc://`` builder nothing is changed: the extension belongs to the Connect server.

    Spark's Python workers run ``python3`` from the PATH unless told otherwise, which misses this
    environment's packages when it is not activated. For a ``local`` master ``PYSPARK_PYTHON`` is
    therefore set to this interpreter, unless it is set; never for a cluster, whose machines may
    not have it. Name the master on the builder when it is local and SPARK_HOME, SPARK_CONF_DIR or
    PYSPARK_SUBMIT_ARGS is set: these may name another.

    Args:
        builder: A builder whose session has not been created yet.

    Returns:
        The same builder, so that calls can be chained.

    Raises:
        FileNotFoundError: The package was installed without its jar.

    Source:
        Spark's ``spark.sql.extensions``, and Delta Lake's ``configure_spark_with_delta_pip``.

    Example:
        >>> spark = configure(SparkSession.builder.master("local[2]")).getOrCreate()
        >>> spark.conf.get("spark.firesteel.enabled")
        'true'
    """
    if _is_remote(builder):
        return builder
    jar = _jar()
    if not jar.is_file():
        raise FileNotFoundError(
            f"{jar} is missing: run `make setup` (or `build/sbt stageJar`), then try again; "
            "an installed wheel without it is broken: build it with `make wheel`"
        )
    _warn_if_too_late()
    if _is_local(builder):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    _append(builder, "spark.jars", str(jar))
    return _append(builder, "spark.sql.extensions", EXTENSION)


def check(spark: SparkSession) -> CheckResult:
    """Make sure that a session really has the extension, in this version, on a Spark it supports.

    Spark only logs a warning when it cannot load an extension, and goes on without it. This asks
    the engine itself, by SQL, so that it works on Spark Connect too.

    Args:
        spark: A running session, classic or Connect.

    Returns:
        The versions and the rooms installed.

    Raises:
        ExtensionNotLoadedError: The session runs without firesteel.
        VersionMismatchError: The jar that Spark loaded is not this package's.
        UnsupportedSparkError: The jar was not built for this version of Spark.

    Source:
        The table function ``firesteel_version()``, which any SQL client can call.

    Example:
        >>> "rank" in check(spark).rooms
        True
    """
    require_extension(spark)
    row = spark.sql("SELECT * FROM firesteel_version()").collect()[0]
    if row["version"] != __version__:
        raise _errors.version_mismatch(row["version"], __version__)
    if not is_supported(row["spark_version"], row["supported_spark"]):
        raise _errors.unsupported_spark(row["spark_version"], row["supported_spark"])
    return CheckResult(row["version"], row["spark_version"], tuple(row["rooms"]))


def require_extension(spark: SparkSession) -> None:
    """Make sure that a session has the extension, whatever its version.

    Args:
        spark: A running session, classic or Connect.

    Raises:
        ExtensionNotLoadedError: The session runs without firesteel.
        UnsupportedSparkError: It cannot have it, on this version of Spark.
    """
    # Asked before it is called: PySpark logs a whole stack trace for a query that fails.
    if spark.catalog.functionExists("firesteel_version"):
        return
    if not is_supported(spark.version, SUPPORTED_SPARK):
        raise _errors.unsupported_spark(spark.version, SUPPORTED_SPARK)
    raise _why_absent(spark)


def _why_absent(spark: SparkSession) -> ExtensionNotLoadedError:
    jar = str(_jar())
    if not isinstance(spark, SparkSession):  # Connect's session is a class of its own
        return _errors.not_on_server(jar)
    named = _names(spark.conf.get("spark.sql.extensions", ""))
    return _errors.not_on_class_path(jar) if EXTENSION in named else _errors.not_set(jar)


def _warn_if_too_late() -> None:
    running = SparkSession.getActiveSession()
    if _launched_by_spark_submit():
        _jvm.start()  # its JVM has been running since before Python
    if _jvm.lacks_jar():
        warnings.warn(
            "A JVM without firesteel's jar is already running in this process, and will not load "
            f"it any more: pass --jars {_jar()} to spark-submit, or restart Python and call "
            "firesteel.configure(builder) first.",
            stacklevel=3,
        )
    elif running and EXTENSION not in _names(running.conf.get("spark.sql.extensions", "")):
        warnings.warn(
            "A Spark session without firesteel is already running in this process, and will not "
            "load it any more: restart Python and call firesteel.configure(builder) first.",
            stacklevel=3,
        )


def _jar() -> Traversable:
    return files("firesteel") / "jars" / "firesteel.jar"


def _is_remote(builder: SparkSession.Builder) -> bool:
    remote = _on_builder(builder, "spark.remote") or os.environ.get("SPARK_REMOTE", "")
    return remote.startswith("sc://")


def _is_local(builder: SparkSession.Builder) -> bool:
    """Whether the workers surely run on this machine and were not arranged by `spark-submit`."""
    if _launched_by_spark_submit():
        return False
    named = _on_builder(builder, "spark.master") or _on_builder(builder, "spark.remote")
    if not named:
        if any(variable in os.environ for variable in _UNSEEN_SETTINGS):
            return False
        named = os.environ.get("SPARK_REMOTE") or os.environ.get("MASTER") or "local[*]"
    return named.startswith("local")


def _launched_by_spark_submit() -> bool:
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _append(builder: SparkSession.Builder, key: str, value: str) -> SparkSession.Builder:
    present = _on_builder(builder, key)
    if not present and _launched_by_spark_submit():
        present = _jvm.launched_with(key)  # the builder's value replaces it
    names = _names(present)
    # By the end of the path: spark-submit makes URIs of jars, and Spark ships one of a name alone.
    there = PurePath(value).name in (PurePath(name).name for name in names)
    return builder if there else builder.config(key, ",".join([*names, value]))


def _on_builder(builder: SparkSession.Builder, key: str) -> str | None:
    return builder._options.get(key)  # noqa: SLF001 - a builder has no getter


def _names(setting: str | None) -> list[str]:
    return [name.strip() for name in (setting or "").split(",") if name.strip()]
