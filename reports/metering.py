"""Valve circuits as reports, notebooks and studies show them: the map Γ with its segments, valve states along a run, where the
pump's energy went. Equations are those of `plants.valve_circuits` [Kikuuwe21]; here they are only asked."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from plants.metered_arms import MeteredArms
from plants.valve_circuits import Γ, Circuit, Openings, Pump, closed, operating
from plants.valve_circuits.accounts import valve_powers
from workbench.log import Log

from .style import clean
from .tables import percent, quantity

VALVES = {"hR": "head relief", "hSC": "head suction check", "rR": "rod relief", "rSC": "rod suction check", "check": "pump check"}
SPENT = {"ph": "pump to head", "pr": "pump to rod", "th": "head to tank", "tr": "rod to tank", "hR": "head relief",
         "rR": "rod relief"}
MOST = 450  # instants at which valves are asked
UNNAMED = "–"  # what no row of Table 1 describes: regeneration, both directions open, a standing relief


class Map(NamedTuple):
    """Γ as a falling line (v [m/s], f [N]), vertical where it is a set; bands (v_0, v_1, row of Table 1); sets (v, low, high)."""

    v: np.ndarray
    f: np.ndarray
    bands: list[tuple[float, float, str]]
    sets: list[tuple[float, float, float]]


def force_map(circuit: Circuit, openings: Openings, u_b: float, low: float, high: float, points: int = 241) -> Map:
    """Γ of a circuit of one section between two velocities [m/s]."""
    (section,), Q = circuit.sections, circuit.pump.Q
    jumps = [w for w in (-Q / section.A_r, 0.0, Q / section.A_h) if low < w < high]
    v = np.linspace(low, high, points)
    v = np.unique([*(w for w in v if all(abs(w - jump) > 1e-9 * (high - low) for jump in jumps)), *jumps])  # a jump once
    least, most = _ends(circuit, openings, u_b, v)
    wide = most - least > 1e-6 * (section.A_h * section.P_hM + section.A_r * section.P_rM)
    sets = [(float(w), float(a), float(b)) for w, a, b in zip(v[wide], least[wide], most[wide])]
    middle = 0.5 * (v[1:] + v[:-1])
    names = [operating(circuit, openings, u_b, [w]).sections[0].segment or UNNAMED for w in middle]
    return Map(np.repeat(v, 2), np.stack([most, least], 1).ravel(), _bands(v, names), sets)


def _ends(circuit, openings, u_b, v):
    """Least and greatest force at each velocity: in closed form where that covers the circuit."""
    if openings.u_a == 0.0 and openings.direction is not None:
        row, supply = circuit.rows(openings)[0], circuit.supply(u_b)
        with np.errstate(over="ignore"):
            return tuple(np.asarray(closed.Γ(row, supply, v, upper), float) for upper in (False, True))
    each = [Γ(circuit, openings, u_b, [w]) for w in v]
    return np.array([e.low[0] for e in each]), np.array([e.high[0] for e in each])


def _bands(edges, names):
    """Neighbours of one name joined: (from, to, name)."""
    starts = [i for i, name in enumerate(names) if i == 0 or name != names[i - 1]]
    return [(float(edges[i]), float(edges[j]), names[i]) for i, j in zip(starts, [*starts[1:], len(names)])]


def held_at(circuit: Circuit, j: int, P: float) -> Circuit:
    """Section j on a pump that holds the pressure P [Pa] whatever is taken: Γ̂_j(P, ·) of (107), where others take their part."""
    return Circuit((circuit.sections[j],), Pump(Q=1e3 * circuit.pump.Q, P_M=max(float(P), 1.0), c_b=circuit.pump.c_b))


def seen_map(plant: MeteredArms, j: int, u_c: float, P: float, low: float, high: float) -> Map:
    """The map arm j moves on under its command: Γ with the pump to itself, else Γ̂ at the pump's pressure P [Pa]."""
    alone = len(plant.arms) == 1
    circuit = plant.circuit if alone else held_at(plant.circuit, j, P)
    return force_map(circuit, Openings.command(float(np.clip(u_c, -1.0, 1.0))), plant.u_b if alone else 0.0, low, high)


# ---- along a run ----------------------------------------------------------------------------------------------------
class States(NamedTuple):
    """At times t [s]: valve → open (N,) for "pR" and, an arm, "hR_1", …; arm → row of Table 1 (N,); how long each lasts [s]."""

    t: np.ndarray
    open: dict[str, np.ndarray]
    rows: dict[str, list[str]]
    lasts: np.ndarray


def column(log: Log, name: str) -> np.ndarray:
    """A signal of the log, 0 where it was not given."""
    return log.array(name) if name in log else np.zeros(len(log.time))


def metered(log: Log | None, plant) -> bool:
    """Whether these are a run of arms behind valves and its plant, and the run has not blown up."""
    if not isinstance(plant, MeteredArms) or log is None or len(log.time) < 2:
        return False
    shown = [f"{key}_{n}" for n in plant.names for key in "vf"]
    return all(name in log and float(np.nan_to_num(np.abs(log.array(name)), nan=np.inf).max()) < 1e12 for name in shown)


def instants(log: Log, plant: MeteredArms, most: int = MOST) -> np.ndarray:
    """Indices of the log to ask: of each stretch of time its start and where forces and velocities of the first arm peak."""
    n = len(log.time)
    if n <= most:
        return np.arange(n)
    edges = np.linspace(0, n, most // 3 + 1).astype(int)
    f, v = column(log, f"f_{plant.names[0]}"), column(log, f"v_{plant.names[0]}")
    kept = [(a, a + int(np.abs(f[a:b]).argmax()), a + int(np.abs(v[a:b]).argmax())) for a, b in zip(edges[:-1], edges[1:])]
    return np.unique(kept)


@lru_cache(2)
def states(log: Log, plant: MeteredArms, most: int = MOST) -> States:
    """Which valve is open when."""
    at, t = instants(log, plant, most), log.time
    opened = {"pR": np.zeros(len(at), bool)} | {f"{k}_{n}": np.zeros(len(at), bool) for n in plant.names for k in VALVES}
    rows = {n: [] for n in plant.names}
    f, v, u_c = (np.stack([column(log, f"{key}_{n}")[at] for n in plant.names], 1) for key in ("f", "v", "u_c"))
    for i, (w, g, u) in enumerate(zip(v, f, np.clip(u_c, -1.0, 1.0))):
        found = operating(plant.circuit, tuple(Openings.command(float(c)) for c in u), plant.u_b, w, g)
        opened["pR"][i] = found.pR
        for name, section in zip(plant.names, found.sections):
            rows[name].append(section.segment or UNNAMED)
            for key in VALVES:
                opened[f"{key}_{name}"][i] = getattr(section, key)
    ends = np.append(t[at][1:], t[-1])
    return States(t[at], opened, rows, ends - t[at])


def words(plant: MeteredArms, valve: str) -> str:
    """A valve's name as people say it, with its arm where there are several."""
    if valve == "pR":
        return "pump relief"
    key, _, arm = valve.partition("_")
    return VALVES[key] + (f", arm {clean(arm, 12)}" if len(plant.arms) > 1 else "")


def facts(log: Log | None, plant) -> dict:
    """Tables of the chapter on valves: each valve with its share of time and when it first opened; where the pump's energy went."""
    if not metered(log, plant):
        return {"valves": [], "spent": [], "several": False}
    found, total = states(log, plant), float(log.time[-1] - log.time[0])
    valves = []
    for valve, is_open in found.open.items():
        first = quantity(float(found.t[is_open.argmax()]), "s", 4) if is_open.any() else "–"
        share = float(found.lasts[is_open].sum()) / total
        valves.append([words(plant, valve), percent(share) if is_open.any() else "never", first])
    return {"valves": valves, "spent": spent(log, plant), "several": len(plant.arms) > 1}


def spent(log: Log, plant: MeteredArms) -> list[list[str]]:
    """[where, energy, share of the pump's] of all that is not zero."""
    powers = valve_powers(plant, log, every=max(1, len(log.time) // MOST))
    t = powers.pop("t")
    energy = {key: float(np.trapezoid(p, t)) for key, p in powers.items()}
    pump = energy["pump"]
    if pump <= 0.0:
        return []
    of = [("pump", "given by the pump"), ("bleed", "bleed"), ("pR", "pump relief"), *_of_arms(plant)]
    return [[where, quantity(energy[key], "J", 3), percent(energy[key] / pump)] for key, where in of
            if abs(energy[key]) > 1e-6 * pump]


def _of_arms(plant):
    of = (lambda n: f", arm {clean(n, 12)}") if len(plant.arms) > 1 else (lambda n: "")
    return [(f"{k}_{n}", w + of(n)) for n in plant.names for k, w in {"rod": "work on the rod", **SPENT}.items()]
