"""Metered against planned energy of a plan that was driven, by named terms.

Metered is E = ∫ Σ p_s Q_s dt, what the valves take from the pump, p_s of each cylinder's line. A valve fills chamber a, b, or
neither; v are the pistons' speeds of the run, v_d, F_d speeds and forces of the reference, Q_d its oil. Σ p̂ Q_d is what the supply
would give for it, p̂ the pressure it chooses for what the cylinders need (for load sensing their highest plus a margin, for two
lines the lower that is enough): p̂(v, F) for forces F, p̂(p) for pressures p of the chambers:

    smoothing         energy of the reference, less that of the plan in steps
    friction          ∫ Σ Q_d (p̂(v_d, F_d + f_f) − p̂(v_d, F_d)), f_f as it was in the run
    back pressure     ∫ Σ Q_d (p̂(p_fill) − p̂(v_d, F_d + f_f)), p_fill the pressure of the chamber that v_d fills: it holds what the
                      other chamber pushes back with, and inertia
    creeping          ∫ Σ Q_d (p̂(p_L) − p̂(p_fill)): the pump feels a cylinder that the plan takes to sink or to rest
    valve margin      ∫ Σ Q_d (p_s − p̂(p_L)): lag of the pump, its highest pressure
    tracking error    ∫ Σ p_s (±A v of the chamber filled − Q_d): other speeds, and valves open against the motion
    leakage           ∫ Σ p_s (q_i + q_e) out of the chambers filled
    compression       ∫ Σ p_s (V/β) ṗ of the chambers filled

At a constant supply what friction, back pressure and margin take is throttled anyway: those terms are left out.
Each term is an integral of its own; `Account.gap` is what they leave unexplained.

Source: [Nurmi17] Section 6.3 drives its paths in simulation; the terms are ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from workbench.contract.capabilities import OnSupply
from workbench.planning.drive import extension
from workbench.planning.dynamic import Plan, motion
from workbench.planning.pressures import _drawn, flows
from workbench.planning.supplies import PlannedConstantPressure

TERMS = (
    "smoothing",
    "friction",
    "back pressure",
    "creeping",
    "valve margin",
    "tracking error",
    "leakage",
    "compression",
)


@final
@dataclass(frozen=True)
class Account:
    """J at the pump. planned: the plan's steps at efficiency one; metered: of the run; terms: cause → J, see the module; motor: J
    drawn by the pumps' motors in the run, with the supply's efficiency."""

    planned: float
    metered: float
    terms: dict[str, float]
    motor: float | None = None

    @property
    def gap(self) -> float:
        """Metered less planned less all terms, as a part of metered."""
        return (self.metered - self.planned - sum(self.terms.values())) / self.metered


def follows(plant: Any) -> bool:
    """Whether the plant's supply pressures are states (see `plants.crane.on_pump`)."""
    return isinstance(plant, OnSupply)


def account(plan: Plan, plant: Any, log: Any) -> Account:
    """Metered against planned, by the integrals of the module."""
    task = replace(plan.task, supply=plain(plan.task.supply))
    dt = np.diff(log.time)
    fine = replace(task, steps=len(dt), order=1, Q_max=None, p_max=None, supply=awake(task.supply))
    # Of the smooth reference, from one logged instant to the next.
    way = motion(fine, extension(plan, log.time))
    total = lambda power: float((power * dt).sum())
    p_s = lines(plant, log)
    Q_d = np.stack(flows(way["v"].T, task.step.areas), axis=1)
    moved, leaked, squeezed = (between(values) for values in filled(plant, log))
    E = planned(plan)
    found = {"smoothing": total(way["P"]) - E}
    if follows(plant):
        levels = felt(plant, log, fine, way)
        given = [way["P"], *levels, (p_s * Q_d).sum(axis=1)]
        names = ("friction", "back pressure", "creeping", "valve margin")
        found |= {name: total(b - a) for name, a, b in zip(names, given[:-1], given[1:])}
    of = lambda Q: total((p_s * Q).sum(axis=1))
    found |= {"tracking error": of(moved - Q_d), "leakage": of(leaked), "compression": of(squeezed)}
    metered = float(log.array("E_supply")[-1] - log.array("E_supply")[0])
    return Account(
        E,
        metered,
        {name: found[name] for name in TERMS if name in found},
        motor(plan.task.supply, plant, log),
    )


def felt(plant, log, fine, way) -> list[np.ndarray]:
    """(N−1,) W the supply would give for the reference's oil: with friction; at the chambers' pressures; at what the pump feels."""
    v = way["v"].T
    areas = fine.step.areas
    supply = fine.supply
    ports = [
        np.where(s > 0, mean_of(log, f"p_a{k}"), mean_of(log, f"p_b{k}"))
        for k, s in zip(plant.labels, v)
    ]
    open_ = [mean_of(log, f"p_L{line}") for line in plant.lines]
    Q = flows(v, areas)
    return [
        supply.power(v, way["F"].T + mean_rows(log, "f_f", plant).T, areas),
        supply.drawn([np.where(s == 0, plant.p_r, p) for s, p in zip(v, ports)], Q),
        supply.drawn(open_, Q),
    ]


def lines(plant, log) -> np.ndarray:
    """(N−1, n) supply pressure of every cylinder, mean from one logged instant to the next."""
    n = len(plant.labels)
    if not follows(plant):
        return np.full((len(log.time) - 1, n), plant.p_s)
    found = np.stack([mean_of(log, name) for name in plant.supply_names], axis=1)
    return found if found.shape[1] == n else np.repeat(found, n, axis=1)


def planned(plan: Plan) -> float:
    """J at the pump in the plan's own steps, its motor's efficiency left out."""
    own = replace(plan.task, supply=plain(plan.task.supply))
    return float(motion(own, plan.q_3)["E"].sum())


def motor(supply, plant, log) -> float:
    """J the pumps' motors draw in the run, where the supply has an efficiency."""
    p = lines(plant, log)
    Q = np.maximum(mean_rows(log, "Q_s", plant), 0.0)
    if isinstance(supply, PlannedConstantPressure) or len(plant.lines) == 1:  # one pump for all
        p = p[:, :1]
        Q = Q.sum(axis=1, keepdims=True)
    return float((_drawn(supply, p, Q).sum(axis=1) * np.diff(log.time)).sum())


def plain(supply):
    """The supply at efficiency one: what a meter at the pump sees."""
    return replace(supply, η=1.0, map=None)


def awake(supply):
    """The supply without creeping: a meter knows no threshold."""
    return replace(supply, creep=0.0) if supply.creep else supply


# ---- off the log ----------------------------------------------------------------------------------------------------
def between(values: np.ndarray) -> np.ndarray:
    """Mean from one instant to the next, along the first axis."""
    return (values[1:] + values[:-1]) / 2


def mean_of(log, name: str) -> np.ndarray:
    """(N−1,) mean of a logged signal from one instant to the next."""
    return between(log.array(name))


def mean_rows(log, stem: str, plant) -> np.ndarray:
    """(N−1, n) of a signal of every cylinder."""
    return np.stack([mean_of(log, f"{stem}{k}") for k in plant.labels], axis=1)


def filled(plant, log) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N, n) flow into the chamber the pump fills, m³/s: by the piston's motion, lost by leakage, taken by compression."""
    rows = []
    for k, c in zip(plant.labels, plant.cylinders):
        p_a, p_b, x, v = (log.array(f"{name}{k}") for name in ("p_a", "p_b", "x_", "dx_"))
        at = (
            log.array(f"u_s_{k}")
            if c.valve.lag != "ideal"
            else np.clip(log.array(f"u_{k}"), -c.valve.u_max, c.valve.u_max)
        )
        a = c.valve.opening(at) > 0
        b = c.valve.opening(at) < 0
        either = lambda in_a, in_b, a=a, b=b: np.where(a, in_a, np.where(b, in_b, 0.0))
        q_i, q_ea, q_eb = c.leakage(p_a, p_b)
        V_a, V_b = c.volumes(x)
        B_a, B_b = c.moduli(plant.oil, x, p_a, p_b)
        rate = lambda p: np.gradient(p, log.time)
        rows.append(
            (
                either(c.A_a * v, -c.A_b * v),
                either(q_i + q_ea, q_eb - q_i),
                either(
                    V_a / B_a * rate(p_a),
                    V_b / B_b * rate(p_b),
                ),
            )
        )
    return tuple(np.stack(columns, axis=1) for columns in zip(*rows))
