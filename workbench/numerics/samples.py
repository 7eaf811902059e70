"""What a loop over samples is asked for: the arguments of `run` in driver.c and stiff.c, in their order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Samples(NamedTuple):
    """n samples from number `first` on, T s apart, each of n1 steps of h1 s and n2 steps of h2 s.

    every     0: a row at the beginning of every step; k: one at every k-th sample
    jumping   whether the law jumps at each sample
    state     states, then integrals of powers, at the first sample; those at the end are written there
    W, F      inputs at the samples; at the stages of all steps, None where they hold over a sample
    c         constants
    rows      of the log, written; None where none is kept

    Arrays are C-contiguous float64.
    """

    first: int
    n: int
    every: int
    jumping: bool
    T: float
    n1: int
    h1: float
    n2: int
    h2: float
    state: np.ndarray
    W: np.ndarray
    F: np.ndarray | None
    c: Any
    rows: np.ndarray | None
