"""Numbers of runs that diverged: they overflow, and ±inf or nan is what they then are.

A run that diverged says so by its status. Whatever is read off its log is computed under `may_overflow()`, where it is computed,
so that nobody is warned of what is stated already.
"""

from __future__ import annotations

import numpy as np


def may_overflow() -> np.errstate:
    """Context, and decorator of a function, in which an overflow gives inf or nan without a warning."""
    return np.errstate(over="ignore", invalid="ignore")
