"""Geometry of four bars and of segments, motion of a base, an identified actuator: by vectors, triangles and differences."""

from dataclasses import replace
from math import cos, hypot, pi, sin
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from plants.base_motion import BaseMotion, rotation
from plants.components.circuit import ThrottledCircuit
from plants.components.cylinder import Cylinder
from plants.crane.segments import Prismatic, Revolute, Structure
from plants.four_bar import bodies, geometry
from plants.four_bar.abilities import FourBarAbilities
from plants.four_bar.linkage import cylinder_work, drift
from plants.linear_actuator import LinearActuator
from workbench.contract.errors import InputError
from workbench.numerics.adaptive import Fixed


# ---- four bars ------------------------------------------------------------------------------------------------------------
def bars(branch="above", z_10=0.8, range_=(1.0, 2.0)):
    circuit = SimpleNamespace(range=range_)
    return SimpleNamespace(
        L_0=7.3, L_1=1.7, L_2=5.9, L_3=4.1, x_F=0.9, x_G=1.3, branch=branch, z_10=z_10, circuit=circuit,
        m_1=13.0, m_2=57.0, m_3=31.0, g=9.3, name="bars",
    )  # fmt: skip


@pytest.mark.parametrize("branch, side", [("above", 1), ("below", -1)])
@pytest.mark.parametrize("z", [0.8, -1.1, 2.0])
def test_three_bars_close_the_frame(branch, side, z):
    """L_1 e(z) + L_2 e(a_2) + L_3 e(a_3) = (L_0, 0), the coupler's end on its side of the line to E."""
    p = bars(branch)
    at = geometry.pose(p, z)
    e = lambda a: np.array([cos(a), sin(a)])
    assert 1.7 * e(z) + 5.9 * e(at.a_2) + 4.1 * e(at.a_3) == pytest.approx([7.3, 0.0], abs=1e-12)
    x, y, d = geometry.gap(p, z)
    assert [x, y] == pytest.approx(np.array([7.3, 0.0]) - 1.7 * e(z)) and d == pytest.approx(hypot(x, y))  # fmt: skip
    assert side * (x * sin(at.a_2) - y * cos(at.a_2)) > 0
    assert geometry.span(p) == pytest.approx((1.8, 10.0))
    assert geometry.span(SimpleNamespace(L_2=4.1, L_3=5.9)) == pytest.approx((1.8, 10.0))


@pytest.mark.parametrize("z", [0.8, -1.1, 2.0])
def test_the_cylinder_between_crank_and_ground(z):
    """From (−x_G, 0) to F on the crank; its lever arm is its slope."""
    s = lambda z: hypot(0.9 * cos(z) + 1.3, 0.9 * sin(z))
    assert geometry.length(bars(), z) == pytest.approx(s(z))
    assert geometry.lever(bars(), z) == pytest.approx((s(z + 1e-6) - s(z - 1e-6)) / 2e-6, rel=1e-8)


def at_length(s):
    return float(np.arccos((s * s - 0.81 - 1.69) / (2 * 0.9 * 1.3)))


@pytest.mark.parametrize(
    "given, least, most",
    [
        ((1.0, 2.0), at_length(2.0), at_length(1.0)),
        ((0.1, 2.0), at_length(2.0), pi),
        ((1.0, 9.0), 0.0, at_length(1.0)),
    ],
)
def test_crank_angles_within_the_stroke(given, least, most):
    """The longer the cylinder, the smaller the angle; a stroke beyond the dead points ends there; the other side is its mirror."""
    assert geometry.crank_range(bars(range_=given)) == pytest.approx((least, most))
    assert geometry.crank_range(bars(z_10=-0.8, range_=given)) == pytest.approx((-most, -least))


def test_crank_angles_at_which_the_loop_closes():
    """Where coupler and rocker are in line, folded or stretched, before the cylinder is at its end."""
    p = bars(range_=(0.41, 2.19))
    p.L_2, p.L_3 = 6.5, 0.7
    at_gap = lambda d: float(np.arccos((7.3**2 + 1.7**2 - d * d) / (2 * 7.3 * 1.7)))
    assert geometry.crank_range(p) == pytest.approx((at_gap(5.8), at_gap(7.2)))


def test_bars_as_bodies():
    """Slender beams m L²/12 on their joints; the pin at E; the cylinder from G to F."""
    own = bodies._bar("b", "a", 1.7, 5.9, 57.0, 0.4)
    J = 57.0 * 5.9**2 / 12
    assert (own.name, own.parent, own.point, own.mass, own.com) == ("b", "a", (1.7, 0.0, 0.0), 57.0, (2.95, 0.0, 0.0))  # fmt: skip
    assert own.inertia == pytest.approx((J, J, J, 0, 0, 0)) and (own.start, own.hold) == (
        0.4,
        False,
    )
    loop = bodies._at_E(bars())
    assert (loop.a.body, loop.a.point, loop.b.body, loop.b.point) == ("rocker", (4.1, 0, 0), "ground", (7.3, 0, 0))  # fmt: skip
    for place in (loop.a, loop.b):
        assert (place.axis, place.normal) == ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    cylinder = bodies._cylinder(bars())
    assert (cylinder.a.point, cylinder.b.point, cylinder.b.body) == ((-1.3, 0, 0), (0.9, 0, 0), "crank")  # fmt: skip
    at = geometry.pose(bars(), 0.8)
    assert bodies._relative(bars()) == pytest.approx((at.a_2 - 0.8, at.a_3 - at.a_2))
    assert bodies.ROWS == (0, 1)
    assert FourBarAbilities.fixed == Fixed(1e-3) and FourBarAbilities.loop_rate == 8.0


# ---- segments -------------------------------------------------------------------------------------------------------------
CYLINDER = Cylinder(0.08, 0.045, 0.5)
SEGMENT = Revolute("lift", 1.3, 0.45, 1.05, 0.7, CYLINDER)


@pytest.mark.parametrize("q", [-0.7, -2.1])
def test_a_cylinder_over_a_joint(q):
    """Links of 1.3 and 0.45 m, the second turned by q against the first: pin to pin, slope, and back."""
    d = lambda q: hypot(1.3 + 0.45 * cos(q), 0.45 * sin(q))
    assert SEGMENT.length(q) == pytest.approx(d(q))
    assert SEGMENT.lever(q) == pytest.approx((d(q + 1e-6) - d(q - 1e-6)) / 2e-6, rel=1e-8)
    assert SEGMENT.angle(d(q)) == pytest.approx(q)
    assert np.isnan(SEGMENT.angle(1.76)) and np.isnan(SEGMENT.angle(0.84))


@pytest.mark.parametrize(
    "x0, stroke, said",
    [
        (0.85, 0.5, "x0: the linkage cannot close with the cylinder retracted: 0.85 m pin to pin is outside (0.85, 1.75) m"),
        (1.75, 0.5, "x0: the linkage cannot close with the cylinder retracted: 1.75 m pin to pin is outside (0.85, 1.75) m"),
        (1.25, 0.5, "cylinder.stroke: 0.5 m is beyond the linkage: pin to pin it allows at most 1.7500 m"),
    ],
)  # fmt: skip
def test_a_linkage_closes_over_the_whole_stroke(x0, stroke, said):
    with pytest.raises(InputError) as refused:
        replace(SEGMENT, x0=x0)
    assert refused.value.message.startswith(said)
    for edge in (0.75, 1.75):
        with pytest.raises(InputError, match=r"is outside \(0.75, 1.75\) m"):
            replace(SEGMENT, L=1.25, L1=0.5, x0=edge)
    for fine in (0.8501, 1.2499):
        assert replace(SEGMENT, x0=fine).x0 == fine


def test_segments_of_a_structure():
    slide = Prismatic("out", CYLINDER)
    both, one = Structure("a", SEGMENT, slide), Structure("b", SEGMENT)
    assert one.segments == (SEGMENT,) and both.segments == (SEGMENT, slide)
    assert one.frames == (SEGMENT.end,)
    assert both.frames == (SEGMENT.end, slide.start, slide.rod_end, slide.end)
    assert [name for name, _ in (*SEGMENT.bodies, *slide.bodies)] == ["B0", "B1", "B3", "B4", "P2", "B5", "P3"]  # fmt: skip
    assert SEGMENT.slides is False and slide.slides is True


# ---- a base that moves ----------------------------------------------------------------------------------------------------
class Path:
    """a + b t + c t², as many components as these have, with two derivatives."""

    def __init__(self, a, b, c):
        self.terms = [np.array(v, float) for v in (a, b, c)]

    def sample(self, t, order):
        t = np.asarray(t, float)[:, None]
        a, b, c = self.terms
        return np.stack([a + b * t + c * t * t, b + 2 * c * t, 2 * c + 0 * t])[: order + 1]


PLACE = Path((0.3, -0.5, 0.2), (0.7, 0.4, -0.9), (-0.2, 0.8, 0.5))
ANGLES = Path((0.4, -0.7, 1.1), (0.9, -0.6, 0.5), (0.3, 0.2, -0.8))
AT_REST = Rotation.from_rotvec([0.5, -0.3, 0.8]).as_matrix()
PLANT = SimpleNamespace(upward=(0.3, 9.7, -0.4), base=SimpleNamespace(R=tuple(AT_REST.ravel())))


def turned(t):
    a, b, c = ANGLES.sample([t], 0)[0, 0]
    return Rotation.from_euler("ZYX", [c, b, a]).as_matrix() @ AT_REST


def test_a_rotation_is_about_x_then_y_then_z():
    R = rotation(np.array([0.4]), np.array([-0.7]), np.array([1.1]))
    assert R[0] == pytest.approx(Rotation.from_euler("ZYX", [1.1, -0.7, 0.4]).as_matrix())


@pytest.mark.parametrize("t", [0.0, 0.7])
def test_disturbances_of_a_base_are_those_of_its_motion(t):
    """V = Rᵀ ṗ, ω from Ṙ, A and α their derivatives, the weight's direction: all in the base's axes."""
    h = 1e-4
    vee = lambda S: np.array([S[2, 1], S[0, 2], S[1, 0]])
    ω = lambda t: vee(turned(t).T @ (turned(t + h) - turned(t - h)) / (2 * h))
    V = lambda t: turned(t).T @ PLACE.sample([t], 1)[1, 0]
    wanted = [turned(t).T @ PLANT.upward, V(t), ω(t), (V(t + h) - V(t - h)) / (2 * h), (ω(t + h) - ω(t - h)) / (2 * h)]  # fmt: skip
    motion = BaseMotion(PLACE, ANGLES)
    found = motion.at(PLANT, [t, t + 1])
    assert found.shape == (5, 2, 3)
    assert found[:, 0] == pytest.approx(np.array(wanted), abs=1e-6)
    signals = motion.disturbances(PLANT)
    names = [f"{stem}{axis}" for stem in ("g_", "V_b", "ω_b", "A_b", "α_b") for axis in "xyz"]
    assert list(signals) == names
    values = [float(signals[name].sample([t], 0)[0, 0, 0]) for name in names]
    assert values == pytest.approx(list(np.ravel(wanted)), abs=1e-6)


def test_a_base_that_only_moves_or_only_turns():
    moves, turns = BaseMotion(PLACE).at(PLANT, [0.7]), BaseMotion(None, ANGLES).at(PLANT, [0.7])
    assert moves[1, 0] == pytest.approx(AT_REST.T @ PLACE.sample([0.7], 1)[1, 0])
    assert moves[2] == pytest.approx(0.0) and moves[4] == pytest.approx(0.0)
    assert turns[1] == pytest.approx(0.0) and turns[3] == pytest.approx(0.0) and turns[2].any()


def test_bases_have_three_components_and_values_only():
    two = Path((1, 2), (3, 4), (5, 6))
    for motion, name in ((BaseMotion(two), "position"), (BaseMotion(PLACE, two), "angles")):
        with pytest.raises(InputError, match=f"base motion: {name} needs three components"):
            motion.disturbances(PLANT)
    part = BaseMotion(PLACE).disturbances(PLANT)["V_bx"]
    with pytest.raises(InputError, match="only values are known here"):
        part.sample([0.0], 1)


# ---- an identified actuator -----------------------------------------------------------------------------------------------
def test_an_actuator_without_numbers_is_the_identified_one():
    """[Alfayad16] (27), (28): lags in ms, the compliance in µm/s a newton behind 0.43 µs."""
    own = LinearActuator()
    assert (own.K, own.X_max) == (115.4, 0.5e-3)
    assert [1e3 * v for v in (own.λ_1, own.λ_2, own.λ_3)] == pytest.approx([1.14, 1.14, 1.11])
    assert (1e6 * own.K_F, 1e6 * own.λ_F) == pytest.approx((-6.3, 0.43))


def test_an_integrator_behind_three_lags():
    own = LinearActuator(K=110.0, λ_1=2e-3, λ_2=3e-3, λ_3=5e-3, K_F=-7e-6, λ_F=4e-4, X_max=6e-4)
    x, u = [0.3, -0.2, 0.5, -0.1, 0.04], [2e-3, 900.0]
    wanted = [(0.22 - 0.3) / 2e-3, 0.5 / 3e-3, -0.7 / 5e-3, (-6.3e-3 + 0.1) / 4e-4, 0.4]
    assert own.rhs(0.0, x, u) == pytest.approx(wanted)
    assert own.out(0.0, x) == pytest.approx([0.04, 0.4])
    full = replace(own, measured="states")
    assert full.out(0.0, x) == pytest.approx([0.04, 0.4, 0.3, -0.2, 0.5, -0.1])
    assert [s.name for s in full.outputs] == ["Y", "dY", "v_1", "v_2", "v_3", "v_F"]
    assert [s.name for s in own.outputs] == ["Y", "dY"] and own.initial() == [0.0] * 5
    assert own.limits() == {"X": (-6e-4, 6e-4)} and own.velocity_gain == 110.0
    assert own.adaptive.errors == (1e-8, 1e-8, 1e-8, 1e-8, 1e-11)


def test_work_of_the_cylinder_and_what_the_bars_gain():
    """Powers less what oil keeps more; potential and kinetic energy less that work."""
    names = ThrottledCircuit().power_names()
    columns = {f"E_{name}": np.array([0.0, 2.0 + k, 5.0 * k]) for k, name in enumerate(names)}
    columns |= {"E_oil": np.array([7.0, 9.5, 4.0]), "E_pot": np.array([3.0, 1.0, 8.0])}
    columns["E_kin"] = np.array([0.5, 6.0, 2.0])
    log = SimpleNamespace(array=columns.get)
    brought = np.array([0.0, 12.0 + 15.0, 75.0])
    work = brought - [0.0, 2.5, -3.0]
    assert cylinder_work(log) == pytest.approx(work)
    assert drift(log) == pytest.approx(np.array([0.0, 3.5, 6.5]) - work)
