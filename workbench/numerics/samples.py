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

    def stages(self, many: int) -> np.ndarray | None:
        """F as (sample, step, stage, input), where a step has so many stages."""
        if self.F is None:
            return None
        return np.asarray(self.F).reshape(self.n, self.n1 + self.n2, many, -1)

    def logged(self, done: int, stages: int) -> tuple[np.ndarray, np.ndarray]:
        """(instants, inputs) of the rows of the first `done` samples, in their order; a step has so many stages."""
        begin = (self.first + np.arange(done)) * self.T
        if self.every:
            kept = slice(-self.first % self.every, None, self.every)
            return begin[kept], self.W[:done][kept]
        early = begin[:, None] + np.arange(self.n1) * self.h1
        late = (begin + self.n1 * self.h1)[:, None] + np.arange(self.n2) * self.h2
        steps = self.n1 + self.n2
        w = np.repeat(self.W[:done, None], steps, axis=1)
        given = self.stages(stages)
        if given is not None:
            w[:, 1:] = given[:done, 1:, 0]
        return np.hstack([early, late]).ravel(), w.reshape(done * steps, self.W.shape[1])

    def step(self, s: int) -> tuple[float, float]:
        """(length of step s of a sample, how long after the sample it begins), s."""
        if s < self.n1:
            return self.h1, s * self.h1
        return self.h2, self.n1 * self.h1 + (s - self.n1) * self.h2

    def table(self, width: int) -> np.ndarray | None:
        """`rows` as a table of this width."""
        return None if self.rows is None else self.rows.reshape(-1, width)
