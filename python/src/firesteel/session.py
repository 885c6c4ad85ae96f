"""`configure` adds the extension to a session; `check` makes sure that the session has it."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePath

from pyspark.sql import SparkSession

from firesteel import _errors, _jvm, _submit_args
from firesteel._errors import EXTENSION
from firesteel._supported_spark import INSTALLED_SPARK, SUPPORTED_SPARK, is_supported, minor
from firesteel._version import __version__
from firesteel.errors import ExtensionNotLoadedError

_COMET = "org.apache.comet.CometSparkSessionExtensions"
_UNSEEN_SETTINGS = ("PYSPARK_SUBMIT_ARGS", "SPARK_HOME", "SPARK_CONF_DIR")
"""Variables that may name a master that the builder does not have."""


@dataclass(frozen=True)
class CheckResult:
    """The result of `check`.

    Attributes:
        version: The version of the jar and of this package.
        spark_version: The version of Spark; on Spark Connect, the server's.
        rooms: The names of the installed rooms, such as ``rank``.
    """

    version: str
    spark_version: str
    rooms: tuple[str, ...]


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add the package's jar and the extension to a session builder.

    Nothing is downloaded: the package has a jar for each minor version of Spark, and the installed
    PySpark decides. Jars and extensions that the builder or
    ``spark-submit`` already has are kept. ``spark-defaults.conf`` cannot be read here: name its
    jars and extensions on the builder too. A second call changes nothing.

    Call it before the first ``getOrCreate`` of the process. Spark reads both settings only when
    its JVM and its first session start. If a JVM without the jar or a session without the
    extension already runs, a warning says so, and `check` raises an error with the cure.
    ``spark-submit`` starts the JVM before Python, so pass it the jar by ``--jars``. On a ``sc://``
    builder nothing changes: the extension belongs to the Connect server.

    By default Spark's Python workers run the ``python3`` of the PATH. If this environment is not
    activated, that Python lacks its packages. For a ``local`` master the function therefore sets
    ``PYSPARK_PYTHON`` to this interpreter, unless it is set. It never does so for a cluster, whose
    machines may not have this interpreter. If the master is local and SPARK_HOME, SPARK_CONF_DIR
    or PYSPARK_SUBMIT_ARGS is set, name the master on the builder: these variables may name another
    master.

    Args:
        builder: A builder whose session does not exist yet.

    Returns:
        The same builder, so that calls can be chained.

    Raises:
        TypeError: ``builder`` is not a session builder.
        FileNotFoundError: The installed package has no jar.

    Source:
        Spark's ``spark.sql.extensions``, and Delta Lake's ``configure_spark_with_delta_pip``.

    Example:
        >>> spark = configure(SparkSession.builder.master("local[2]")).getOrCreate()
        >>> spark.conf.get("spark.firesteel.enabled")
        'true'
    """
    if not hasattr(builder, "_options") or not callable(getattr(builder, "getOrCreate", None)):
        raise _errors.not_a_builder(builder)
    if _is_remote(builder):
        return builder
    jar = _jar()
    if not jar.is_file():
        raise FileNotFoundError(
            f"{jar} is missing. In a clone of the repository, run `make setup "
            f"SPARK={INSTALLED_SPARK}` or `SPARK={INSTALLED_SPARK} build/sbt stageJar`. An "
            "installed package without it is broken: install firesteel again, from a wheel that "
            "`make wheel` has built."
        )
    _warn_if_too_late()
    if _is_local(builder):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    _append(builder, "spark.jars", str(jar))
    return _append(builder, "spark.sql.extensions", EXTENSION)


def check(spark: SparkSession) -> CheckResult:
    """Make sure that a session has the extension, in this version, on a supported Spark.

    Spark only logs a warning if it cannot load an extension, and continues without it. This
    function asks the engine by SQL, so it works on Spark Connect too.

    Args:
        spark: A running session, classic or Connect.

    Returns:
        The versions and the installed rooms.

    Raises:
        TypeError: ``spark`` is not a session.
        ExtensionNotLoadedError: The session runs without firesteel.
        VersionMismatchError: Spark has loaded the jar of another version.
        UnsupportedSparkError: The jar was built for another version of Spark.

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
    running = row["spark_version"]
    if not is_supported(running):
        raise _errors.unsupported_spark(running, SUPPORTED_SPARK)
    if minor(running) != row["supported_spark"]:
        fitting = str(_jar(minor(running)))
        raise _errors.jar_of_another_spark(running, row["supported_spark"], fitting)
    _warn_if_behind_comet(spark)
    return CheckResult(row["version"], running, tuple(row["rooms"]))


def require_extension(spark: SparkSession) -> None:
    """Make sure that a session has the extension, in any version.

    Args:
        spark: A running session, classic or Connect.

    Raises:
        TypeError: ``spark`` is not a session.
        ExtensionNotLoadedError: The session runs without firesteel.
        UnsupportedSparkError: No firesteel supports this version of Spark.
    """
    if not hasattr(spark, "catalog") or not callable(getattr(spark, "sql", None)):
        raise _errors.not_a_session(spark)
    # Checked before the call, because PySpark logs a stack trace for a query that fails.
    if spark.catalog.functionExists("firesteel_version"):
        return
    if not is_supported(spark.version):
        raise _errors.unsupported_spark(spark.version, SUPPORTED_SPARK)
    raise _why_absent(spark)


def _why_absent(spark: SparkSession) -> ExtensionNotLoadedError:
    jar = str(_jar(minor(spark.version)))  # on Connect the server's
    if not isinstance(spark, SparkSession):  # Spark Connect has another class of session
        return _errors.not_on_server(jar)
    named = _names(spark.conf.get("spark.sql.extensions", ""))
    return _errors.not_on_class_path(jar) if EXTENSION in named else _errors.not_set(jar)


def _warn_if_behind_comet(spark: SparkSession) -> None:
    """DataFusion Comet's rules take shuffles that ours would have left out, if they run first."""
    named = _names(spark.conf.get("spark.sql.extensions", ""))
    if _COMET in named and EXTENSION in named[named.index(_COMET) :]:
        warnings.warn(
            f"spark.sql.extensions names {_COMET} before {EXTENSION}, so that shuffles which "
            f"firesteel could leave out stay: name {EXTENSION} first.",
            stacklevel=3,
        )


def _warn_if_too_late() -> None:
    running = SparkSession.getActiveSession()
    if _launched_by_spark_submit():
        _jvm.start()  # its JVM has been running since before Python
    if _jvm.lacks_jar():
        warnings.warn(
            "A JVM without firesteel's jar already runs in this process and will not load it: pass "
            f"--jars {_jar()} to spark-submit, or restart Python and call "
            "firesteel.configure(builder) first.",
            stacklevel=3,
        )
    elif running and EXTENSION not in _names(running.conf.get("spark.sql.extensions", "")):
        warnings.warn(
            "A Spark session without firesteel already runs in this process and will not load it: "
            "restart Python and call firesteel.configure(builder) first.",
            stacklevel=3,
        )


def _jar(spark: str = INSTALLED_SPARK) -> Traversable:
    """Return the jar that is built for a minor version of Spark."""
    return files("firesteel") / "jars" / f"firesteel-{spark}.jar"


def _is_remote(builder: SparkSession.Builder) -> bool:
    remote = _on_builder(builder, "spark.remote") or os.environ.get("SPARK_REMOTE", "")
    return remote.startswith("sc://")


def _is_local(builder: SparkSession.Builder) -> bool:
    """Whether the workers run on this machine for sure, and `spark-submit` did not start them."""
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
    launched = _launched_by_spark_submit()
    submitted = _jvm.launched_with(key) if launched else _submit_args.setting(key)
    if key == "spark.jars" and submitted and not launched:
        # The driver's class path has these jars, and not the builder's.
        _submit_args.replace(key, ",".join(_with(_names(submitted), value)))
    # A value of the builder replaces a submitted one.
    names = _names(_on_builder(builder, key) or submitted)
    all_names = _with(names, value)
    return builder if names == all_names else builder.config(key, ",".join(all_names))


def _with(names: list[str], value: str) -> list[str]:
    """Compare file names: spark-submit makes URIs of jars, and Spark ships one jar of a name."""
    there = PurePath(value).name in (PurePath(name).name for name in names)
    return names if there else [*names, value]


def _on_builder(builder: SparkSession.Builder, key: str) -> str | None:
    return builder._options.get(key)  # noqa: SLF001 - a builder has no getter


def _names(setting: str | None) -> list[str]:
    return [name.strip() for name in (setting or "").split(",") if name.strip()]
