"""Hypotheses are measured, too: where a named perturbation of the ledger is not zero, a hypothesis is not met.

Every hypothesis names the perturbations that quantify it (`Assumption.terms`). Where one of them is more than rounding on the run,
that hypothesis fails, whatever the configuration says: a law that is not the one its ledger is about leaves its trace there.

    rounding      |d| ≤ ROUNDING · (its terms before subtraction),  or  |d| below `power_floor` of the machine
    friction      takes power by right: only what it brings, d > 0, is a perturbation
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.contract.units import format_quantity as say
from workbench.verification.ledger.balance import Balance
from workbench.verification.scales import power_floor
from workbench.verification.verdict import Assumption

ROUNDING = 1e-12
PASSIVE = ("friction",)  # terms that may take power
NAMED = ("base ",)  # outer cuts whose power (99) names itself


def term(component: str, name: str) -> str:
    """One perturbation as hypotheses name it: "saturation of actuator 1"; without component that of all, "saturation"."""
    return f"{name} of {component}" if component else name


def floors(run, b: Balance) -> np.ndarray:
    """(N, K): the power of each entry below which everything is rounding, W."""
    return np.maximum(ROUNDING * b.weight, power_floor(run))


def excesses(run) -> dict[tuple[str, str], tuple[float, float]]:
    """(component, perturbation) → (its largest power, W; time, s), of those that are more than rounding; outer cuts too."""
    b = run.balance
    rounding = floors(run, b)
    sides = b.sides()
    found = {}
    given = dict(b.perturbations)
    given |= {key: value for key, value in b.flows.items() if len(sides[key[2]]) == 1}
    for (subsystem, component, name), values in given.items():
        size = values if name in PASSIVE else np.abs(values)
        limit = rounding[:, b.entries.index((subsystem, component))]
        beyond = np.where(size > limit, size, 0.0)
        k = int(np.argmax(np.nan_to_num(beyond, nan=0.0)))
        if beyond[k] > 0:
            found[component, name] = (float(beyond[k]), float(b.t[k]))
    return found


def measured(run, found: Sequence[Assumption]) -> list[Assumption]:
    """The hypotheses, failed where a perturbation of this run contradicts them; one more for a perturbation that none names."""
    judged = list(found)
    for (component, name), (power, t) in excesses(run).items():
        own = [
            i for i, a in enumerate(judged) if name in a.terms or term(component, name) in a.terms
        ]
        if any(judged[i].holds is False for i in own):
            continue
        words = f"{term(component, name)}: {say(power, 'W', 3)} at t = {t:.2f} s"
        if own:
            # What is not known is contradicted first; else the first that speaks of this term.
            first = min(own, key=lambda i: judged[i].holds is True)
            a = judged[first]
            worst = f"{a.worst}; {words}" if a.worst else words
            judged[first] = replace(a, holds=False, margin=-power, unit="W", worst=worst)
        else:
            judged.append(
                Assumption(
                    f"no {name} term in the ledger",
                    False,
                    -power,
                    "W",
                    words,
                    "(99)",
                    terms=(name,),
                )
            )
    return judged
