"""A plan driven by a controller on the machine itself: its energy (`workbench.planning.account`), and claims during the motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from workbench.contract.capabilities import Drivable
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.wrappers import Sampled
from workbench.planning.account import Account, account, follows
from workbench.planning.drive import driven, extension
from workbench.planning.dynamic import Plan
from workbench.planning.measured_supply import OnMeasuredSupply
from workbench.planning.supplies import PlannedConstantPressure
from workbench.run.scenario import Scenario
from workbench.verification.claims import (
    Hypotheses,
    Identity,
    Inequality,
    PowerFlows,
    PracticalStability,
)
from workbench.verification.ledger.balance import has_ledger
from workbench.verification.run_claims import (
    EnergyBalance,
    Pressures,
    Saturation,
    Settled,
    Tracking,
)

LOG = 5e-3  # s, between logged instants
# Gains that settle on every supply. At k_x = 6 mm or βk_f = 60 1/s the slender extension chatters on its Coulomb friction against
# its valve's 30 Hz, and wastes oil; at βk_f = 120 1/s the others outrun a pump of 20 ms: where they turn back they chatter between
# two supply pressures.
SETTINGS = {"VDC": {"k_x": (6e-3, 6e-3, 2e-3), "βk_f": (60.0, 60.0, 30.0)}}


@final
@dataclass(frozen=True, eq=False)
class Drive:
    """A plan driven. examination: `workbench.verification.judge.Examination` with verdicts and log; error: (N,) of the tip, m."""

    plan: Plan
    law: str
    account: Account
    error: np.ndarray
    examination: Any

    @property
    def log(self):
        """The run's log."""
        return self.examination.log


def scenario(plan: Plan) -> Scenario:
    """The plan as reference, from rest where it begins."""
    task = plan.task
    check_machine(task.crane)
    q = task.crane.joints(task.tips[0], float(extension(plan, np.zeros(1))[0]))
    start = tuple(float(v) for v in task.crane.positions(q))
    try:
        task.crane.machine.check_pose(start, "the plan's start")
    except ValueError as why:
        raise InputError(
            str(why), key="limits", mend="give limits: {room: 10 mm}, so that the plan stays inside"
        ) from None
    return Scenario(reference=driven(plan), start=start, log_period=LOG)


def check_machine(crane: Any) -> None:
    """InputError unless the crane is that of a machine."""
    if not isinstance(crane, Drivable):
        raise InputError(
            f"{crane.name}: a crane reduced to three bodies is no machine that could be driven",
            key="crane",
            mend="plan for crane: {machine: hiab-xs031}",
        )


def check_task(task: Any) -> None:
    """InputError unless what is planned for the task could be driven: a machine, and room at the ends of its strokes."""
    check_machine(task.crane)
    if not task.room:
        raise InputError(
            "a plan may go to the very ends of the strokes, a machine that is driven there runs into them",
            key="limits.room",
            mend="give limits: {room: 10 mm}, or more for a law that tracks less well",
        )


def loop(plant: Any, law: Any, T_s: float = 1e-3) -> ClosedLoop:
    """The law sampled on the plant; told the supply pressures where the plant's pump sets them."""
    if not follows(plant):
        return ClosedLoop(plant, Sampled(law, T_s))
    told = OnMeasuredSupply(law, plant.supply_names)
    return ClosedLoop(
        plant, Sampled(replace(told, floor=min(told.floor, max(plant.margin, 1e4))), T_s)
    )


def claims(closed: ClosedLoop | None = None, practical: bool = False) -> tuple:
    """What is asked of every drive: the tip within 20 mm, pressures, valves off their limits, no cycling, energy; of a law with a
    certificate its balance, and for information hypotheses and (99). practical: its bound from other starts, too."""
    asked = Tracking(error=20e-3, settle=1.0), Pressures(), Saturation(), Settled(), EnergyBalance()
    if closed is None or not has_ledger(closed):
        return asked
    return (
        *asked,
        Identity(),
        PowerFlows(),
        *((PracticalStability(),) if practical else ()),
        Hypotheses(),
        Inequality(),
    )


def drive(
    plan: Plan,
    closed: ClosedLoop,
    asked: Sequence | None = None,
    name: str = "",
    tell: Callable = lambda fraction, what="": None,
) -> Drive:
    """Simulate, meter, explain, and check what is asked (default: `claims()`). Raises InputError for other supplies."""
    from workbench.verification.judge import examine

    check_supply(plan.task.supply, closed.plant)
    found = examine(closed, scenario(plan), claims() if asked is None else asked, tell)
    log = found.log
    if not log.status.completed:
        raise InputError(
            f"{name or 'the law'}: the run ended early: {log.status.message}",
            mend="soften the gains",
        )
    inside(closed.plant, log)
    tip = plan.task.path.sample(log.time, 0)[0]
    error = np.hypot(log.array("tcp_x") - tip[:, 0], log.array("tcp_y") - tip[:, 1])
    return Drive(plan, name, account(plan, closed.plant, log), error, found)


def inside(plant: Any, log: Any) -> None:
    """InputError where a piston leaves its cylinder: what the log says from there on means nothing."""
    for k, c in zip(plant.labels, plant.cylinders):
        x = log.array(f"x_{k}")
        if (out := np.flatnonzero((x < 0) | (x > c.stroke))).size:
            raise InputError(
                f"piston x_{k} runs into its end at {log.time[out[0]]:.4g} s",
                mend="plan with more room",
            )


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


def drive_all(
    found: Any, plant: Any, law: Any, name: str, tell: Callable = lambda fraction, what="": None
) -> Drives:
    """All motions of a Comparison on one plant; what cannot be driven is listed with its reason."""
    closed = loop(plant, law)
    rows = []
    top = plant.machine.p_s if follows(plant) else plant.p_s
    for i, row in enumerate(r for r in found.rows if r.plan is not None):
        told = lambda fraction, what="", i=i, who=row.name: tell(
            (i + fraction) / len(found.rows), f"driving {who}"
        )
        need = row.plan.signals["p"].max() if follows(plant) else 0.0
        try:
            if need > top:
                raise InputError(
                    f"asks for {need / 1e5:.0f} bar, the pump gives {top / 1e5:.0f} bar"
                )
            rows.append(
                (
                    row.name,
                    drive(row.plan, closed, claims(closed, practical=i == 0), name, told),
                    "",
                )
            )
        except InputError as why:
            rows.append((row.name, None, why.message))
    return Drives(name, tuple(rows))


def check_supply(supply: Any, plant: Any) -> None:
    """InputError unless the plant has the supply that was planned for."""
    own = (
        plant.fits(supply)
        if follows(plant)
        else isinstance(supply, PlannedConstantPressure) and plant.p_s == supply.p_s
    )
    if not own:
        raise InputError(
            f"the machine has another supply than the plan's {supply.title}",
            key="supply",
            mend="use on_supply(machine, supply)",
        )
