"""The reference case of the planners, and cranes with random numbers."""

from dataclasses import replace

import numpy as np

from plants.crane.planar import Actuator, Link, PlanarCrane, Triangle, planar_crane
from workbench.planning import PlannedConstantPressure, PlannedLoadSensing, Task
from workbench.run.reference import Waypoints

# The numbers of the reference case as they were computed independently; CP in m³ (pressure one), LS in J.
REFERENCE = {
    "L1": 1.6,
    "L2": 1.9995,
    "ox": -0.189261,
    "oy": 0.85,
    "q1": (-0.09878563566287905, 1.6332791140162937),
    "q2": (-2.6127578902355113, -0.39828413530510604),
    "q3": (0.0, 1.04),
    "c1": (1.00712, 0.37611, 0.83),
    "c2": (1.13219, 0.30901, 0.83),
    "cyl": ((0.08, 0.045), (0.08, 0.045), (0.05, 0.03)),
    "vmax": (0.1, 0.1, 0.25),
    "amax": (0.2, 0.2, 0.5),
    "m": (80.11, 43.19, 576.92),
    "r": (0.7675, 0.7256, -0.16070000000000007),
    "I": (16.37, 10.0, 67.4),
    "tilt_stroke": 0.54498,
}
CP, LS = 6.3719e-3, 55.4e3
TRIANGLE = ((2.3, 0.2), (3.9, 2.4), (3.9, 0.2), (2.3, 0.2))
PATH = Waypoints("cartesian", TRIANGLE, 10.0)


def task(supply=None, **changes) -> Task:
    """The reference case, with changes."""
    return Task(
        **(
            {"crane": planar_crane(), "path": PATH, "supply": supply or PlannedLoadSensing()}
            | changes
        )
    )


def short(supply=None, **changes) -> Task:
    """Its first edge in 20 steps: seconds matter in tests."""
    path = Waypoints("cartesian", TRIANGLE[:2], 10.0)
    return task(supply, **({"path": path, "steps": 20} | changes))


def oil() -> PlannedConstantPressure:
    """Energy is the oil, m³."""
    return PlannedConstantPressure(1.0, holds=False)


def random_crane(seed: int) -> PlanarCrane:
    """Distinct numbers, offsets and a load included."""
    rng = np.random.default_rng(seed)
    lift = Triangle(*rng.uniform((0.9, 0.3), (1.1, 0.4)), 0.8, rng.uniform(0.8, 1.2))
    tilt = Triangle(*rng.uniform((1.0, 0.25), (1.2, 0.35)), 0.95, rng.uniform(2.6, 2.9))
    cylinders = tuple(
        Actuator(b, r, s, v, a)
        for b, r, s, v, a in zip(
            rng.uniform(0.06, 0.09, 3),
            rng.uniform(0.02, 0.05, 3),
            (0.3, 0.28, 0.9),
            (0.11, 0.09, 0.3),
            (0.2, 0.25, 0.5),
        )
    )
    bodies = tuple(
        Link(m, r, I, s)
        for m, r, I, s in zip(
            rng.uniform(30, 200, 3),
            (0.7, 0.6, -0.2),
            rng.uniform(5, 60, 3),
            rng.uniform(-0.2, 0.2, 3),
        )
    )
    return PlanarCrane(
        "random",
        (-0.2, 0.8),
        rng.uniform(1.3, 1.7),
        rng.uniform(1.6, 2.1),
        lift,
        tilt,
        cylinders,
        bodies,
        rng.uniform(-0.1, 0.2),
        rng.uniform(20, 90),
        9.7,
    )


def random_joints(rng, crane) -> list[float]:
    """Inside the strokes."""
    return [
        rng.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low))
        for low, high in crane.joint_range()
    ]


def smaller(crane: PlanarCrane, **speeds) -> PlanarCrane:
    """The crane with other limits of its cylinders."""
    return replace(crane, cylinders=tuple(replace(c, **speeds) for c in crane.cylinders))
