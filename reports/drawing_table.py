"""The table beside a drawing: cylinders and joints in numbers, and what does not fit."""

from __future__ import annotations

import numpy as np

from plants.multibody.reach import ranges
from plants.multibody.strokes import strokes

from .style import INK, RED

SOFT = "#555555"
TOP = (0.355, 0.88)  # of the figure: below the reach, or where that would be
HEADS = ("cylinder", "joint")  # of the table


def table(fig, plant) -> None:
    """Cylinders and joints in numbers, below the reach."""
    known = ranges(plant)
    rows = [*_cylinder_rows(plant), *_joint_rows(plant, known)]
    heads = {k for k, row in enumerate(rows) if row[0] in HEADS}
    unfit = {k for k, row in enumerate(rows) if not row[0]}
    top = TOP[plant.tcp is None]
    step = min(0.032, 0.32 / len(rows))
    for k, row in enumerate(rows):
        gap = 0.5 if k >= max(heads, default=0) else 0.0
        color = INK
        if k in heads:
            color = SOFT
        elif k in unfit:
            color = RED
        for x, text in zip((0.69, 0.775, 0.84, 0.95), row):
            fig.text(x, top - step * (k + gap), signed(text), fontsize=7.5, color=color)


def _cylinder_rows(plant) -> list[tuple]:
    """Length (or place of its joint) at the start, and stroke, of every cylinder; below it, without a name, what does not fit."""
    dead = {stroke.name: stroke.dead_at for stroke in strokes(plant)}
    rows = []
    for a, s in (*cylinders(plant), *telescopes(plant)):
        low, high = a.span
        span = ("not given", "")
        if np.isfinite(high - low):
            span = (f"{low:.3f} … {high:.3f} m", f"{high - low:.3f} m")
        rows.append((a.name, f"{s:.3f} m", *span))
        if not low <= s <= high:
            off = f"{low - s:.3f} m shorter" if s < low else f"{s - high:.3f} m longer"
            rows.append(("", f"starts {off} than that", "", ""))
        if at := dead.get(a.name):
            lengths = ", ".join(f"{s:.3f} m" for s in at)
            rows.append(("", f"passes a dead point at {lengths}", "", ""))
    return [(HEADS[0], "at start", "retracted … extended", "stroke"), *rows] if rows else []


def _joint_rows(plant, known) -> list[tuple]:
    """Angle at the start of every revolute joint, and over all strokes where some are given, or what drive turns it."""
    driven = {a.joint: a.name for a in plant.actuators if a.joint}
    rows = []
    for body, signal, angle in turning(plant):
        moved = "is not moved" if known else ""
        if body.name in driven:
            moved = f"turned by {driven[body.name]}"
        if signal in known:
            low, high = np.degrees(known[signal])
            moved = f"{low:.1f}° … {high:.1f}°"
        rows.append((body.name, f"{np.degrees(angle):.1f}°", moved, ""))
    over = "over all strokes" if known else ""
    return [(HEADS[1], "at start", over, ""), *rows] if rows else []


def cylinders(plant) -> list[tuple]:
    """(actuator, its length at the start) of those between pins."""
    return [(a, s) for a, s in _lengths(plant) if a.a is not None]


def telescopes(plant) -> list[tuple]:
    """(actuator, place of its joint at the start) of those on a prismatic joint."""
    slides = {b.name for b in plant.bodies if b.joint == "prismatic"}
    return [(a, s) for a, s in _lengths(plant) if a.joint in slides]


def _lengths(plant) -> list[tuple]:
    """(actuator, s at the start) of all actuators."""
    still = [0.0] * plant.tree.n_v
    z = [float(v) for v in plant.assembly.z]
    pulls = plant.pulls(plant.moving(z, still), z, still, None, None)
    return [(a, float(p.s)) for a, p in zip(plant.actuators, pulls)]


def turning(plant):
    """(body, name of the angle's signal, angle at the start) of all revolute joints."""
    values = dict(zip((s.name for s in plant.coordinates), plant.assembly.z))
    turning = [b for b in plant.bodies if b.joint == "revolute"]
    return [(b, f"q_{b.name}", float(values[f"q_{b.name}"])) for b in turning]


def signed(text: str) -> str:
    return text.replace("-", "−")
