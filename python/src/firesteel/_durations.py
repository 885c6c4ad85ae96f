"""Lengths of time in the forms that users write."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TypeAlias

from firesteel._errors import bad_duration

Duration: TypeAlias = timedelta | float | str
"""A length of time: a timedelta, seconds, or text with a unit, such as ``10 s`` or ``5 min``."""

_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zµ]+)\s*")
_MILLIS = {
    unit: factor
    for factor, units in {
        1: "ms milli millis millisecond milliseconds",
        1_000: "s sec secs second seconds",
        60_000: "m min mins minute minutes",
        3_600_000: "h hour hours",
        86_400_000: "d day days",
    }.items()
    for unit in units.split()
}


def milliseconds(name: str, value: Duration) -> int:
    """Return a length of time in milliseconds.

    Args:
        name: The argument's name, for errors.
        value: The length of time: a timedelta, seconds, or text with a unit.

    Returns:
        Whole milliseconds, 0 or more.

    Raises:
        ValueError: The value is no length of time, is negative, or is not whole milliseconds.

    Example:
        >>> milliseconds("timeout", 1.5), milliseconds("timeout", "1 h 30 min")
        (1500, 5400000)
    """
    if isinstance(value, timedelta):
        millis = value / timedelta(milliseconds=1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        millis = value * 1000
    elif isinstance(value, str):
        millis = _from_text(name, value)
    else:
        raise bad_duration(name, value)
    # Floats: 0.1 s * 1000 need not be 100 exactly.
    if not 0 <= millis < 2**63 or abs(millis - round(millis)) > 1e-6:
        raise bad_duration(name, value)
    return round(millis)


def _from_text(name: str, text: str) -> float:
    rest = text.strip().lower()
    parts = _PART.findall(rest)
    if not parts or _PART.sub("", rest) or any(unit not in _MILLIS for _, unit in parts):
        raise bad_duration(name, text)
    return float(sum(float(number) * _MILLIS[unit] for number, unit in parts))
