"""Sentences that nothing makes false, such as `always (abs(x) >= 0 m)` or `always (x < 5 mm or x > 4 mm)`.

Signals are given random values of every size, beside and between the numbers that the sentence names; half of the signals are
constant, half jump from instant to instant. A sentence that is true of all these draws asks nothing of a run. It is a search: a
sentence whose gap is narrower than the draws is taken for one that nothing makes false.

Signals that are given, such as references, keep the values that they have: `always (q_d < 1 rad or tool_error < 5 mm)` asks
nothing of a loop whose reference is never above 1 rad.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.sentence import Sentence
from workbench.verification.temporal.terms import constant

DRAWS = 200
SIZES = (-12.0, 15.0)  # decades of what is drawn
BESIDE = (-6.0, 0.0)  # decades of how far from a number of the sentence, as a share of it
NEVER_BELOW_ZERO = ("tool_error", "at_limit", "overshoot", "v")
INSTANTS = 101


def unbreakable(sentence: Sentence, length: float) -> bool:
    """Whether a sentence is true of signals of any size in a run of this length (s)."""
    time = np.linspace(0.0, max(length, sentence.until), INSTANTS)
    return true_of_all_beside(sentence, time, {})


def true_of_all_beside(
    sentence: Sentence, time: np.ndarray, given: Mapping[str, np.ndarray]
) -> bool:
    """Whether a sentence is true of signals of any size at these instants (N,), beside those that are given (N,)."""
    rng = np.random.default_rng(1)
    named = _numbers(sentence)
    free = [name for name in sentence.names if name not in given]
    for _ in range(DRAWS if free else 1):
        drawn = {name: _drawn(name, named, rng, time) for name in free}
        drawn |= given
        try:
            if sentence.on(time, drawn).holds is not True:
                return False
        except ValueError:  # no number there
            continue
    return True


def _numbers(sentence: Sentence) -> np.ndarray:
    """The numbers that signals are compared with, in SI."""
    sides = [side for c in S.comparisons(sentence.formula) for side in (c.left, c.right)]
    return np.array([n for n in map(constant, sides) if n is not None])


def _drawn(name: str, named: np.ndarray, rng, time: np.ndarray) -> np.ndarray:
    if name == "time":
        return time
    n = len(time) if rng.uniform() < 0.5 else 1
    sign = rng.choice((-1.0, 1.0), n)
    size = sign * 10 ** rng.uniform(*SIZES, n)
    value = size
    if len(named):
        beside = rng.choice(named, n) * (1 + sign * 10 ** rng.uniform(*BESIDE, n))
        between = rng.uniform(named.min(), named.max(), n)
        value = np.choose(rng.integers(3, size=n), [size, beside, between])
    value = np.abs(value) if name in NEVER_BELOW_ZERO else value
    return np.broadcast_to(value, time.shape).copy()
