"""A plan driven by a controller on the machine itself, the energy metered at its pump, and where the difference comes from.

Metered is E = ∫ p_s Σ Q_s dt, what the valves take from the pump. A valve fills chamber a, b, or neither; v are the pistons' speeds
of the run, v_d, F_d speeds and forces of the reference, Q_d its oil, p(v, F) + Δp the plan's pressure, p_L what the pump feels:

    smoothing         energy of the reference, less that of the plan in steps
    friction          ∫ Q_d (p(v_d, F_d + f_f) − p(v_d, F_d)), f_f as it was in the run
    back pressure     ∫ Q_d (p_fill − p(v_d, F_d + f_f)), p_fill the highest pressure of the chambers that v_d fills: it holds
                      what the other chambers push back with, and inertia
    creeping          ∫ Q_d (p_L − p_fill): the pump feels a cylinder that the plan takes to sink or to rest
    valve margin      ∫ Q_d (p_s − p_L − Δp): lag of the pump, its highest pressure
    tracking error    ∫ p_s (Σ ±A v of the chambers filled − Q_d): other speeds, and valves open against the motion
    leakage           ∫ p_s Σ (q_i + q_e) out of the chambers filled
    compression       ∫ p_s Σ (V/β) ṗ of the chambers filled

At a constant supply what friction, back pressure and margin take is throttled anyway: those terms are left out.
Each term is an integral of its own; `Account.gap` is what they leave unexplained.

Source: [Nurmi17] Section 6.3 drives its paths in simulation; the terms are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from workbench.closed_loop import ClosedLoop
from workbench.errors import InputError
from workbench.planning.drive import driven, extension
from workbench.planning.dynamic import Plan, motion
from workbench.planning.supplies import ConstantPressure, LoadSensing
from workbench.planning.told import SupplyTold
from workbench.scenario import Scenario
from workbench.verification.claims import EnergyBalance, Pressures, Saturation, Settled, Tracking
from workbench.wrappers import Sampled

LOG = 5e-3  # s, between logged instants
SETTINGS = {"VDC": {"k_x": (6e-3, 6e-3, 2e-3)}}  # at 6 mm the slender extension chatters on its Coulomb friction, and wastes oil
TERMS = ("smoothing", "friction", "back pressure", "creeping", "valve margin", "tracking error", "leakage", "compression")


@final
@dataclass(frozen=True)
class Account:
    """J at the pump. planned: the plan's steps at efficiency one; metered: of the run; terms: cause → J, see the module."""

    planned: float
    metered: float
    terms: dict[str, float]

    @property
    def gap(self) -> float:
        """Metered less planned less all terms, as a part of metered."""
        return (self.metered - self.planned - sum(self.terms.values())) / self.metered


@final
@dataclass(frozen=True, eq=False)
class Drive:
    """A plan driven. study: `workbench.verification.judge.Study` with verdicts and log; error: (N,) of the tip, m."""

    plan: Plan
    law: str
    account: Account
    error: np.ndarray
    study: Any

    @property
    def log(self):
        """The run's log."""
        return self.study.log


def scenario(plan: Plan) -> Scenario:
    """The plan as reference, from rest where it begins."""
    task = plan.task
    check_machine(task.crane)
    q = task.crane.joints(task.tips[0], float(extension(plan, np.zeros(1))[0]))
    start = tuple(float(v) for v in task.crane.positions(q))
    try:
        task.crane.machine.check_pose(start, "the plan's start")
    except ValueError as why:
        raise InputError(str(why), key="limits", mend="give limits: {room: 10 mm}, so that the plan stays inside") from None
    return Scenario(reference=driven(plan), start=start, log_period=LOG)


def check_machine(crane: Any) -> None:
    """InputError unless the crane is that of a machine."""
    if not hasattr(crane, "positions"):
        raise InputError(f"{crane.name}: a crane reduced to three bodies is no machine that could be driven", key="crane",
                         mend="plan for crane: {machine: hiab-xs031}")


def check_task(task: Any) -> None:
    """InputError unless what is planned for the task could be driven: a machine, and room at the ends of its strokes."""
    check_machine(task.crane)
    if not task.room:
        raise InputError("a plan may go to the very ends of the strokes, a machine that is driven there runs into them",
                         key="limits.room", mend="give limits: {room: 10 mm}, or more for a law that tracks less well")


def loop(plant: Any, law: Any, T_s: float = 1e-3) -> ClosedLoop:
    """The law sampled on the plant; told the supply pressure where the plant's pump follows its load."""
    return ClosedLoop(plant, Sampled(SupplyTold(law) if follows(plant) else law, T_s))


def claims() -> tuple:
    """What is asked of every drive: the tip within 20 mm, pressures, valves off their limits, no cycling, energy."""
    return Tracking(error=20e-3, settle=1.0), Pressures(), Saturation(), Settled(), EnergyBalance()


def drive(plan: Plan, closed: ClosedLoop, asked: Sequence | None = None, name: str = "",
          tell: Callable = lambda fraction, what="": None) -> Drive:
    """Simulate, meter, explain, and check the claims `asked` (default: `claims()`). Raises InputError for other supplies."""
    from workbench.verification.judge import study

    check_supply(plan.task.supply, closed.plant)
    found = study(closed, scenario(plan), claims() if asked is None else asked, tell)
    log = found.log
    if not log.status.completed:
        raise InputError(f"{name or 'the law'}: the run ended early: {log.status.message}", mend="soften the gains")
    inside(closed.plant, log)
    tip = plan.task.path.sample(log.time, 0)[0]
    error = np.hypot(log.array("tcp_x") - tip[:, 0], log.array("tcp_y") - tip[:, 1])
    return Drive(plan, name, account(plan, closed.plant, log), error, found)


def inside(plant: Any, log: Any) -> None:
    """InputError where a piston leaves its cylinder: what the log says from there on means nothing."""
    for k, c in zip(plant.labels, plant.cylinders):
        x = log.array(f"x_{k}")
        if (out := np.flatnonzero((x < 0) | (x > c.stroke))).size:
            raise InputError(f"piston x_{k} runs into its end at {log.time[out[0]]:.4g} s", mend="plan with more room")


@final
@dataclass(frozen=True, eq=False)
class Drives:
    """Every planner's motion driven by one law. rows: (planner, Drive or None, why not); the optimum first."""

    law: str
    rows: tuple[tuple[str, Drive | None, str], ...]

    @property
    def done(self) -> list[tuple[str, Drive]]:
        """What was driven to its end."""
        return [(name, drive) for name, drive, _ in self.rows if drive is not None]


def drive_all(found: Any, plant: Any, law: Any, name: str, tell: Callable = lambda fraction, what="": None) -> Drives:
    """All motions of a Comparison on one plant; what cannot be driven is listed with its reason."""
    closed, rows = loop(plant, law), []
    top = plant.machine.p_s if follows(plant) else plant.p_s
    for i, row in enumerate(r for r in found.rows if r.plan is not None):
        told = lambda fraction, what="", i=i, who=row.name: tell((i + fraction) / len(found.rows), f"driving {who}")
        need = row.plan.signals["p"].max() if follows(plant) else 0.0
        try:
            if need > top:
                raise InputError(f"asks for {need / 1e5:.0f} bar, the pump gives {top / 1e5:.0f} bar")
            rows.append((row.name, drive(row.plan, closed, None, name, told), ""))
        except InputError as why:
            rows.append((row.name, None, why.message))
    return Drives(name, tuple(rows))


def follows(plant: Any) -> bool:
    """Whether the plant's pump follows its load."""
    return any(s.name == "p_L" for s in plant.monitors)


def check_supply(supply: Any, plant: Any) -> None:
    """InputError unless the plant has the supply that was planned for."""
    if not isinstance(supply, ConstantPressure | LoadSensing):
        raise InputError(f"a crane on {type(supply).__name__} cannot be driven here", key="supply",
                         mend="drive plans of LoadSensing or ConstantPressure")
    own = plant.margin if follows(plant) else plant.p_s
    if follows(plant) != isinstance(supply, LoadSensing) or own != (supply.margin if follows(plant) else supply.p_s):
        raise InputError("the machine has another supply than the plan", key="supply", mend="use on_supply(machine, supply)")


# ---- the terms ------------------------------------------------------------------------------------------------------
def account(plan: Plan, plant: Any, log: Any) -> Account:
    """Metered against planned, by the integrals of the module."""
    task = replace(plan.task, supply=plain(plan.task.supply))
    fine = replace(task, steps=len(log.time) - 1, order=1, Q_max=None, p_max=None)
    fine = replace(fine, supply=replace(fine.supply, creep=0.0)) if hasattr(fine.supply, "creep") else fine
    way = motion(fine, extension(plan, log.time))  # of the smooth reference, from one logged instant to the next
    mean = lambda values: (values[1:] + values[:-1]) / 2
    dt, Q_d = np.diff(log.time), way["Q"]
    p_s = mean(log.array("p_s")) if follows(plant) else np.full(len(dt), plant.p_s)
    moved, leaked, squeezed = (mean(values) for values in filled(plant, log))
    terms = {"smoothing": float((way["P"] * dt).sum()) - planned(plan)}
    if follows(plant):
        rubbed = fine.supply.pressure(way["v"].T, way["F"].T + mean_rows(log, "f_f", plant).T, task.step.areas)
        ports = np.max([np.where(v > 0, mean_of(log, f"p_a{k}"), np.where(v < 0, mean_of(log, f"p_b{k}"), plant.p_r))
                        for k, v in zip(plant.labels, way["v"].T)], axis=0)
        felt, Δp = mean(log.array("p_L")), fine.supply.margin
        steps = {"friction": rubbed - way["p"], "back pressure": ports + Δp - rubbed, "creeping": felt - ports,
                 "valve margin": p_s - felt - Δp}
        terms |= {name: float((Q_d * p * dt).sum()) for name, p in steps.items()}
    terms |= {"tracking error": float((p_s * (moved - Q_d) * dt).sum()), "leakage": float((p_s * leaked * dt).sum()),
              "compression": float((p_s * squeezed * dt).sum())}
    metered = float(log.array("E_supply")[-1] - log.array("E_supply")[0])
    return Account(planned(plan), metered, {name: terms[name] for name in TERMS if name in terms})


def planned(plan: Plan) -> float:
    """J at the pump in the plan's own steps, its motor's efficiency left out."""
    own = replace(plan.task, supply=plain(plan.task.supply))
    return float(motion(own, plan.q_3)["E"].sum())


def plain(supply):
    """The supply at efficiency one: what a meter at the pump sees."""
    return replace(supply, η=1.0, map=None)


def mean_of(log, name: str) -> np.ndarray:
    """(N−1,) mean of a logged signal from one instant to the next."""
    values = log.array(name)
    return (values[1:] + values[:-1]) / 2


def mean_rows(log, stem: str, plant) -> np.ndarray:
    """(N−1, n) of a signal of every cylinder."""
    return np.stack([mean_of(log, f"{stem}{k}") for k in plant.labels], axis=1)


def filled(plant, log) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N,) flow into the chambers the pump fills, m³/s: by the pistons' motion, lost by leakage, taken by compression."""
    moved, leaked, squeezed = (np.zeros(len(log.time)) for _ in range(3))
    for k, c in zip(plant.labels, plant.cylinders):
        p_a, p_b, Q_s, x = (log.array(f"{name}{k}") for name in ("p_a", "p_b", "Q_s", "x_"))
        v = log.array(f"dx_{k}")
        at = log.array(f"u_s_{k}") if c.valve.lag != "ideal" else np.clip(log.array(f"u_{k}"), -c.valve.u_max, c.valve.u_max)
        a, b = c.valve.opening(at) > 0, c.valve.opening(at) < 0
        q_i, q_ea, q_eb = c.leakage(p_a, p_b)
        move = np.where(a, c.A_a * v, np.where(b, -c.A_b * v, 0.0))
        leak = np.where(a, q_i + q_ea, np.where(b, q_eb - q_i, 0.0))
        moved, leaked = moved + move, leaked + leak
        V_a, V_b = c.volumes(x)
        rate = lambda p: np.gradient(p, log.time)
        squeezed = squeezed + np.where(a, V_a / plant.oil.stiffness(p_a) * rate(p_a),
                                       np.where(b, V_b / plant.oil.stiffness(p_b) * rate(p_b), 0.0))
    return moved, leaked, squeezed
