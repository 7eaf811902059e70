"""What a scenario may not ask of a plant: disturbances it has not, commands it would cut, paths out of its reach."""

from __future__ import annotations

import numpy as np

from workbench.contract.capabilities import Varies
from workbench.contract.errors import InputError
from workbench.run.spaces import pushed
from workbench.run.targets import check_strokes


def check_disturbances(scenario, inputs) -> None:
    """InputError for a disturbance that is no input of the loop."""
    for name in scenario.disturbances:
        if name not in inputs or inputs[name].kind not in ("", "disturbance"):
            known = ", ".join(n for n, s in inputs.items() if s.kind in ("", "disturbance"))
            raise InputError(
                f"disturbances: there is no disturbance {name!r}",
                mend=f"choose from {known or 'none'}",
            )


def check_commands(plant, scenario, t: np.ndarray) -> None:
    """Refuse commands given by the scenario that the plant would cut without a word (`cuts_commands`)."""
    limits = plant.limits() if plant.cuts_commands else {}
    for name, (low, high) in limits.items():
        if name not in scenario.disturbances:
            continue
        value = scenario.disturbances[name]
        given = (
            value.sample(t, 0)[0, :, 0]
            if isinstance(value, Varies)
            else np.full(t.size, float(value))
        )
        out = np.flatnonzero(~((given >= low) & (given <= high)))
        if len(out):
            raise InputError(
                f"disturbances: {name} = {given[out[0]]:.6g} at t = {t[out[0]]:.6g} s, which can be {low:g} to "
                f"{high:g}",
                key=name,
                mend="stay within: a command beyond is none the plant has",
            )


def check_reach(plant, joints, t: np.ndarray) -> None:
    """InputError where desired joints leave the plant's reach, saying when and which piston."""
    if plant.strokes:
        check_strokes(plant, joints[0], pushed(plant, "piston", joints)[0], t)
        return
    if not plant.cylinders:
        low, high = np.array(plant.joint_range()).T
        if len(out := np.flatnonzero(((joints[0] <= low) | (joints[0] >= high)).any(axis=1))):
            raise InputError(
                f"reference: out of reach at t = {t[out[0]]:.3f} s, {', '.join(plant.joint_names)} must stay "
                f"within {', '.join(f'{a:.4g} … {b:.4g} rad' for a, b in zip(low, high))}",
                mend="move the path or the start point, or use a longer stroke",
            )
        return
    x = pushed(plant, "piston", joints)[0]
    stroke = np.array([c.stroke for c in plant.cylinders])
    room = np.minimum(x, stroke - x)
    k, i = np.unravel_index(np.argmin(room), room.shape)
    if room[k, i] <= 0:
        try:
            plant.check_pose(joints[0][k], f"reference: out of reach at t = {t[k]:.3f} s")
        except ValueError as reason:
            raise InputError(
                str(reason), mend="move the path or the start point, or use a longer stroke"
            ) from None
