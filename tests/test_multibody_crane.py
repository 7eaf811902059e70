"""The shipped crane written as a mechanism, cylinders as bodies of their own: two texts, one machine."""

import crane_as_mechanism
import numpy as np
import pytest

from plants import machine
from workbench import Scenario, simulate
from workbench.contract.system import names

CRANE = machine("hiab-xs031").plant.locked(extension=0.5)
POSE = (-1.21, -1.93)


def as_mechanism(q=POSE, rates=(0.0, 0.0), **options):
    return crane_as_mechanism.as_mechanism(CRANE, q, list(rates), **options)


@pytest.mark.parametrize("method", ["projected", "minimal"])
def test_the_crane_moves_as_its_own_plant_says(method):
    rng = np.random.default_rng(8)
    for _ in range(3):
        q = [float(v + 0.2 * rng.normal()) for v in POSE]
        rates, forces = (
            [float(v) for v in rng.normal(size=2)],
            [float(v) for v in 4e4 * rng.normal(size=2)],
        )
        mechanism = as_mechanism(q, rates, method=method)
        assert mechanism.assembly.mobility == 2 and len(mechanism.assembly.left_out) == 6
        want = [float(v) for v in CRANE.forward_dynamics(q, rates, forces)]
        got = dict(zip(names(mechanism.states), mechanism.rhs(0.0, mechanism.initial(), forces)))
        assert [float(got[f"dq_arm{j}"]) for j in (1, 2)] == pytest.approx(want, rel=1e-9)
        assert mechanism.out(0.0, mechanism.initial())[2:4] == pytest.approx(
            CRANE.cylinder_motion(q, rates)[1], rel=1e-9
        )
        at_rest = as_mechanism(q)
        weight, _ = CRANE.inverse_dynamics(q, [0.0, 0.0], [0.0, 0.0])
        z = at_rest.assembly.z
        still = at_rest.rhs(0.0, [*z, *[0.0] * len(z)], [float(f) for f in weight])
        assert np.abs(np.array(still, float)).max() < 1e-9


def test_both_forms_run_alike_for_a_while():
    logs = [
        simulate(
            as_mechanism(method=m), Scenario(0.3, disturbances={"u_c1": 3.2e4, "u_c2": -1.1e4})
        )
        for m in ("projected", "minimal")
    ]
    for name in ("q_arm1", "q_arm2", "x_piston1", "E_stored"):
        a, b = (log[name].values for log in logs)
        assert np.abs(a - b).max() < 1e-8 * max(1.0, np.abs(a).max())
        assert np.ptp(a) > 1e-3
