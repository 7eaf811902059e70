"""What cylinders ask of a supply: flows, pressures, power."""

from __future__ import annotations

import numpy as np


def flows(v, areas) -> list:
    """Oil each cylinder takes from the pump, m³/s."""
    return [A_a * np.maximum(s, 0.0) + A_b * np.maximum(-s, 0.0) for s, (A_a, A_b) in zip(v, areas)]


def pressures(v, F, areas, back=0.0, creep=0.0) -> list:
    """Pressure each cylinder needs (34), Pa; the back pressure acts on the other side's area (35).

    creep: a cylinder that its load drives more slowly than this, or that rests, counts as lifting.
    """
    found = []
    for s, f, (A_a, A_b) in zip(v, F, areas):
        out = (f + back * A_b) / A_a
        into = (back * A_a - f) / A_b
        found.append(np.where(f * s + creep * np.abs(f) > 0, np.where(f > 0, out, into), 0.0))
    return found


def highest(values):
    """The largest of three or more, by comparisons."""
    top = values[0]
    for value in values[1:]:
        top = np.maximum(top, value)
    return top


def _drawn(supply, p, Q):
    """Power the motor takes for the flow Q at the pressure p: over the map's efficiency, or the constant one."""
    return p * Q / (supply.η if supply.map is None else supply.map.at(p, Q))


def _asked(supply, v, F, areas) -> tuple[list, list]:
    """(pressure, flow) that each cylinder asks of the pump."""
    return pressures(v, F, areas, supply.back, supply.creep), flows(v, areas)


def drawn_at_one_pressure(self, p, Q):
    """W for the cylinders' pressures and flows: all of the flow at the pump's pressure."""
    return _drawn(self, self.pump(p, Q), sum(Q))


def power_asked(self, v, F, areas):
    """W."""
    return self.drawn(*_asked(self, v, F, areas))


def pressure_asked(self, v, F, areas):
    """At the pump, Pa."""
    return self.pump(*_asked(self, v, F, areas))
