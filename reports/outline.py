"""What a machine looks like: its bodies and cylinders as lines in the plane, for a sketch (`sketch`) or to be moved (`animation`).

Manipulators, four-bars and arms behind valves are drawn in x, y; arms side by side, each on ground of its own. A `Mechanism` is
seen along the common axis of its revolute joints, gravity downwards, or obliquely from above where they have none; a body is
the hull of its points: joint, centre of mass, pins and joints of other bodies on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.four_bar.linkage import FourBar
from plants.metered.arms import MeteredArms
from plants.multibody.mechanism import Mechanism
from reports.outline_mechanism import MOUTH, _cylinder, _mechanism
from reports.picture import Label, Outline, Picture, Stroke

MOTOR = np.stack(
    [
        np.cos(np.linspace(0, 2 * np.pi, 24, endpoint=False)),
        np.sin(np.linspace(0, 2 * np.pi, 24, endpoint=False)),
    ],
    1,
)


def picture(plant: Any) -> Picture | None:
    """How `plant` is drawn; None for a plant that looks like nothing."""
    shape = plant.drawn_as
    draw = _LOOKS.get(type(shape), _crane if shape.structures else None)
    return None if draw is None else draw(shape)


# ---- manipulators -----------------------------------------------------------------------------------------------------
def poses(plant, q) -> list[dict[str, np.ndarray]]:
    """Per structure the points to draw, metres in W: frame name → (x, y, z)."""
    return [
        {name: np.array(frame.r, float) for name, frame in row.items()}
        for row in plant.frames(list(q))
    ]


def _crane(plant) -> Picture:
    start = [float(v) for v in plant.initial()[: plant.n]]
    ground = np.array([plant.base.r[:2]], float)
    return Picture(lambda q: _manipulator(plant, q), list(plant.joint_names), start, ground, 0.25)


def _manipulator(plant, q) -> Outline:
    strokes = []
    pins = []
    labels = []
    for structure, frames in zip(plant.structures, poses(plant, q)):
        r = structure.revolute
        p = {name: at[:2] for name, at in frames.items()}
        strokes += [
            Stroke("link", np.array([p["B0"], p["B1"]])),
            Stroke("link", np.array([p["B1"], p["Tc"], p["E1"]])),
            *_cylinder(p["B0"], p["Tc"], r.x0),
        ]
        pins += [p["B0"], p["B1"], p["Tc"]]
        along = p["Tc"] - p["B0"]
        labels.append(
            Label(r.name, p["B0"] + 0.5 * MOUTH * r.x0 * along / np.linalg.norm(along), "cylinder")
        )
        tip = p["E1"]
        if structure.prismatic is not None:
            strokes += [
                Stroke("link", np.array([p["E1"], p["B5"], p["P3"]])),
                Stroke("slide", np.array([p["P3"], p["E2"]])),
                Stroke("tube", np.array([p["E1"], 0.5 * (p["E1"] + p["P3"])])),
            ]
            labels.append(
                Label(structure.prismatic.name, 0.75 * p["E1"] + 0.25 * p["P3"], "cylinder")
            )
            tip = p["E2"]
    return Outline(strokes, np.array(pins), tip, labels)


# ---- the four-bar -----------------------------------------------------------------------------------------------------
def _four_bar(plant: FourBar) -> Picture:
    A = np.zeros(2)
    E = np.array([plant.L_0, 0.0])
    G = np.array([-plant.x_G, 0.0])
    retracted = plant.circuit.range[0]
    ahead = lambda a, length: length * np.array([np.cos(a), np.sin(a)])

    def at(q) -> Outline:
        z_1 = float(q[0])
        B = ahead(z_1, plant.L_1)
        C = B + ahead(float(plant.pose(z_1).a_2), plant.L_2)
        F = ahead(z_1, plant.x_F)
        bars = {"crank": (A, B), "coupler": (B, C), "rocker": (C, E)}
        labels = [Label(name, 0.5 * (a + b)) for name, (a, b) in bars.items()]
        labels.append(Label(plant.circuit.name, 0.6 * G + 0.4 * F, "cylinder"))
        return Outline(
            [
                *(Stroke("link", np.array([a, b])) for a, b in bars.values()),
                *_cylinder(G, F, retracted),
            ],
            np.array([A, B, C, E, G, F]),
            None,
            labels,
        )

    return Picture(at, ["z_1"], [float(plant.z_10)], np.array([A, E, G]), 0.03 * plant.L_0)


# ---- arms behind valves -----------------------------------------------------------------------------------------------
def _arms(plant: MeteredArms) -> Picture:
    ahead = [
        1.1 * a.L_f if a.turns else 1.1 * max(a.L_f, a.L_m) + max(0.0, -a.r_bx) for a in plant.arms
    ]
    joints = [np.array([float(sum(ahead[:j])), 0.0]) for j in range(len(plant.arms))]
    bases = [O if a.turns else O + (a.r_bx, a.r_by) for O, a in zip(joints, plant.arms)]

    def at(q) -> Outline:
        strokes = []
        pins = []
        labels = []
        for a, O, base, θ in zip(plant.arms, joints, bases, map(float, q)):
            tip = O + a.L_f * np.array([np.cos(θ), np.sin(θ)])
            if a.turns:
                strokes += [
                    Stroke("link", np.array([O, tip])),
                    Stroke("plate", O + 0.09 * a.L_f * MOTOR),
                ]
                pins.append(O)
                labels.append(Label(f"arm {a.name}", 0.6 * tip + 0.4 * O))
                continue
            pin = O + a.pin(θ)[:2]
            retracted = max(abs(np.hypot(*(base - O)) - a.L_m), 0.6 * a.length(a.θ_0))
            strokes += [
                Stroke("plate", np.array([pin, tip, O])),
                *_cylinder(base, pin, min(retracted, 0.95 * a.length(θ))),
            ]
            pins += [O, pin, base]
            labels.append(Label(f"arm {a.name}", 0.6 * tip + 0.4 * pin))
        return Outline(strokes, np.array(pins), None, labels)

    return Picture(
        at,
        [f"θ_{n}" for n in plant.names],
        [float(a.θ_0) for a in plant.arms],
        np.array([*joints, *bases]),
        0.15,
    )


_LOOKS = {FourBar: _four_bar, Mechanism: _mechanism, MeteredArms: _arms}
