"""Every number a plant gives at two states, every number it states about itself: held by a table, see `stored`."""

import numpy as np
import pytest
from draws import plant_inputs, plant_state
from stored import held, members
from test_every_plant import FUNCTIONS, PLANTS

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


CASES = {name: (lambda name=name: numbers(name)) for name in PLANTS}


def within(case: str) -> float:
    return 1e-8


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_plants_are_those_of_the_table(case):
    held("plants", case, CASES[case], within(case))
