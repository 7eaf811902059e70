"""Every number a plant gives at two states, every number it states about itself: held by a table, see `stored`."""

import numpy as np
import pytest
from draws import plant_inputs, plant_state
from stored import held, members
from test_every_plant import FUNCTIONS, PLANTS

from plants.planar_crane import planar_crane, planar_cranes
from plants.planar_whole import reduced

ASKED = (
    "initial",
    "defaults",
    "limits",
    "scales",
    "machine_limits",
    "free_joints",
    "joint_range",
)


def numbers(name: str) -> dict:
    """What the plant gives at two random states, and what it says of itself."""
    plant = PLANTS[name]
    rng = np.random.default_rng(31)
    found: dict = {"itself": members(plant, ASKED)}
    for k in range(2):
        x, u = plant_state(rng, plant), plant_inputs(rng, plant)
        found[f"at {k}"] = {
            what: call(plant, [0.3 + k], x, u) for what, call in FUNCTIONS.items()
        } | {"holding": plant.holding(x, u), "projected": plant.project(0.3, x)}
    return found


def planar(crane) -> dict:
    """What a crane in its plane gives at drawn joints and along a drawn motion of its tip."""
    rng = np.random.default_rng(7)
    low, high = np.array(crane.joint_range()).T
    found = {"itself": members(crane, ASKED)}
    for k in range(3):
        q = list(low + (high - low) * rng.uniform(0.2, 0.8, 3))
        r = crane.tip(q)
        found[f"at {k}"] = {
            "pistons": crane.pistons(q),
            "levers": crane.levers(q),
            "tip": r,
            "joints": crane.joints(r, q[2]),
            "stretch": crane.stretch(r, q[2]),
            "motion": crane.motion(r, *rng.normal(size=(2, 2)), q[2], *rng.normal(size=2)),
            "forces": crane.forces(q, rng.normal(size=3), rng.normal(size=3)),
        }
    return found


CASES = {name: (lambda name=name: numbers(name)) for name in PLANTS} | {
    f"in its plane, {name}": (lambda name=name: planar(planar_crane(name)))
    for name in planar_cranes()
}
CASES["in its plane, reduced"] = lambda: planar(reduced(PLANTS["hiab-xs031"]))


def within(case: str) -> float:
    return 1e-8


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_plants_are_those_of_the_table(case):
    held("plants", case, CASES[case], within(case))
