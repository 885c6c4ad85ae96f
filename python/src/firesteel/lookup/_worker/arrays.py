"""Small steps on arrays that several parts share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def spread(starts: Ints, lengths: Ints) -> Ints:
    """Return all positions of the runs that begin at ``starts`` and have these lengths."""
    total = int(lengths.sum())
    if total == len(lengths) and (lengths == 1).all():
        return starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(total, dtype=np.int64)


def runs(lengths: Ints) -> Ints:
    """Return where each of some adjacent runs begins."""
    return np.cumsum(lengths) - lengths
