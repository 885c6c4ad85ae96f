"""The one error of the demo that is the caller's to mend."""

from __future__ import annotations


class DemoError(Exception):
    """Something on the command line does not fit the data; the message says what would."""
