"""Which metering valve is open when in a run, for reports, notebooks and studies.

The equations are those of `plants.valve_circuits` [Kikuuwe21]; this module only evaluates them. The map Γ is drawn by `force_map`,
the pump's energy is in `accounts`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from plants import valve_circuits
from reports.force_map import held_at, opened
from reports.valve_words import VALVES, behind
from workbench.run.log import Log, column

from . import segments

MOST = 450  # instants at which valves are asked
# Share of the pump's flow: what compressible oil lets through a valve that counts as shut.
SHUT = 1e-9


class Course(NamedTuple):
    """A run of n sections at N instants: the pump's pressure P (N,) [Pa]; velocities v [m/s] and forces f [N] of the rods (of
    motors rad/s and N m), commands u_c and openings of regeneration u_a, each (N, n)."""

    P: np.ndarray
    v: np.ndarray
    f: np.ndarray
    u_c: np.ndarray
    u_a: np.ndarray


@lru_cache(2)
def course(log: Log | None, plant) -> Course | None:
    """The run's forces, velocities and openings at its metering valves; None for a machine without them or a run that blew up."""
    has = behind(plant)
    if has is None or log is None or len(log.time) < 2:
        return None
    moved = None if "P" not in log else has.motion(log, plant)
    if moved is None:
        return None
    v, f = (np.stack(each, 1) for each in moved)
    u_c = np.stack([column(log, f"u_c_{n}") for n in has.names], 1)
    u_a = has.regeneration(log, list(u_c.T))
    opened_by = np.stack([a + 0.0 * u for a, u in zip(u_a, u_c.T)], 1)
    found = Course(log.array("P"), v, f, u_c, opened_by)
    sound = all(
        float(np.nan_to_num(np.abs(part), nan=np.inf).max()) < 1e12
        for part in (found.P, found.v, found.f)
    )
    return found if sound else None


# ---- along a run ----------------------------------------------------------------------------------------------------
class States(NamedTuple):
    """Valves at the times t [s], each of which stands for the time `lasts` [s] after it.

    open: valve → whether it is open (N,): "pR" of the pump, "hR_1", … of section 1. rows: section → its segment of Γ (N,).
    """

    t: np.ndarray
    open: dict[str, np.ndarray]
    rows: dict[str, list[str]]
    lasts: np.ndarray


def instants(run: Course, most: int = MOST) -> np.ndarray:
    """At most about `most` indices of the log: of each of equal stretches, its start and the peaks of force and velocity."""
    n, parts = run.v.shape
    if n <= most:
        return np.arange(n)
    edges = np.linspace(0, n, most // (1 + 2 * parts) + 1).astype(int)
    peaks = [
        a + np.abs(part[a:b]).argmax(0)
        for a, b in zip(edges[:-1], edges[1:])
        for part in (run.f, run.v)
    ]
    return np.unique([*edges[:-1], *np.ravel(peaks)])


@lru_cache(2)
def states(log: Log, plant, most: int = MOST) -> States:
    """Which valve is open when."""
    run = course(log, plant)
    has = behind(plant)
    t = log.time
    at = instants(run, most)
    is_open = {"pR": np.zeros(len(at), bool)} | {
        f"{k}_{n}": np.zeros(len(at), bool) for n in has.names for k in VALVES
    }
    rows = {n: [] for n in has.names}
    for i, k in enumerate(at):
        openings = tuple(map(opened, run.u_c[k], run.u_a[k]))
        is_open["pR"][i], sections = _valves(plant, has, log, run, k, openings)
        for name, o, v, state in zip(has.names, openings, run.v[k], sections):
            rows[name].append(segments.segment_of(o.direction, v, state, is_open["pR"][i]))
            for key in VALVES:
                is_open[f"{key}_{name}"][i] = getattr(state, key)
    ends = np.append(t[at][1:], t[-1])
    return States(t[at], is_open, rows, ends - t[at])


def _valves(plant, has, log, run, k, openings) -> tuple[bool, list[valve_circuits.SectionState]]:
    """(whether the pump's relief is open, state of every section) at row k of the log.

    Where all is quasistatic, the circuit is solved as a whole; where the pump's pressure is a state, each section by itself at that
    pressure; where the chambers' pressures are states too, flows follow from them.
    """
    P = run.P[k]
    if has.balance == "all":
        found = valve_circuits.operating(has.circuit, openings, has.u_b, run.v[k], run.f[k])
        return found.pR, list(found.sections)
    if has.balance == "chambers":
        return bool(P > has.circuit.pump.P_M), [
            valve_circuits.operating(held_at(has.circuit, j, P), o, 0.0, [v], [f]).sections[0]
            for j, (o, v, f) in enumerate(zip(openings, run.v[k], run.f[k]))
        ]
    least = SHUT * has.circuit.pump.Q
    found = []
    for name, row in zip(has.names, has.circuit.rows(openings)):
        P_h, P_r = (float(log.array(f"P_{side}_{name}")[k]) for side in "hr")
        q = plant.section(row, P, P_h, P_r)
        found.append(
            valve_circuits.SectionState(
                valve_circuits.Interval(P_h, P_h),
                valve_circuits.Interval(P_r, P_r),
                *map(float, q),
                hR=bool(q.Q_ho > least),
                hSC=bool(-q.Q_ho > least),
                rSC=bool(-q.Q_ro > least),
                rR=bool(q.Q_ro > least),
                check=bool(q.Q_ph + q.Q_pr > least),
                segment=None,
            )
        )
    return bool(plant.G * (P - has.circuit.pump.P_M) > least), found
