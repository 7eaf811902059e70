"""The force–velocity map behind metering valves, and its bands."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from plants import valve_circuits
from plants.valve_circuits import closed
from plants.valve_circuits.circuit import Circuit, Openings, Pump
from reports.valve_words import behind

from . import segments


class Map(NamedTuple):
    """Γ as a falling line (v [m/s], f [N]), which is vertical where Γ(v) is an interval.

    bands: (v_0, v_1, segment) of Γ. sets: (v, least force, greatest force) where Γ(v) is an interval.
    """

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
    """(v [m/s], least force, greatest force [N]) of Γ at `points` velocities, and at those where it jumps."""
    (section,), Q = circuit.sections, circuit.pump.Q
    jumps = [w for w in (-Q / section.A_r, 0.0, Q / section.A_h) if low < w < high]
    v = np.linspace(low, high, points)
    # a jump once.
    v = np.unique(
        [*(w for w in v if all(abs(w - jump) > 1e-9 * (high - low) for jump in jumps)), *jumps]
    )
    return v, *_ends(circuit, openings, u_b, v)


def _ends(circuit, openings, u_b, v):
    """Least and greatest force at each velocity, in closed form for circuits that have one."""
    if openings.u_a == 0.0 and openings.direction is not None:
        row = circuit.rows(openings)[0]
        supply = circuit.supply(u_b)
        with np.errstate(over="ignore"):
            return tuple(
                np.asarray(closed.Γ(row, supply, v, upper), float) for upper in (False, True)
            )
    each = [valve_circuits.Γ(circuit, openings, u_b, [w]) for w in v]
    return np.array([e.low[0] for e in each]), np.array([e.high[0] for e in each])


def _names(name, n: int, stride: int = 4) -> list[str]:
    """[name(0), …, name(n − 1)]; where name(a) and name(a + stride) are equal, those between are taken to be the same."""
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
    """Bands (from, to, name): neighbours of the same name joined into one."""
    starts = [i for i, name in enumerate(names) if i == 0 or name != names[i - 1]]
    return [
        (float(edges[i]), float(edges[j]), names[i])
        for i, j in zip(starts, [*starts[1:], len(names)])
    ]


def held_at(circuit: Circuit, j: int, P: float) -> Circuit:
    """Section j alone on a pump that holds the pressure P [Pa]: its map is Γ̂_j(P, ·) of (107), whatever other sections take."""
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
    """(circuit, openings, u_b, pR) as `force_map` takes them, for the map that section j moves on under the command u_c.

    The map is Γ where the section is alone on the pump and P is no state, else Γ̂ at the pump's pressure P [Pa].
    """
    has = behind(plant)
    openings = opened(u_c, u_a)
    if len(has.names) == 1 and has.balance != "chambers":
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
    """The `force_map` of section j as `seen` says, between the velocities low and high [m/s]."""
    *of, pR = seen(plant, j, u_c, P, u_a)
    return force_map(*of, low, high, points, pR)
