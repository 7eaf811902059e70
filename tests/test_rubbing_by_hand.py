"""What is known of friction with memory, by hand: a law of two states, each with a domain of its own."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.verification.hypotheses.friction import passive, rubbing, rubs


@dataclass(frozen=True)
class Film:
    """Two states with 3 µm and 5 µm of room; passive up to 0.2 m/s, and surely not beyond 0.4 m/s times its grip of 2."""

    F_c: float = 4.0
    σ_0: float = 7.0
    memory: bool = True

    def states(self, label):
        return [SimpleNamespace(name=f"z_{k}{label}") for k in "ab"] if self.memory else []

    def domain(self, z):
        return [3e-6 - np.abs(z[0]), 5e-6 - np.abs(z[1])]

    def power_limit(self):
        return 0.2

    def quadratic_limit(self):
        return 0.4

    def grip(self, v, z):
        assert z == [0.0, 0.0]
        return 8.0

    def slope(self, top):
        return (3.0 - 8.0 * top, 7.0)


def run(a, b):
    logged = {"z_alift": np.array(a), "z_blift": np.array(b)}
    return SimpleNamespace(log=SimpleNamespace(array=logged.__getitem__))


INSIDE = run([0.0, -3e-6], [5e-6, 0.0])


@pytest.mark.parametrize(
    "top, holds, margin",
    [
        (0.1, True, 0.1),
        (0.2, True, 0.0),
        (0.5, None, -0.3),
        (0.8, None, -0.6),
        (0.81, False, -0.61),
    ],
)
def test_friction_with_memory_takes_power_up_to_a_speed(top, holds, margin):
    """Between the limit that suffices and the one that is needed nothing is known; states at their ends are in."""
    found = passive(INSIDE, "lift", Film(), Film(), top)
    assert found.holds is holds and found.margin == pytest.approx(margin) and found.unit == "m/s"
    assert found.text == "friction of cylinder lift (Film) passive with its own storage"
    assert found.worst == f"speeds up to {top:.3g} m/s, passive up to 0.2 m/s"
    assert found.terms == rubs("lift") and len(found.terms) == 3


@pytest.mark.parametrize(
    "a, b, beyond", [([0.0, -4.5e-6], [0.0, 0.0], "1.5"), ([1e-6, 0.0], [0.0, 7e-6], "2")]
)
def test_a_state_beyond_its_own_domain_proves_nothing(a, b, beyond):
    found = passive(run(a, b), "lift", Film(), Film(), 0.1)
    assert found.holds is None and found.margin is None
    assert found.worst == f"not proved: a bristle deflection is {beyond} µm beyond F_s/σ_0"


def test_another_law_in_the_model_is_told_by_its_numbers():
    other = replace(Film(), F_c=3.5, memory=False)
    found = passive(INSIDE, "lift", Film(), other, 0.1)
    assert found.worst == "not proved: the model has F_c = 3.5, memory = 0" and found.holds is None
    found = passive(INSIDE, "lift", Film(), SimpleNamespace(), 0.1)
    assert found.worst == "not proved: the model has SimpleNamespace"


@pytest.mark.parametrize(
    "v, Δv, top, holds",
    [
        ([0.125, -0.25], [0.0, 0.0], 0.25, True),
        ([0.125, -0.25], [0.25, -0.125], 0.375, True),
        ([0.125, -0.25], [0.0, -0.25], 0.5, False),
        ([0.5, -0.2], [-0.3, 0.0], 0.5, False),
        ([0.0, 0.0], [0.0, 0.0], 1e-9, True),
    ],
)
def test_static_friction_is_looked_at_up_to_the_true_and_the_required_speed(v, Δv, top, holds):
    law = Film(memory=False)
    found = rubbing(None, "lift", law, law, np.array(v), np.array(Δv))
    assert found.holds is holds and found.margin == pytest.approx(3.0 - 8.0 * top)
    assert found.text == "friction of cylinder lift (Film) increasing" and found.unit == "N s/m"
    assert found.terms == rubs("lift")


def test_friction_with_memory_is_asked_at_the_speeds_of_the_run():
    found = rubbing(INSIDE, "lift", Film(), Film(), np.array([0.1, -0.15]), np.array([9.0, 9.0]))
    assert found.margin == pytest.approx(0.05)
