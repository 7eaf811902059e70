"""How much of the pump's flow and of the valves' speed a motion needs; above 1 it is too fast for the machine.

    pump     Σ_j A_j |ṡ_j| / Q_max          A_j: area of the chamber that grows, of every drive that takes oil
    valve    |ṡ_j| / (OF_FREE v_j)          v_j: speed with the valve fully open, without load

A load that takes half of the supply's pressure leaves a valve √½ of its speed without load: OF_FREE.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from plants.multibody import coordinates

OF_FREE = sqrt(0.5)


def effort(mechanism, t, q) -> float:
    """The largest of these shares along independent positions q (n, N) at instants t (N,), s."""
    driven = [mechanism.actuators[i] for i in coordinates.driven(mechanism)]
    lengths = coordinates.lengths(mechanism, list(q))
    rates = [np.gradient(np.broadcast_to(s, np.shape(t)), t) for s in lengths]
    shares = [0.0, _of_pump(mechanism.supply, driven, rates)]
    for actuator, rate in zip(driven, rates):
        sizes = actuator.drive.sizes(mechanism.line_unloaded)
        if sizes is not None:
            shares.append(float(np.abs(rate).max()) / (OF_FREE * sizes.speed))
    return max(shares)


def _of_pump(supply, driven, rates) -> float:
    """The pump's share, at the instant at which it is largest."""
    if supply is None:
        return 0.0
    taken = np.zeros(np.shape(rates[0])) if rates else np.zeros(1)
    for actuator, rate in zip(driven, rates):
        out, back = actuator.drive.areas
        taken = taken + np.where(rate > 0.0, out, back) * np.abs(rate)
    return float(taken.max()) / supply.Q_max
