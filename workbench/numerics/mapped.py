"""A function of columns evaluated over many rows at once, as compiled code where there is a compiler (`native`).

Rows go side by side in the lanes of a vector (`lanes.h`), so that one operation serves as many rows as the processor has lanes.
A row gives the same numbers whichever rows stand beside it.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

import casadi as ca
import numpy as np

from workbench.numerics.c_code import MOST_OPERATIONS, NUMBERS, address, library_of, renamed
from workbench.numerics.compiler import library
from workbench.numerics.laned import laned, width

# A long function takes most of its time to compile, a short one to run; the numbers are the same.
# $FLUIDPROOF_OPTIMISE_LONG: -O0 compiles in a fifth of the time of -O1 and runs several times longer.
LONG = 2000  # instructions
QUICKLY = (os.environ.get("FLUIDPROOF_OPTIMISE_LONG", "-O1"),)

ALONE = """
long many(long n, const double **in, const long *stride, double *out, long apart, double *work) {
  const double *arg[N_IN + 1]; double *res[1];
  for (long k = 0; k < n; ++k) {
    for (int i = 0; i < N_IN; ++i) arg[i] = in[i] + k * stride[i];
    res[0] = out + k * apart;
    each(arg, res, 0, work, 0);
  }
  return n;
}
"""
BESIDE = """
long many(long n, const double **in, const long *stride, double *out, long apart, double *work) {
  static const int sizes[N_IN + 1] = SIZES;
  real given[ALL + 1], y[N_OUT + 1];
  const real *arg[N_IN + 1];
  real *res[1] = {y}, *at = given;
  (void)work;
  for (int i = 0; i < N_IN; at += sizes[i++]) arg[i] = at;
  for (long k = 0; k < n; k += LANES) {
    long rows = n - k < LANES ? n - k : LANES;
    at = given;
    for (int i = 0; i < N_IN; at += sizes[i++]) {
      if (k && !stride[i]) continue; /* shared by all rows */
      for (long l = 0; l < LANES; ++l) { /* lanes without a row repeat the last one */
        const double *row = in[i] + (k + (l < rows ? l : rows - 1)) * stride[i];
        for (int j = 0; j < sizes[i]; ++j) at[j][l] = row[j];
      }
    }
    each(arg, res, 0, 0, 0);
    for (long l = 0; l < rows; ++l)
      for (int j = 0; j < N_OUT; ++j) out[(k + l) * apart + j] = y[j][l];
  }
  return n;
}
"""


class Mapped:
    """A function of several column arguments evaluated over many rows at once, compiled where possible.

    f: ca.Function with vector inputs and one vector output. Call with arrays (N, n_i); an argument of shape (n_i,) is shared.
    """

    def __init__(self, f: ca.Function, compiled: bool | None = None) -> None:
        self.f = renamed(f, "each")
        self.n_out = f.size1_out(0)
        self.lib = None
        if compiled is not False and f.n_instructions() <= MOST_OPERATIONS:
            self.lib = self._in_lanes() or library_of([self.f], {"N_IN": f.n_in()}, ALONE)
        if self.lib is not None:
            number = ctypes.c_long
            place = ctypes.c_void_p
            self.lib.many.argtypes = [number, place, place, place, number, place]
            self.lib.many.restype = number

    def _in_lanes(self) -> Any:
        """The library that takes as many rows at once as there are lanes; None where an operation has no text over lanes."""
        text = laned([self.f])
        if text is None:
            return None
        sizes = [self.f.size1_in(i) for i in range(self.f.n_in())]
        defines = {
            "LANES": width(),
            "N_IN": len(sizes),
            "SIZES": "{" + ", ".join(map(str, sizes)) + "}",
            "ALL": sum(sizes),
            "N_OUT": self.n_out,
            "casadi_int": "long long int",
        }
        head = "".join(f"#define {name} {value}\n" for name, value in defines.items())
        further = QUICKLY if self.f.n_instructions() > LONG else ()
        return library("\n".join([head, NUMBERS, text, BESIDE]), further)

    def __call__(self, *arrays: Any, out: np.ndarray | None = None) -> np.ndarray:
        """The outputs (N, n_out); written to `out` where it is given, whose rows may be parts of longer ones."""
        whole = [_rows_whole(np.asarray(a, dtype=float)) for a in arrays]
        n = max((a.shape[0] for a in whole if a.ndim == 2), default=1)
        if out is None:
            out = np.empty((n, self.n_out))
        if not n:
            return out
        if self.lib is None:
            out[:] = self._interpreted(whole, n)
            return out
        places = [a.ctypes.data for a in whole]
        steps = [a.strides[0] // a.itemsize if a.ndim == 2 else 0 for a in whole]
        pointers = (ctypes.c_void_p * len(whole))(*places)
        strides = (ctypes.c_long * len(whole))(*steps)
        work = np.empty(self.f.sz_w() + 1)
        self.lib.many(
            n,
            ctypes.addressof(pointers),
            ctypes.addressof(strides),
            address(out),
            out.strides[0] // out.itemsize,
            address(work),
        )
        return out

    def _interpreted(self, whole: list[np.ndarray], n: int) -> np.ndarray:
        """The same in CasADi's virtual machine."""
        columns = [a.T if a.ndim == 2 else np.tile(a[:, None], (1, n)) for a in whole]
        return np.ascontiguousarray(np.array(self.f.map(n)(*columns)).T)


def _rows_whole(a: np.ndarray) -> np.ndarray:
    """The array with the numbers of every row side by side in memory."""
    if a.ndim == 2 and a.strides[1] == a.itemsize:
        return a
    return np.ascontiguousarray(a)
