"""What firesteel raises: each error says what is wrong and what to do about it."""

from __future__ import annotations


class FiresteelError(Exception):
    """Base of every error that this package raises itself.

    Errors of the engine arrive as PySpark's own exceptions, with a condition such as
    ``FIRESTEEL_UNKNOWN_SETTING``.

    Example:
        >>> issubclass(ExtensionNotLoadedError, FiresteelError)
        True
    """


class ExtensionNotLoadedError(FiresteelError):
    """The session runs without the extension: its queries are Spark's own."""


class VersionMismatchError(FiresteelError):
    """The jar on the JVM's class path is not the one that this package carries."""


class UnsupportedSparkError(FiresteelError, ImportError):
    """This version of Spark is not one that the jar was built for.

    An ``ImportError`` too, since ``import firesteel`` raises it on another PySpark.
    """


class UnsupportedOnConnectError(FiresteelError):
    """A Spark Connect client cannot do this: it has no access to the server's JVM."""


class InvalidConnectorError(FiresteelError, ValueError):
    """A lookup connector cannot be registered as it is."""
