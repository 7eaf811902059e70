"""How many steps one run of a verification may have: it repeats runs like it dozens of times, for hours where they are too many."""

from __future__ import annotations

from workbench.contract.errors import InputError
from workbench.contract.system import System
from workbench.run.grid import grid
from workbench.run.scenario import Scenario

MOST_STEPS = 20_000_000  # of the integrator, in one compiled run
MOST_SAMPLES = 2_000_000  # of one run
MOST_CALLED = 200_000  # of one run whose law is called from Python at every sample


class TooLong(InputError):
    """One run of a verification would have more steps than can be repeated."""


def check_length(loop: System, scenario: Scenario) -> None:
    """TooLong, with the number of samples and steps, where a verification cannot repeat runs of this length."""
    g = grid(loop, scenario)
    steps = g.n * (g.n1 + g.n2)
    most = MOST_CALLED if loop.hosted else MOST_SAMPLES
    if g.n <= most and steps <= MOST_STEPS:
        return
    by_samples = loop.period is not None and g.n > most
    raise TooLong(
        f"a run of {scenario.length():g} s has {g.n} samples and {steps} steps of the integrator; a verification makes "
        f"dozens of such runs, of at most {most} samples and {MOST_STEPS} steps each",
        key="sample_time" if by_samples else "max_step",
        mend=f"lengthen the {'sample time' if by_samples else 'steps (max_step)'}, shorten the run, or run it once with "
        "`workbench simulate`, which judges nothing",
    )
