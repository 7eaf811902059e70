"""Compilation of the kernels by Numba, cached on disk by the text of all of them.

Numba's own cache looks at the time stamp of one file only, and would keep what it has inlined from another that has changed since.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numba

_FOLDER = Path(__file__).parent
_STAMP = hashlib.sha256(b"".join(f.read_bytes() for f in sorted(_FOLDER.glob("*.py")))).hexdigest()[:12]


def jit(function):
    """`function` compiled: IEEE division, no interpreter lock held; not cached where no folder can be written."""
    function.__qualname__ = f"{function.__qualname__}_{_STAMP}"
    try:
        return numba.njit(cache=True, error_model="numpy", nogil=True)(function)
    except RuntimeError:  # no place for a cache
        return numba.njit(error_model="numpy", nogil=True)(function)
