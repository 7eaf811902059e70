"""The manipulator's forces and accelerations against pinocchio and MuJoCo: random machines in 3-D on moving bases.

Neither oracle knows (68), (69) or the derivatives of the closure: they cut the loops and close them with constraints.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pinocchio", reason="pin is not installed")
pytest.importorskip("mujoco", reason="mujoco is not installed")

from oracles.mujoco_machine import MujocoMachine  # noqa: E402
from oracles.pinocchio_machine import PinocchioMachine  # noqa: E402
from oracles.random_machines import random_base, random_machine, random_state, random_tip  # noqa: E402

from plants.components.spatial import Body, inertia_times, turn, unturn  # noqa: E402
from plants.crane.segments import Prismatic  # noqa: E402
from plants.multibody import planar_rates, required  # noqa: E402
from plants.multibody.tree import ZERO6  # noqa: E402

TOLERANCE = 1e-9
ORACLES = (PinocchioMachine, MujocoMachine)
# Every machine of one to three structures with and without extensions at each place, then free draws.
LAYOUTS = [
    (False,),
    (True,),
    (False, False),
    (True, False),
    (False, True),
    (True, True),
    (False, False, False),
    (True, True, True),
    (True, False, True),
    (False, True, False),
]
CASES = [(seed, LAYOUTS[seed % len(LAYOUTS)]) for seed in range(30)]


def draw(seed, layout):
    """Machine, state (q, q̇, q̈), base and tip; the first ten seeds empty-handed, every fourth case on its own base."""
    rng = np.random.default_rng(1000 + seed)
    machine = random_machine(
        rng, len(layout), layout, payload=0.0 if seed < 10 else rng.uniform(20, 475)
    )
    base = None if seed % 4 == 0 else random_base(rng)
    tip = None if seed % 3 == 0 else random_tip(rng)
    return machine, random_state(rng, machine), base, tip


def gap(found, expected):
    """Largest difference over the largest expected entry."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    return abs(found - expected).max() / abs(expected).max()


def force_gaps(plant, machine, state, base, tip, oracle=PinocchioMachine):
    """Relative gaps of cylinder forces, reaction force and reaction moment between plant and an oracle of machine."""
    f, (f_base, m_base) = plant.inverse_dynamics(*state, base, tip)
    f_o, (f_base_o, m_base_o) = oracle(machine).inverse_dynamics(*state, base, tip)
    return gap(f, f_o), gap(f_base, f_base_o), gap(m_base, m_base_o)


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("seed, layout", CASES)
def test_cylinder_forces_and_reaction(seed, layout, oracle):
    """Theorems 3 (68) and 4 (69), prismatic segments (51)–(56), and every velocity and acceleration behind them."""
    machine, state, base, tip = draw(seed, layout)
    assert max(force_gaps(machine, machine, state, base, tip, oracle)) < TOLERANCE


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("seed, layout", CASES)
def test_forward_dynamics(seed, layout, oracle):
    """q̈ under arbitrary cylinder forces (not those of a known motion) from the oracles' constrained equations."""
    machine, (q, qd, _), base, tip = draw(seed, layout)
    f_c = [float(f) for f in np.random.default_rng(seed).normal(size=len(q)) * 40e3]
    expected = oracle(machine).forward_dynamics(q, qd, f_c, base, tip)
    assert gap(machine.forward_dynamics(q, qd, f_c, base, tip), expected) < TOLERANCE


@pytest.mark.parametrize("seed, layout", CASES[10:20])
def test_oracles_agree_with_each_other(seed, layout):
    """Pinocchio and MuJoCo share no line: what they agree on is the machine, not a habit of one of them."""
    machine, state, base, tip = draw(seed, layout)
    one, two = PinocchioMachine(machine), MujocoMachine(machine)
    f, (f_base, m_base) = one.inverse_dynamics(*state, base, tip)
    g, (g_base, n_base) = two.inverse_dynamics(*state, base, tip)
    assert max(gap(f, g), gap(f_base, g_base), gap(m_base, n_base)) < 1e-11
    q, qd, qdd = state
    assert max(gap(o.forward_dynamics(q, qd, f, base, tip), qdd) for o in (one, two)) < 1e-9


@pytest.mark.parametrize("oracle", ORACLES)
def test_massless_parts(oracle):
    """A machine with links, cases and rods that weigh nothing, as a parameter file may leave them."""
    machine, state, base, tip = draw(25, LAYOUTS[7])
    nothing = Body()
    light = replace(
        machine,
        structures=tuple(
            replace(
                s,
                revolute=replace(s.revolute, link=nothing, case=nothing),
                prismatic=replace(s.prismatic, rod=nothing),
            )
            for s in machine.structures
        ),
    )
    assert max(force_gaps(light, light, state, base, tip, oracle)) < TOLERANCE


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("layout", [(True,), (True, True), (False, True), (True, False, True)])
def test_locked_extensions(layout, oracle):
    """A machine with its extensions frozen into links carries the forces of the free one at ẋ_t = ẍ_t = 0."""
    machine, (q, qd, qdd), base, tip = draw(29, layout)
    slides = [isinstance(s, Prismatic) for s in machine.segments]
    at = {s.name: q_i for s, q_i, slide in zip(machine.segments, q, slides) if slide}
    qd, qdd = ([0.0 if slide else e for e, slide in zip(rates, slides)] for rates in (qd, qdd))
    turning = [[e for e, slide in zip(values, slides) if not slide] for values in (q, qd, qdd)]
    f, (f_base, m_base) = machine.locked(**at).inverse_dynamics(*turning, base, tip)
    f_o, (f_base_o, m_base_o) = oracle(machine).inverse_dynamics(q, qd, qdd, base, tip)
    f_o = [e for e, slide in zip(f_o, slides) if not slide]
    assert max(gap(f, f_o), gap(f_base, f_base_o), gap(m_base, m_base_o)) < TOLERANCE


def heavier(machine, part, factor):
    """The machine with one body of its first revolute segment scaled."""
    first = machine.structures[0]
    body = getattr(first.revolute, part)
    scaled = Body(body.mass * factor, body.com, tuple(factor * e for e in body.inertia))
    return with_revolute(machine, **{part: scaled})


def with_revolute(machine, **changes):
    """The machine with fields of its first revolute segment exchanged."""
    first = machine.structures[0]
    return replace(
        machine,
        structures=(
            replace(first, revolute=replace(first.revolute, **changes)),
            *machine.structures[1:],
        ),
    )


PARTS = ("arm", "case", "piston")


@pytest.mark.parametrize("part", PARTS)
def test_a_hundred_thousandth_of_a_mass_is_seen(part):
    """The comparison resolves what the paper's own check (0.2 %) cannot: 1e-5 of any body."""
    machine, state, base, tip = draw(17, LAYOUTS[7])
    wrong = heavier(machine, part, 1 + 1e-5)
    assert force_gaps(wrong, machine, state, base, tip)[0] > TOLERANCE
    assert force_gaps(wrong, wrong, state, base, tip)[0] < TOLERANCE


def test_a_missing_lever_arm_of_the_rod_is_seen():
    """y_fᵀ(B4 F*)(x_j + x_j0 − l_c) in (68) through l_c: the rod's mass a micrometre off."""
    machine, state, base, tip = draw(12, LAYOUTS[2])
    wrong = with_revolute(machine, l_c=machine.structures[0].revolute.l_c + 1e-6)
    assert force_gaps(wrong, machine, state, base, tip)[0] > TOLERANCE


REAL_NET = required.net_wrench


def without_coriolis(body, motion, wanted, j, gravity):
    """M_A A alone."""
    still = [ZERO6] * len(motion.Z)
    return REAL_NET(body, motion._replace(Z=still), wanted._replace(Z=still), j, gravity)


def flipped_coriolis(body, *at):
    """M_A A − C_A(ω) V."""
    (f0, m0), (f, m) = without_coriolis(body, *at), REAL_NET(body, *at)
    return [2 * a - b for a, b in zip(f0, f)], [2 * a - b for a, b in zip(m0, m)]


def without_gyroscopic_moment(body, motion, wanted, j, gravity):
    """ω × J ω left out, the part of C_A(ω) V that turns a body about its own centre of mass."""
    f, m = REAL_NET(body, motion, wanted, j, gravity)
    R, ω = motion.R[j], motion.Z[j][1]
    spun = turn(R, inertia_times(body.inertia, unturn(R, ω)))
    return f, [a - b for a, b in zip(m, np.cross(ω, spun))]


@pytest.mark.parametrize("fault", [without_coriolis, flipped_coriolis, without_gyroscopic_moment])
@pytest.mark.parametrize("oracle", ORACLES)
def test_a_wrong_velocity_term_is_seen(monkeypatch, fault, oracle):
    """Dropping or flipping C_A(ω) V, or its gyroscopic moment alone, breaks forces and moment of either comparison."""
    machine, state, base, tip = draw(13, LAYOUTS[3])
    assert max(force_gaps(machine, machine, state, base, tip, oracle)) < TOLERANCE
    monkeypatch.setattr(required, "net_wrench", fault)
    f, f_base, m_base = force_gaps(machine, machine, state, base, tip, oracle)
    assert min(f, m_base) > 1e3 * TOLERANCE
    # A gyroscopic moment takes no force to carry: the one reaction this fault may not touch.
    assert (f_base < TOLERANCE) == (fault is without_gyroscopic_moment)


def test_a_wrong_passive_acceleration_is_seen(monkeypatch):
    """Leaving out (Φ_z)˙ ż of the closed loops breaks the forces."""
    machine, state, base, tip = draw(16, LAYOUTS[6])
    none = lambda mechanism, z, rates, wanted: [0.0] * (2 * len(mechanism.closings))
    monkeypatch.setattr(planar_rates, "biases", none)
    assert force_gaps(machine, machine, state, base, tip)[0] > 1e3 * TOLERANCE


def test_a_wrong_sign_of_the_tip_wrench_is_seen():
    """ᴰF is what the end-effector exerts on its surroundings, not what it feels."""
    machine, state, base, tip = draw(14, LAYOUTS[4])
    opposite = tuple([-e for e in part] for part in tip)
    f, _ = machine.inverse_dynamics(*state, base, opposite)
    g, _ = PinocchioMachine(machine).inverse_dynamics(*state, base, tip)
    assert gap(f, g) > 1e3 * TOLERANCE


def test_cases_cover_the_ground():
    """Both branches of the triangle, hands empty and full, still and moving bases, with and without a tip wrench."""
    cases = [draw(*case) for case in CASES]
    first = [state[0][0] for _, state, _, _ in cases]
    loads = [machine.payload.mass for machine, *_ in cases]
    assert min(first) < -1 and max(first) > 1
    assert min(loads) == 0 and max(loads) > 400
    assert len({(base is None, tip is None) for *_, base, tip in cases}) == 4
    for machine, (q, _, _), _, _ in cases:
        machine.check_pose(q)
