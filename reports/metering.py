"""Valve circuits as reports, notebooks and studies show them: the map Γ with its segments, and a run on it: which valve is open
when. Equations are those of `plants.valve_circuits` [Kikuuwe21]; here they are only asked. `accounts` has the pump's energy."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from plants import valve_circuits
from plants.metered_arms import MeteredArms
from plants.metered_crane import MeteredCrane
from plants.metered_twin import MeteredTwin
from plants.valve_circuits import closed
from plants.valve_circuits.circuit import Circuit, Openings, Pump
from workbench.run.log import Log, column

from . import segments
from .style import clean

VALVES = {key: segments.VALVES[key] for key in ("hR", "hSC", "rR", "rSC")} | {
    "check": "pump check"
}  # of a section
MOST = 450  # instants at which valves are asked
SHUT = 1e-9  # of the pump's flow: what compressible oil lets through a valve that counts as shut


class Map(NamedTuple):
    """Γ as a falling line (v [m/s], f [N]), vertical where it is a set; bands (v_0, v_1, segment); sets (v, low, high)."""

    v: np.ndarray
    f: np.ndarray
    bands: list[tuple[float, float, str]]
    sets: list[tuple[float, float, float]]


def force_map(
    circuit: Circuit,
    openings: Openings,
    u_b: float,
    low: float,
    high: float,
    points: int = 241,
    pR: bool | None = None,
) -> Map:
    """Γ of a circuit of one section between two velocities [m/s]; pR: whether the pump's relief is open, where that is known."""
    (section,) = circuit.sections
    v, least, most = curve(circuit, openings, u_b, low, high, points)
    wide = most - least > 1e-6 * (section.A_h * section.P_hM + section.A_r * section.P_rM)
    sets = [(float(w), float(a), float(b)) for w, a, b in zip(v[wide], least[wide], most[wide])]

    def name(i):
        at = valve_circuits.operating(circuit, openings, u_b, [0.5 * (v[i] + v[i + 1])])
        return segments.segment_of(
            openings.direction, v[i] + v[i + 1], at.sections[0], at.pR if pR is None else pR
        )

    return Map(
        np.repeat(v, 2),
        np.stack([most, least], 1).ravel(),
        _bands(v, _names(name, len(v) - 1)),
        sets,
    )


def curve(
    circuit: Circuit, openings: Openings, u_b: float, low: float, high: float, points: int = 61
):
    """v, and the least and greatest force of Γ there."""
    (section,), Q = circuit.sections, circuit.pump.Q
    jumps = [w for w in (-Q / section.A_r, 0.0, Q / section.A_h) if low < w < high]
    v = np.linspace(low, high, points)
    v = np.unique(
        [*(w for w in v if all(abs(w - jump) > 1e-9 * (high - low) for jump in jumps)), *jumps]
    )  # a jump once
    return v, *_ends(circuit, openings, u_b, v)


def _ends(circuit, openings, u_b, v):
    """Least and greatest force at each velocity: in closed form where that covers the circuit."""
    if openings.u_a == 0.0 and openings.direction is not None:
        row, supply = circuit.rows(openings)[0], circuit.supply(u_b)
        with np.errstate(over="ignore"):
            return tuple(
                np.asarray(closed.Γ(row, supply, v, upper), float) for upper in (False, True)
            )
    each = [valve_circuits.Γ(circuit, openings, u_b, [w]) for w in v]
    return np.array([e.low[0] for e in each]), np.array([e.high[0] for e in each])


def _names(name, n: int, stride: int = 4) -> list[str]:
    """name(0) … name(n − 1), asked for every few only where neighbours so far apart agree."""
    asked = lru_cache(None)(name)
    found: list[str] = []
    for a in range(0, n, stride):
        b = min(a + stride, n - 1)
        found += (
            [asked(a)] * (min(n, a + stride) - a)
            if asked(a) == asked(b)
            else [asked(i) for i in range(a, min(n, a + stride))]
        )
    return found


def _bands(edges, names):
    """Neighbours of one name joined: (from, to, name)."""
    starts = [i for i, name in enumerate(names) if i == 0 or name != names[i - 1]]
    return [
        (float(edges[i]), float(edges[j]), names[i])
        for i, j in zip(starts, [*starts[1:], len(names)])
    ]


def held_at(circuit: Circuit, j: int, P: float) -> Circuit:
    """Section j on a pump that holds the pressure P [Pa] whatever is taken: Γ̂_j(P, ·) of (107), where others take their part."""
    return Circuit(
        (circuit.sections[j],),
        Pump(Q=1e3 * circuit.pump.Q, P_M=max(float(P), 1.0), c_b=circuit.pump.c_b),
    )


def opened(u_c: float, u_a: float = 0.0) -> Openings:
    """Openings under a command, cut at ±1."""
    return Openings.command(float(np.clip(u_c, -1.0, 1.0)), float(u_a))


def seen(
    plant, j: int, u_c: float, P: float, u_a: float = 0.0
) -> tuple[Circuit, Openings, float, bool | None]:
    """What `force_map` needs for the map section j moves on under its command: Γ where the pump feeds nothing else, nor oil in its
    line; else Γ̂ at the pump's pressure P [Pa]."""
    has, openings = behind(plant), opened(u_c, u_a)
    if len(has.names) == 1 and not isinstance(plant, MeteredCrane):
        return has.circuit, openings, has.u_b, None
    return held_at(has.circuit, j, P), openings, 0.0, bool(P >= has.circuit.pump.P_M * (1 - 1e-12))


def seen_map(
    plant,
    j: int,
    u_c: float,
    P: float,
    low: float,
    high: float,
    points: int = 241,
    u_a: float = 0.0,
) -> Map:
    """That map."""
    *of, pR = seen(plant, j, u_c, P, u_a)
    return force_map(*of, low, high, points, pR)


# ---- machines behind valves ---------------------------------------------------------------------------------------------
class Behind(NamedTuple):
    """A machine's valve circuit and its bleed's opening; sections' names as in signals, and as people say them ("" for one);
    whether they regenerate."""

    circuit: Circuit
    u_b: float
    names: tuple[str, ...]
    titles: tuple[str, ...]
    regenerates: tuple[bool, ...]


@lru_cache(4)
def behind(plant) -> Behind | None:
    """None for a machine that has no metering valves."""
    if isinstance(plant, MeteredTwin):
        return behind(plant.of)
    if not isinstance(plant, (MeteredArms, MeteredCrane)):
        return None
    if isinstance(plant, MeteredCrane):
        names, titles = plant.labels, tuple(clean(s.name, 20) for s in plant.crane.segments)
    else:
        names, titles = plant.names, tuple(f"arm {clean(n, 12)}" for n in plant.names)
    regenerates = tuple(a.regeneration != "none" for a in plant.arms) or (False,) * len(names)
    return Behind(
        plant.circuit, plant.u_b, tuple(names), titles if len(names) > 1 else ("",), regenerates
    )


class Course(NamedTuple):
    """What cylinders did at N instants: pump's pressure P (N,) [Pa]; v [m/s], f [N] (of motors rad/s, N m), commands u_c and
    openings of regeneration u_a (N, n)."""

    P: np.ndarray
    v: np.ndarray
    f: np.ndarray
    u_c: np.ndarray
    u_a: np.ndarray


@lru_cache(2)
def course(log: Log | None, plant) -> Course | None:
    """The run on its valves; None where there are none, and of a run that has blown up."""
    has = behind(plant)
    if has is None or log is None or len(log.time) < 2:
        return None
    own = (
        [s.name for s in plant.states]
        if isinstance(plant, MeteredCrane)
        else [f"{k}_{n}" for n in has.names for k in "vf"]
    )
    if any(name not in log for name in ("P", *own)):
        return None
    if isinstance(plant, MeteredCrane):
        m = plant.motion(
            [log.array(name) for name in own], [column(log, s.name) for s in plant.inputs]
        )
        v, f = m.v, m.f
    else:
        v, f = ([log.array(f"{key}_{n}") for n in has.names] for key in "vf")
    u_c = np.stack([column(log, f"u_c_{n}") for n in has.names], 1)
    found = Course(
        log.array("P"), np.stack(v, 1), np.stack(f, 1), u_c, _regeneration(log, plant, u_c)
    )
    sound = all(
        float(np.nan_to_num(np.abs(part), nan=np.inf).max()) < 1e12
        for part in (found.P, found.v, found.f)
    )
    return found if sound else None


def _regeneration(log, plant, u_c):
    """Openings u_a, 0 where there is none."""
    if not plant.arms:
        return 0.0 * u_c
    arms = plant.of if isinstance(plant, MeteredTwin) else plant
    return np.stack(
        [
            a + 0.0 * u
            for a, u in zip(arms.regeneration([column(log, s.name) for s in arms.inputs]), u_c.T)
        ],
        1,
    )


# ---- along a run ----------------------------------------------------------------------------------------------------
class States(NamedTuple):
    """At times t [s]: valve → open (N,) for "pR" and, a section, "hR_1", …; section → segment (N,); how long each lasts [s]."""

    t: np.ndarray
    open: dict[str, np.ndarray]
    rows: dict[str, list[str]]
    lasts: np.ndarray


def instants(run: Course, most: int = MOST) -> np.ndarray:
    """Indices of the log to ask: of each stretch of time its start and where forces and velocities peak."""
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
    run, has, t = course(log, plant), behind(plant), log.time
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
    """Whether the pump's relief is open at the k-th instant, and the sections: of the circuit as one where it is quasistatic, each
    at the pump's pressure where that is a state, as their pressures say where those are states."""
    P = run.P[k]
    if isinstance(plant, MeteredArms):
        found = valve_circuits.operating(has.circuit, openings, has.u_b, run.v[k], run.f[k])
        return found.pR, list(found.sections)
    if isinstance(plant, MeteredCrane):
        return bool(P > has.circuit.pump.P_M), [
            valve_circuits.operating(held_at(has.circuit, j, P), o, 0.0, [v], [f]).sections[0]
            for j, (o, v, f) in enumerate(zip(openings, run.v[k], run.f[k]))
        ]
    found, least = [], SHUT * has.circuit.pump.Q
    for name, row in zip(has.names, has.circuit.rows(openings)):
        P_h, P_r = (float(log.array(f"P_{side}_{name}")[k]) for side in "hr")
        q = plant.section(row, P, P_h, P_r)
        limits = [
            bool(sign * Q > least)
            for Q, sign in ((q.Q_ho, 1), (q.Q_ho, -1), (q.Q_ro, -1), (q.Q_ro, 1))
        ]
        found.append(
            valve_circuits.SectionState(
                valve_circuits.Interval(P_h, P_h),
                valve_circuits.Interval(P_r, P_r),
                *map(float, q),
                *limits,
                bool(q.Q_ph + q.Q_pr > least),
                None,
            )
        )
    return bool(plant.G * (P - has.circuit.pump.P_M) > least), found


def words(plant, valve: str) -> str:
    """A valve's name as people say it, with its arm or cylinder where there are several."""
    if valve == "pR":
        return segments.VALVES["pR"]
    key, _, name = valve.partition("_")
    has = behind(plant)
    return of(VALVES[key], has.titles[has.names.index(name)])


def turns(section) -> bool:
    """Whether a section drives a motor: rad/s and N m in place of m/s and N."""
    return section.turns


def of(what: str, title: str) -> str:
    """ "head relief, arm 2"."""
    return f"{what}, {title}" if title else what
