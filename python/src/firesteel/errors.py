"""Errors that firesteel raises in Python. Each message names the cause and the cure."""

from __future__ import annotations


class FiresteelError(Exception):
    """The base class of the errors below.

    Errors of the engine are PySpark's own exceptions, with a condition such as
    ``FIRESTEEL_UNKNOWN_SETTING``. A wrong argument is a ``TypeError`` or ``ValueError``.

    Example:
        >>> issubclass(ExtensionNotLoadedError, FiresteelError)
        True
    """


class ExtensionNotLoadedError(FiresteelError):
    """The session runs without the extension, so Spark plans its queries alone."""


class VersionMismatchError(FiresteelError):
    """The jar on the JVM's class path has another version than this package."""


class UnsupportedSparkError(FiresteelError, ImportError):
    """The jar does not support this version of Spark.

    It is an ``ImportError`` too, because ``import firesteel`` raises it on another PySpark.
    """


class UnsupportedOnConnectError(FiresteelError):
    """A Spark Connect client cannot do this, because it cannot reach the server's JVM."""


class InvalidConnectorError(FiresteelError, ValueError):
    """A lookup connector lacks a member, has a wrong one, or cannot be pickled."""
