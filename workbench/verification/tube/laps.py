"""Where laps begin: what deviations are held by there, in floats. Any will do; the checker decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.judge import Seen
from workbench.verification.tube.checker.section import constant
from workbench.verification.tube.lap import led, shaped
from workbench.verification.tube.posed import Posed

SHARE = 0.5  # share of the rate at which runs come closer: what the ball where laps begin keeps
MORE = 1.1  # times what enters the ball
LAP = 1.5  # times what a lap adds to the ball, for want of a smaller one
NOTHING = 1e-12  # share of what a state is along the run: a width that is none


def followed_by_constants(c: Tube, linear: np.ndarray) -> Tube:
    """With the segments along which laps follow what is constant."""
    first = int(c.after[-1])
    own = np.flatnonzero(constant(c) & (c.half > 0))
    if first < 0 or not len(own):
        return c
    at = np.searchsorted(c.section, own)
    c.segments[first, :, : len(own)] = led(linear[first:], at, constant(c)[c.section]) * c.half[own]
    return c


def balled(question: Posed, c: Tube, linear: np.ndarray, seen: Seen) -> Tube:
    """With coordinates of the ball where laps begin that suit what their samples were seen to add."""
    first = int(c.after[-1])
    if first < 0:
        return c
    added = seen.added[first:] + seen.defect[first:] + c.fresh[c.section]
    moves = ~constant(c)[c.section]
    both = np.ix_(moves, moves)
    R = np.eye(len(moves))
    least = NOTHING * question.scale[moves]
    R[both] = shaped(linear[first:, moves][:, :, moves], added[:, moves], SHARE, least)
    return replace(c, R=R, σ=1.0)


def ball(seen: Seen, σ: float) -> float:
    """A size of the ball where laps begin: what enters it, and several times what a lap adds."""
    added = seen.returns - seen.contracts * σ
    if seen.contracts >= 1:
        return np.inf
    if σ > 0 and max(seen.enters, seen.returns) <= σ:
        return σ
    return max(MORE * seen.enters, LAP * added / (1 - seen.contracts), σ, 1e-12)
