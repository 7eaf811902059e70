"""Names of what a reference asks for, and references as they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.contract.capabilities import HasTask
from workbench.contract.errors import InputError
from workbench.contract.remembered import remembered
from workbench.contract.system import System, names
from workbench.run.deviated import Deviated
from workbench.run.reference import Hold, Sine, Waypoints
from workbench.run.scenario import Scenario
from workbench.run.spline import Spline
from workbench.run.steps import Steps


def check_strokes(plant, q: np.ndarray, lengths: np.ndarray, t: np.ndarray) -> None:
    """InputError where a path takes a drive beyond what it can span, or where loops of bars do not close on the way.

    q: (N, joints) along the path; lengths: (N, drives) there, nan where a loop does not close.
    """
    low, high = np.array(plant.strokes, float).T
    room = np.minimum(lengths - low, high - lengths)
    room[np.isnan(room)] = -np.inf
    k, i = np.unravel_index(np.argmin(room), room.shape)
    if room[k, i] <= 0:
        name = [s.name for s in plant.inputs][i].removeprefix("u_")
        said = (
            f"{name} would be {lengths[k, i]:.4g} m long and spans {low[i]:.4g} … {high[i]:.4g} m"
        )
        if np.isnan(lengths[k, i]):
            said = f"the bars that {name} moves cannot be put together there"
        raise InputError(
            f"reference: out of reach at t = {t[k]:.3f} s: {said}",
            mend=f"{_degrees_meant(plant, q)}move the path or the start point, or use a longer stroke",
        )


def _degrees_meant(plant, q: np.ndarray) -> str:
    """What to do first where a joint is sent round more than a whole turn: a number without a unit is in radians."""
    units = {s.name: s.unit for s in plant.states}
    turned = [name for name in plant.joint_names if units.get(name) == "rad"]
    columns = [list(plant.joint_names).index(name) for name in turned]
    far = [float(a) for a in q[:, columns].ravel() if abs(a) > 2 * np.pi]
    return (
        f"write {max(far, key=abs):.4g} deg, since a number without a unit is in rad; or "
        if far
        else ""
    )


def undisturbed(plant: System, scenario: Scenario, x0) -> np.ndarray:
    """The plant's part of the initial state x0 without what `scenario.offset` added to it."""
    x = np.array(x0[: len(plant.states)], float)
    known = names(plant.states)
    for name, amount in scenario.offset.items():
        if name in known:
            x[known.index(name)] -= amount
    return x


def check_space(plant, space: str) -> None:
    """InputError for a space the plant has no reference in."""
    if space != "output" and not isinstance(plant, HasTask):
        raise InputError(
            f"reference: a {type(plant).__name__} has no {space} space; what it measures is its output",
            mend="write 'space: output'",
        )
    if space != "output":
        plant.task_names(space)


def ahead(name: str) -> tuple[str, int]:
    """("q_1_d", 5) from "q_1_d@5": a signal and how many samples ahead it is meant."""
    found = re.fullmatch(r"([^@]+)@(\d+)", name)
    if not found:
        raise InputError(
            f"signal {name!r}: expected a whole number of samples after the @, such as q_1_d@5"
        )
    return found[1], int(found[2])


def parse(name: str) -> tuple[str, int]:
    """("q_1", 2) from "ddq_1_d"."""
    found = re.fullmatch(r"(d*)(.+)_d", name)
    if not found:
        raise InputError(f"reference signal {name!r}: expected a name such as q_1_d or dx_2_d")
    return found[2], len(found[1])


def target_name(name: str, order: int) -> str:
    """ "ddq_1_d" from ("q_1", 2)."""
    return "d" * order + name + "_d"


def _task_names(plant, space):
    return remembered(("task names", space), plant, lambda: _names_of_task(plant, space))


def _names_of_task(plant, space) -> list[str]:
    lengths = space == "piston"
    known = plant.followed_lengths if lengths else space in plant.spaces
    if not known:
        return []
    try:
        plant.task(space, plant.positions(list(plant.initial())))
    except InputError:
        return []
    return list(plant.followed_lengths) if lengths else plant.task_names(space)


def width(reference) -> int | None:
    """Number of components the reference is written with; None when it says "start" only, or nothing."""
    vectors: Sequence = ()
    if isinstance(reference, Waypoints):
        vectors = reference.points
    elif isinstance(reference, Spline | Steps | Deviated):
        vectors = reference.values[:1]
    elif isinstance(reference, Hold):
        vectors = (reference.point,)
    elif isinstance(reference, Sine):
        vectors = (reference.centre, reference.amplitude)
    return max((len(v) for v in vectors if isinstance(v, tuple)), default=None)


def repeated(reference, n: int):
    """A reference written with one component, with that one for each of n: every "start" may then be another one."""
    if isinstance(reference, Deviated):
        path = repeated(reference.path, n)
        return replace(reference, path=path, values=_each(reference.values, n))
    if isinstance(reference, Spline | Steps):
        return replace(reference, values=_each(reference.values, n))
    if isinstance(reference, Waypoints):
        return replace(reference, points=_each(reference.points, n))
    if isinstance(reference, Sine):
        given = (reference.centre, reference.amplitude, reference.phase)
        centre, amplitude, phase = _each(given, n)
        return replace(reference, centre=centre, amplitude=amplitude, phase=phase)
    (point,) = _each((reference.point,), n)
    return replace(reference, point=point)


def _each(points: Sequence, n: int) -> tuple:
    """Points of one component n times in a row; "start" and plain numbers as they are."""
    return tuple(p * n if isinstance(p, tuple) else p for p in points)


def padded(reference, rest):
    """The reference with the components `rest` appended to every point (amplitude 0 for sines)."""
    rest = tuple(rest)
    if isinstance(reference, Deviated):
        zeros = (0.0,) * len(rest)
        strayed = tuple((*v, *zeros) for v in reference.values)
        return replace(reference, path=padded(reference.path, rest), values=strayed)
    if isinstance(reference, Spline | Steps):
        return replace(reference, values=tuple((*v, *rest) for v in reference.values))
    if isinstance(reference, Waypoints):
        return replace(
            reference,
            points=tuple(p if isinstance(p, str) else (*p, *rest) for p in reference.points),
        )
    if isinstance(reference, Sine):

        def wide(value, fill):
            return value if isinstance(value, (str, float, int)) else (*value, *fill)

        zeros = (0.0,) * len(rest)
        return replace(
            reference,
            centre=wide(reference.centre, rest),
            amplitude=wide(reference.amplitude, zeros),
            phase=wide(reference.phase, zeros),
        )
    return replace(reference, point=(*reference.point, *rest))
