"""Several runs of one loop at once: driver.c with a vector of runs in every number, and threads over blocks of lanes.

A run in a lane makes the operations of a run alone, in the same order, and gives the same numbers to the last bit. Runs in one
call share their grid and their length in samples at most; everything else (start, parameters, references) is each lane's own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.numerics.c_code import NUMBERS, address, own_text
from workbench.numerics.calculus import Traced
from workbench.numerics.compiler import library
from workbench.numerics.laned import laned, width
from workbench.numerics.native import Loop

ALIGNED = 64  # bytes: a vector of eight numbers begins on such an address
NOT_RUN = ("start", "measured")  # functions that driver.c has for one run alone


def aligned(*shape: int) -> np.ndarray:
    """An array of zeros that begins where a vector may."""
    size = int(np.prod(shape, dtype=int)) * 8
    room = np.zeros(size + ALIGNED, dtype=np.uint8)
    begin = -room.ctypes.data % ALIGNED
    return room[begin : begin + size].view(float).reshape(shape)


class Lanes:
    """`run` over samples for `width()` runs of one Traced system. `lib` is None where it cannot be compiled over lanes."""

    def __init__(self, alone: Loop) -> None:
        self.alone = alone
        self.count = width()
        self.lib = self._build()

    @property
    def traced(self) -> Traced:
        return self.alone.traced

    @property
    def row(self) -> int:
        """Numbers per logged sample of one run."""
        return self.alone.row

    def _build(self) -> Any:
        made = self.alone.text() if self.alone.lib is not None else None
        if made is None:
            return None
        functions, sizes = made
        text = laned([f for f in functions if f.name() not in NOT_RUN])
        if text is None:
            return None
        defines = {**sizes, "LANES": self.count, "casadi_int": "long long int"}
        head = "".join(f"#define {name} {value}\n" for name, value in defines.items())
        lib = library("\n".join([head, NUMBERS, text, own_text("driver.c")]))
        if lib is not None:
            p = ctypes.c_void_p
            l = ctypes.c_long
            d = ctypes.c_double
            lib.run_lanes.argtypes = [l, p, l, ctypes.c_int, d, l, d, l, d, p, p, p, p, p, p]
            lib.run_lanes.restype = None
            lib.distribute.argtypes = [p, p, l, p, p, l]
            lib.distribute.restype = None
        return lib

    def room(self, *shape: int) -> np.ndarray:
        """An array of this shape for every lane, the lanes side by side."""
        return aligned(*shape, self.count)

    def run(
        self,
        first: int,
        samples: np.ndarray,
        every: int,
        jumping: bool,
        segments: tuple[float, int, float, int, float],
        state: np.ndarray,
        W: np.ndarray,
        F: np.ndarray | None,
        c: np.ndarray,
        rows: np.ndarray,
    ) -> None:
        """See `run_lanes` of driver.c, whose T, n1, h1, n2, h2 are the segments of a sample.

        Arrays are those of `room`; `samples` (integers), `state` and `rows` are written.
        """
        arrays = map(address, (state, W, F, c, rows))
        self.lib.run_lanes(
            first, samples.ctypes.data, every, int(jumping), *segments, *arrays, None
        )

    def distribute(
        self, rows: np.ndarray, keep: Sequence[int], tables: Sequence[np.ndarray]
    ) -> None:
        """Rows of all lanes, as `run` makes them, into `tables`, one a lane, each with as many rows as it takes.

        Of every row the numbers at `keep` go into the first columns of a table. Tables stand row by row in memory and are equally
        wide; lanes beyond the last table are left out.
        """
        counts = np.zeros(self.count, dtype=np.int64)
        counts[: len(tables)] = [len(table) for table in tables]
        places = np.zeros(self.count, dtype=np.uint64)
        places[: len(tables)] = [table.ctypes.data for table in tables]
        kept = np.array(keep, dtype=np.int64)
        apart = tables[0].shape[1]
        arrays = (address(counts), len(kept), address(kept), address(places), apart)
        self.lib.distribute(address(rows), *arrays)
