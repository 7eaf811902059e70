"""The shipped crane written as a mechanism, cylinders as bodies of their own: two texts, one machine."""

import numpy as np
import pytest

from plants import machine
from plants.components.linkage import close
from plants.components.spatial import Frame, add, turn, unturn
from plants.multibody.drives import Force
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Body, Loop, Place
from workbench import Scenario, simulate
from workbench.contract.system import names

CRANE = machine("hiab-xs031").plant.locked(extension=0.5)
POSE = (-1.21, -1.93)


def solid(body):
    return {"mass": body.mass, "com": body.com, "inertia": body.inertia}


def as_mechanism(q=POSE, rates=(0.0, 0.0), **options):
    """Arm, cylinder case and piston of every structure as bodies; what hangs on an arm's end is joined to it."""
    bodies, loops, actuators = [], [], []
    parent, end, turned = "ground", Frame(), 0.0
    for j, (s, angle, rate) in enumerate(zip(CRANE.structures, q, rates), 1):
        r, k = s.revolute, close(s.revolute.L, s.revolute.L1, angle)
        arm = r.arm
        following = Frame((r.L1, 0.0, 0.0)).then(r.end)
        following = Frame(tuple(map(float, following.r)), tuple(map(float, following.R)))
        arm = arm.joined(
            (
                CRANE.structures[j].revolute.link if j < len(CRANE.structures) else CRANE.payload
            ).moved(following)
        )
        elbow = tuple(map(float, add(end.r, turn(end.R, (r.L, 0.0, 0.0)))))
        bodies += [
            Body(
                f"arm{j}",
                parent,
                point=elbow,
                start=turned + angle,
                rate=rate,
                hold=True,
                **solid(arm),
            ),
            Body(
                f"case{j}",
                parent,
                point=end.r,
                start=turned + float(np.arctan2(k.s1, k.c1)),
                **solid(r.case),
            ),
            Body(
                f"piston{j}",
                f"case{j}",
                "prismatic",
                axis=(1.0, 0.0, 0.0),
                start=float(k.d) - r.l_c,
                **solid(r.piston),
            ),
        ]
        loops.append(
            Loop(
                f"pin{j}",
                Place(f"piston{j}", (r.l_c, 0.0, 0.0)),
                Place(f"arm{j}", (r.L1, 0.0, 0.0)),
            )
        )
        actuators.append(Actuator(f"c{j}", Force(), joint=f"piston{j}"))
        parent, end = f"arm{j}", following
        turned = float(np.arctan2(end.R[3], end.R[0]))
    up = unturn(CRANE.base.R, (0.0, CRANE.g, 0.0))
    return Mechanism(
        tuple(bodies), tuple(loops), tuple(actuators), tuple(-float(v) for v in up), **options
    )


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
