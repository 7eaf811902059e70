"""Machines whose drawing in the plane is all that is known of them: what keeps its shape in the drawing is a solid."""

from __future__ import annotations

from typing import Any

import numpy as np

from reports.outline import picture
from reports.page.machines.scene import Machine3, Posed, Ram, Solid
from reports.picture import Outline, Stroke
from workbench.run.log import Log

KINDS = {"link": "bar", "tube": "tube", "plate": "plate", "slide": "bar"}


def flat(plant: Any, log: Log) -> Machine3 | None:
    """What `reports.outline` draws, in space; None for a plant that looks like nothing."""
    drawn = picture(plant)
    if drawn is None:
        return None
    shape = drawn.at(drawn.start)
    solid = [stroke for stroke in shape.strokes if stroke.kind in KINDS]
    names = [label.text for label in shape.labels if label.of == "cylinder"]
    return Machine3(
        [Solid("", _raised(_own(stroke)), KINDS[stroke.kind]) for stroke in solid],
        [Ram(n, "cylinder", s) for n, s in zip([*names, *[""] * 99], _retracted(shape))],
        lambda q: _posed(drawn.at(list(map(float, q)))),
        list(drawn.names),
        list(drawn.start),
        _raised(drawn.stands),
    )


def _raised(points: np.ndarray) -> np.ndarray:
    """(n, 2) as (n, 3) at z = 0."""
    return np.hstack([points, np.zeros((len(points), 1))])


def _frame(stroke: Stroke) -> tuple[np.ndarray, np.ndarray]:
    """(origin, rotation) in the plane: x from the first point of a stroke to the second."""
    a, b = stroke.points[:2]
    x, y = (b - a) / (np.linalg.norm(b - a) or 1.0)
    return a, np.array([[x, -y], [y, x]])


def _own(stroke: Stroke) -> np.ndarray:
    origin, turned = _frame(stroke)
    return (stroke.points - origin) @ turned


def _rams(shape: Outline) -> list[np.ndarray]:
    """Ends of every cylinder, which is drawn as a rod and the case around it."""
    return [stroke.points for stroke in shape.strokes if stroke.kind == "rod"]


def _retracted(shape: Outline) -> list[float]:
    """Length of every cylinder's case."""
    cases = [stroke.points for stroke in shape.strokes if stroke.kind == "case"]
    return [float(np.linalg.norm(case[1] - rod[0])) for rod, case in zip(_rams(shape), cases)]


def _posed(shape: Outline) -> Posed:
    frames = []
    for stroke in shape.strokes:
        if stroke.kind in KINDS:
            origin, turned = _frame(stroke)
            whole = np.eye(3)
            whole[:2, :2] = turned
            frames.append((np.append(origin, 0.0), whole))
    tip = None if shape.tip is None else np.append(shape.tip, 0.0)
    return Posed(frames, [_raised(ends) for ends in _rams(shape)], _raised(shape.pins), tip)
