"""Small functions on arrays that several modules share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def spread(starts: Ints, lengths: Ints) -> Ints:
    """Return all positions of runs with these starts and lengths."""
    total = int(lengths.sum())
    if total == len(lengths) and (lengths == 1).all():
        return starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(total, dtype=np.int64)


def runs(lengths: Ints) -> Ints:
    """Return the start of each of several adjacent runs."""
    return np.cumsum(lengths) - lengths
