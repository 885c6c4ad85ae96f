"""Translates arguments of Python to Flink's option names and text."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeAlias

from firesteel._durations import Duration, milliseconds
from firesteel._errors import bad_duration, bad_value
from firesteel.lookup import _errors as errors

Value: TypeAlias = Duration | bool | None

_PARTIAL = "lookup.partial-cache."
_FULL = "lookup.full-cache."

NAMES = {
    "cache": "lookup.cache",
    "batch_size": "lookup.batch-size",
    "max_rows": f"{_PARTIAL}max-rows",
    "expire_after_write": f"{_PARTIAL}expire-after-write",
    "expire_after_access": f"{_PARTIAL}expire-after-access",
    "cache_missing_key": f"{_PARTIAL}cache-missing-key",
    "reload_strategy": f"{_FULL}reload-strategy",
    "reload_interval": f"{_FULL}periodic-reload.interval",
    "reload_schedule_mode": f"{_FULL}periodic-reload.schedule-mode",
    "reload_iso_time": f"{_FULL}timed-reload.iso-time",
    "reload_interval_in_days": f"{_FULL}timed-reload.interval-in-days",
    "async_": "async",
    "shuffle": "shuffle",
    "output_mode": "output-mode",
    "capacity": "capacity",
    "timeout": "timeout",
    "retry_predicate": "retry-predicate",
    "retry_strategy": "retry-strategy",
    "fixed_delay": "fixed-delay",
    "max_attempts": "max-attempts",
}
"""Flink's option name by argument name."""

OF_A_CONNECTOR = tuple(
    name for name in NAMES.values() if name.startswith("lookup.") and not name.startswith(_FULL)
)
"""The options of a registration. The others belong to a single join, or to a table read whole."""

_DURATIONS = {"expire_after_write", "expire_after_access", "reload_interval", "timeout"}
_DURATIONS_FROM_ZERO = {"fixed_delay"}
_COUNTS = {"batch_size", "max_rows", "reload_interval_in_days", "capacity", "max_attempts"}
_BOOLEANS = {"cache_missing_key", "async_", "shuffle"}


def flink_options(arguments: Mapping[str, Value]) -> dict[str, str]:
    """Translate arguments to Flink's names and text.

    Args:
        arguments: Values by the names in `NAMES`.

    Returns:
        Text by Flink's name, without the arguments that are None.

    Raises:
        ValueError: A value is not allowed.

    Example:
        >>> flink_options({"cache": "partial", "max_rows": 10, "timeout": "5 s", "shuffle": True})
        {'lookup.cache': 'PARTIAL', 'lookup.partial-cache.max-rows': '10', 'timeout': '5000 ms',
         'shuffle': 'true'}
    """
    return {
        NAMES[name]: _written(name, value) for name, value in arguments.items() if value is not None
    }


def _written(name: str, value: Duration | bool) -> str:
    if name in _BOOLEANS:
        if not isinstance(value, bool):
            raise bad_value(name, value, "True or False")
        return str(value).lower()
    if name in _COUNTS:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise bad_value(name, value, "a positive whole number")
        return str(value)
    if name in _DURATIONS | _DURATIONS_FROM_ZERO:
        millis = milliseconds(name, value)
        if not millis and name in _DURATIONS:
            raise bad_duration(name, value)
        return f"{millis} ms"
    if not isinstance(value, str):
        raise bad_value(name, value, "text")
    return value.upper() if name == "cache" else value


def connector_options(written: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Check the options of a registration.

    Args:
        written: Text by Flink's name, from arguments.
        more: The argument ``options``, by Flink's name. It overrides ``written``.

    Returns:
        Both together.

    Raises:
        ValueError: An option is unknown, a value is not text, or a PARTIAL cache has no bound.
    """
    if not isinstance(more, Mapping):
        raise bad_value("options", more, "a mapping such as {'lookup.batch-size': '500'}")
    for name, value in more.items():
        if name not in OF_A_CONNECTOR:
            near = get_close_matches(str(name), OF_A_CONNECTOR, n=3)
            raise errors.unknown_option(name, near or OF_A_CONNECTOR)
        if not isinstance(value, str):
            raise bad_value(name, value, f"text, such as '{str(value).lower()}'")
    options = {**written, **more}
    cache = options.get(NAMES["cache"], "NONE").upper()
    if cache not in ("NONE", "PARTIAL"):
        raise errors.full_cache() if cache == "FULL" else errors.unknown_cache(cache)
    bounds = ("max_rows", "expire_after_write", "expire_after_access")
    if cache == "PARTIAL" and not any(NAMES[name] in options for name in bounds):
        raise errors.unbounded_cache()
    if cache == "NONE" and (useless := [name for name in options if name.startswith(_PARTIAL)]):
        raise errors.cache_option_without_cache(useless)
    return options
