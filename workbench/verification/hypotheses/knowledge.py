"""Hypotheses about what the controller knows: the plant's parameters, the base's motion, the reference, forces at the tip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.contract.capabilities import OnSupply
from workbench.contract.parameters import digest
from workbench.verification.hypotheses.valves import unlagged
from workbench.verification.verdict import Assumption


def reference(run):
    """q_d ∈ C² with bounded jerk; where the jerk jumps, ḟ_pr does too."""
    own = run.demand.reference
    if own is None:
        return
    times, jumps = own.jerk_jumps()
    n = len(times)
    yield Assumption(
        "reference in C² with bounded jerk",
        True,
        None,
        "",
        f"jerk jumps at {n} instants, where ḟ_pr is discontinuous" if n else "no jerk jumps",
        "(90)",
    )


def knowledge(run, law):
    """Controller's model = plant, and what the law takes for granted."""
    yield from told(run, law, {"pose": None, "pressures": None, "name": ""})
    yield unlagged([cylinder.valve for cylinder in run.loop.plant.cylinders])
    moving = any(
        n.startswith(("V_b", "ω_b", "A_b", "α_b", "g_")) for n in run.scenario.disturbances
    )
    yield Assumption(
        "base at rest, or its motion known",
        not moving,
        None,
        "",
        "the law takes the base to be at rest" if moving else "",
        "V_r = V at B_c1",
        terms=("base B_c1", "model"),
    )
    yield wrench(run)


def wrench(run) -> Assumption:
    """No force on the tip that the law does not know."""
    tip = any(n.startswith(("f_D", "m_D")) for n in run.scenario.disturbances)
    return Assumption(
        "no unmodelled tip wrench",
        not tip,
        None,
        "",
        "its power enters as −p_D" if tip else "",
        "Definition 4",
        terms=tips(run),
    )


def tips(run) -> tuple[str, ...]:
    """Outer cuts at a tip."""
    return tuple(cut for cut in run.balance.cuts() if cut.split(" ")[0] == "tip")


def told(run, law, aside):
    """Controller's model = plant, and ḟ_pr exact."""
    yield known(run, law, aside)
    yield Assumption(
        "ḟ_pr exact along the true motion",
        True,
        None,
        "",
        f"formed as {law.derivative!r}",
        "(90)",
        terms=("derivative",),
    )


def known(run, law, aside) -> Assumption:
    """Controller's model = plant; where it starts, `aside`, is no matter."""
    plant = run.loop.plant
    if isinstance(plant, OnSupply):  # the machine on a pump, whose pressure the law is told
        plant, aside = plant.machine, aside | {"p_s": plant.machine.p_s}
    blank = lambda p: digest(replace(p, **aside)) if p.__class__ is plant.__class__ else ""
    same = blank(law.model) == blank(plant)
    d = np.abs(
        sum(
            (
                v
                for (_, _, name), v in run.balance.perturbations.items()
                if name in ("model", "parameters")
            ),
            np.zeros(1),
        )
    )
    return Assumption(
        "the controller's model is the plant",
        same,
        None if same else -float(d.max()),
        "W",
        "" if same else f"model and parameter terms up to {d.max():.3g} W",
        "[Petrovic22] known parameters",
        terms=("parameters", "model"),
    )
