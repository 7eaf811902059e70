"""An account of a run's power: what the pump gives, and what valves, rods and oil take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.valve_circuits.accounts.section import drawn_in, losses, open_ranges
from plants.valve_circuits.diagnosis import Suspect
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.run.log import column

_COUNTED = 1e-3  # share of the pump's energy: what an element's energy over a run may be off by
# Share of the range of a power by which it does not change between two rows where they follow it.
_JUMP = 0.1


class ValveAccount(NamedTuple):
    """Where the pump's power goes in a run, at times t [s]; powers in W.

    pump      what the pump gives
    law       valve → what it takes by its own law;   work: rod → work done on it;   stored: d(energy of the oil)/dt
    given     valve → what it takes by the model's `powers`, at the samples `at` of t
    drawn     chamber → flow that its suction check lets in, m³/s
    ranges    chamber → least and greatest pressure that balance, Pa
    suspects  elements that do not follow their own characteristic
    counted   those whose energy over the run differs from the integral that the run made of it
    """

    t: np.ndarray
    pump: np.ndarray
    law: dict[str, np.ndarray]
    work: dict[str, np.ndarray]
    stored: np.ndarray
    at: np.ndarray
    given: dict[str, np.ndarray]
    drawn: dict[str, np.ndarray]
    ranges: dict[str, tuple[np.ndarray, np.ndarray]]
    suspects: tuple[Suspect, ...] = ()
    counted: tuple[Suspect, ...] = ()

    @property
    def gap(self) -> np.ndarray:
        """Power of the pump that no valve, rod or oil accounts for, W; 0 for an exact run."""
        return self.pump - sum(self.law.values()) - sum(self.work.values()) - self.stored


# ---- plants ---------------------------------------------------------------------------------------------------------
def columns(log, signals) -> list[np.ndarray]:
    """Signals of the log, in order."""
    return [column(log, name) for name in names(signals)]


def counted(log, powers: dict, given: tuple[str, ...] = ("pump",)) -> list[Suspect]:
    """Causes whose energy, as the run integrated it step by step, differs from the integral of their power over the log's rows.

    powers: cause → power [W] at the rows. given: the causes by which the pump gives energy. The size of each Suspect is the
    difference, less the error of an integral over rows (`_uncertain`) and a share `_COUNTED`, over the pump's energy.
    """
    t = log.time
    if len(t) < 5:
        return []
    by_run = {name: _change(log.array(f"E_{name}")) for name in {*powers, *given}}
    by_law = {name: float(np.trapezoid(p, t)) for name, p in powers.items()}
    totals = [abs(sum(energies[name] for name in given)) for energies in (by_run, by_law)]
    through = max(*totals, 1e-300)
    found = []
    for name, p in powers.items():
        apart = abs(by_run[name] - by_law[name])
        off = apart - _uncertain(p, t) - _COUNTED * through
        words = (
            f"the run counted {by_run[name]:.4g} J, its law gives {by_law[name]:.4g} J over the run"
        )
        found.append(Suspect(name, off / through, words))
    return [s for s in found if s.size > 0]


def _change(energy: np.ndarray) -> float:
    return float(energy[-1] - energy[0])


def _uncertain(power: np.ndarray, t: np.ndarray) -> float:
    """Error bound of the trapezoidal integral of a power over rows, J.

    Twice the difference to the integral over every other row; and half of |jump| × (time between the rows) wherever the power
    changes by more than a share `_JUMP` of its range from one row to the next, as the instant of such a jump is not known.
    """
    last = len(t) - 1 - (len(t) - 1) % 2
    every_other = np.trapezoid(power[: last + 1 : 2], t[: last + 1 : 2])
    coarse = every_other + np.trapezoid(power[last:], t[last:])
    step = np.abs(np.diff(power))
    jumps = np.where(step > _JUMP * np.ptp(power), step, 0.0)
    smooth = 2.0 * abs(np.trapezoid(power, t) - coarse)
    return float(smooth + 0.5 * jumps @ np.diff(t))


def quasistatic(t, pump, sections, flows, law, stored, at, given, P, Q, suspected) -> ValveAccount:
    work = {}
    drawn = {}
    ranges = {}
    for name, s in sections.items():
        law = law | {f"{valve}_{name}": p for valve, p in losses(s, flows[name]).items()}
        work[f"rod_{name}"] = s.f * s.v
        for side, oil, both in zip("hr", drawn_in(s, flows[name]), open_ranges(s, P, Q)):
            drawn[f"P_{side}_{name}"], ranges[f"P_{side}_{name}"] = oil, both
    return ValveAccount(
        t=t,
        pump=pump,
        law=law,
        work=work,
        stored=stored,
        at=at,
        given=given,
        drawn=drawn,
        ranges=ranges,
        suspects=tuple(suspected),
    )


def check_logged(log, wanted) -> None:
    lacking = [name for name in wanted if name not in log]
    if lacking:
        raise InputError(
            f"the log has no {', '.join(lacking)}",
            mend="give the log of a run of this plant, with its monitors",
        )


def line_pressure(supply, log) -> np.ndarray:
    """Of the pump's line along the run, above the return, Pa."""
    if supply.pressure_name:
        return log.array(supply.pressure_name) - supply.most.p_r
    return np.full(len(log.time), float(supply.most.p_s - supply.most.p_r))


def by_model(supply, drives: dict, powers: dict) -> dict[str, np.ndarray]:
    """Valve → power [W] that it takes by the model's `powers`: valves of the supply, then of the drives."""
    pump = [name for name in supply.power_names() if name not in ("pump", "delivered")]
    valves = [f"{valve}_{k}" for k, drive in drives.items() for valve in drive.valves]
    return {name: -powers[name] for name in (*pump, *valves)}


def fed(machine, powers: dict) -> tuple[str, ...]:
    """Causes by which the pump gives energy: "pump"; without such a cause, one for each drive on a supply of given pressure."""
    if "pump" in powers:
        return ("pump",)
    return tuple(f"supply_{a.name}" for a in machine.actuators if a.drive.needs_supply)
