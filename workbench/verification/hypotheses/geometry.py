"""Hypotheses about geometry: lever arms away from zero, pistons inside their strokes.

The force of a cylinder turns its joint with the lever arm dx/dq = −L_j1 sin q_j2 ([Petrovic22] (21)); where the arm
vanishes, (68) divides by zero.
"""

from __future__ import annotations

import numpy as np

from workbench.verification.verdict import Assumption


def proven_lever(segment, low: float, high: float) -> float:
    """A lower bound of |dx/dq| proven for every pose between the two joint angles (intervals through the same text)."""
    from workbench.numerics.intervals.enclosure import lower_bound

    return lower_bound(lambda q: np.abs(segment.lever(q)), low, high)


def geometry(run, least):
    """Lever arms away from zero, pistons inside their strokes."""
    plant = run.loop.plant
    for label, segment, (low, high) in zip(plant.labels, plant.segments, plant.joint_range()):
        if not segment.slides:
            bound = proven_lever(segment, low, high)
            yield Assumption(
                f"lever arm of cylinder {label} not zero anywhere in its stroke",
                True if bound > 0 else None,
                bound,
                "m",
                f"at least {bound:.3g} m, proven for the whole stroke",
                "sin q_j2 = 0 is a pole of (68)",
            )
    for label, segment in zip(plant.labels, plant.segments):
        if not segment.slides:
            yield lever(run, label, least)
        yield stroke(run, label)


def lever(run, label: str, least: float) -> Assumption:
    """A lever arm away from zero by `least`, m."""
    arm = np.abs(run.balance.quantities[f"lever {label}"])
    k = int(np.argmin(arm))
    return Assumption(
        f"lever arm |dx/dq| of cylinder {label} ≥ {least:g} m",
        bool(arm[k] >= least),
        float(arm[k] - least),
        "m",
        f"{arm[k]:.3g} m at t = {run.balance.t[k]:.2f} s",
        "sin q_j2 = 0 is a pole of (68)",
    )


def stroke(run, label: str) -> Assumption:
    """A piston inside its stroke."""
    q = run.balance.quantities
    room = np.minimum(q[f"x {label}"], q[f"room {label}"])
    k = int(np.argmin(room))
    return Assumption(
        f"piston {label} inside its stroke",
        bool(room[k] > 0),
        float(room[k]),
        "m",
        f"{1e3 * room[k]:.3g} mm left at t = {run.balance.t[k]:.2f} s",
        "[Petrovic22] Assumption 4",
    )
