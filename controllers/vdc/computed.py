"""What virtual decomposition control computes at one true state of its loop; the ledger compares it with the true values."""

from __future__ import annotations

from typing import Any, NamedTuple

from controllers.vdc.commands import steps
from controllers.vdc.forces import Forces
from plants.multibody import coordinates


class Computed(NamedTuple):
    """What the law computes at one true state: the fields of `controllers.vdc.part.Given`, each with an entry for every drive.

    steps: name of a perturbation → commands of all drives. asked: one line, or None, for all drives.
    """

    f_fr: list
    own_f_fr: list
    f_pr: list
    f_pr_rate: list
    own_f_cr: list
    ẑ: list
    ẑ_law: list
    ẑ_own: list
    ẑ_flow: list
    steps: dict
    u: Any
    asked: Any


class State(NamedTuple):
    """A state of a loop: t, x, its inputs w, and ẋ there."""

    loop: Any
    t: Any
    x: Any
    w: Any
    rates: Any


class Truth(NamedTuple):
    """The true machine at a state: `need`, what the law would require of the true bodies; `pulls`, the actuators at work; qdd, q̈;
    τ, the reference and its derivatives."""

    need: Any
    pulls: Any
    qdd: Any
    τ: Any


def computed_by(law: Forces, plant, served, state: State, truth: Truth) -> Computed:
    """What the law computes at a true state, for all drives. served: (part, drive of the plant) of every driven actuator."""
    need, pulls, qdd, τ = truth
    loop = state.loop
    parts = loop.parts(state.t, state.x, state.w)
    xp = plant.inner(parts[0], state.t)
    q, qd = plant.mechanism.pose_and_rates(xp)
    ẑ = law.observed(parts[1])
    ẑ_flow = law.observed(list(state.rates[len(loop.plant.states) :]))
    own = law.required(q, qd, τ)  # with the model's bodies
    f_fr, rubbed = law.rubbing(need, ẑ)
    own_f_fr, f_pr, ẑ_own = law.observing(own, ẑ)
    ẑ_law = law.flow(f_pr, ẑ, rubbed)
    f_pr_rate = [0.0] * len(f_pr)
    if law.needs_rate:
        f_pr_rate = law.force_rate(q, qd, qdd, τ, ẑ, ẑ_flow)
    driven = coordinates.driven(plant.mechanism)
    acting = [
        part.acting(drive, pulls[i].x, pulls[i].s) for (part, drive), i in zip(served, driven)
    ]
    return Computed(
        f_fr=f_fr,
        own_f_fr=own_f_fr,
        f_pr=f_pr,
        f_pr_rate=f_pr_rate,
        own_f_cr=own.f_c,
        ẑ=ẑ,
        ẑ_law=ẑ_law,
        ẑ_own=ẑ_own,
        ẑ_flow=ẑ_flow,
        steps=steps(law, plant, loop, state.t, parts, f_pr_rate),
        u=parts[-1],
        asked=law.asked(plant.mechanism, acting, need.xd, need.xd_r, ẑ, ẑ_law),
    )
