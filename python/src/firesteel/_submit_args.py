"""Settings in ``PYSPARK_SUBMIT_ARGS``, with which PySpark starts the JVM of a Python program."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

_VARIABLE = "PYSPARK_SUBMIT_ARGS"
_CONF = ("--conf", "-c")
_JARS = "--jars"


def setting(key: str) -> str | None:
    """Return the value that spark-submit takes from the variable: ``--jars`` before a setting."""
    found = list(_values(_words(), key))
    named = [value for word, _, value in found if word == _JARS]
    return next(reversed(named or [value for _, _, value in found]), None)


def replace(key: str, value: str) -> None:
    """Write another value in all places of the variable that have one."""
    words = _words()
    for _, place, old in list(_values(words, key)):
        words[place] = words[place].removesuffix(old) + value
    os.environ[_VARIABLE] = shlex.join(words)


def _words() -> list[str]:
    return shlex.split(os.environ.get(_VARIABLE, ""))


def _values(words: list[str], key: str) -> Iterator[tuple[str, int, str]]:
    """Yield the option, the place of the word that ends in its value, and the value."""
    for i, word in enumerate(words):
        option, equals, written = word.partition("=")
        place = i if equals else i + 1  # `--jars=a.jar`, or two words
        if not equals:
            written = words[place] if place < len(words) else ""
        if option == _JARS and key == "spark.jars":
            yield option, place, written
        elif option in _CONF and written.partition("=")[0].strip() == key:
            yield option, place, written.partition("=")[2]
