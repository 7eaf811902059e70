"""A run of a predictive law as one of expressions, while none of its limits is active.

A law that solves a quadratic programme is called from Python, and has no text that could be enclosed. As long as none of its
limits is active it is a linear law, with a text (`HasUnconstrained`), and tells in its memory how far it is from any limit
(`conditions`). That this stays so over the whole tube is part of what is proved.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.contract.capabilities import HasUnconstrained
from workbench.contract.errors import InputError
from workbench.contract.plain import Plain
from workbench.contract.system import innermost, rewrapped
from workbench.contract.units import format_quantity as say
from workbench.verification.run import Run
from workbench.verification.run import run as made

SAME = 1e-6  # share of its range by which a state of the plant may differ, which is the solver's own error
ROUNDED = 1e-12  # share of its size by which one that stays may differ


def expressed(run: Run) -> Run:
    """The run of the law's expressions; the run itself where its law has nothing to solve.

    InputError where the law has none, where a limit is active along the run, or where the law does something else.
    """
    plain = innermost(run.loop.controller)
    if not isinstance(plain, Plain) or not isinstance(plain.law, HasUnconstrained):
        return run
    law = plain.law.unconstrained()
    loop: Any = replace(run.loop, controller=rewrapped(run.loop.controller, law))
    found = made(loop, run.scenario)
    for name in law.conditions:
        check_free(found, name)
    check_same(run, found)
    return found


def check_free(run: Run, name: str) -> None:
    """InputError where this condition of the law is not met along the run."""
    excess = run.log.array(name)
    k = int(np.argmax(excess > 0))
    if excess[k] > 0:
        raise InputError(
            f"at {say(run.log.time[k], 's')} a limit of the predictive law is active ({name} {excess[k]:.3g}): it solves a "
            "quadratic programme there, which has no expressions to enclose",
            mend="ask it of a run within the limits",
        )


def check_same(run: Run, other: Run) -> None:
    """InputError where the plant does not do the same in both runs."""
    n = len(run.loop.plant.states)
    rows = min(len(run.log.values), len(other.log.values))
    own = run.log.values[:rows, :n]
    range_of = np.ptp(own, axis=0) + ROUNDED / SAME * np.abs(own).max(axis=0)
    off = np.abs(own - other.log.values[:rows, :n]).max(axis=0)
    wrong = np.flatnonzero(off > SAME * range_of)
    if len(wrong):
        name = run.loop.plant.states[wrong[0]].name
        raise InputError(
            f"the predictive law does not give what its quadratic programme asks for: {name} is off by "
            f"{off[wrong[0]] / range_of[wrong[0]]:.1g} of its range"
        )
