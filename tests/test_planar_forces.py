"""Machines with planar loops against pinocchio: the tree there, its loops as constraints of ours on its own Jacobians.

    M a + h = τ + J_cᵀ λ,   J_c a + γ = 0          accelerations
    f = (S N)⁻ᵀ Nᵀ (M a + h + D v)                 forces of the cylinders for a motion,  J_c N = 0

M, h, γ, J_c and the lengths' S are pinocchio's; nothing of ours but numbers of bodies and pins goes in.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mechanisms import random_inertia
from test_multibody_trees import in_pinocchio, theirs

from plants import machine
from plants.multibody import Actuator, Body, Force, Loop, Mechanism, Pin, Place, required
from workbench import load
from workbench.contract.errors import InputError

pin = pytest.importorskip("pinocchio")
EXAMPLES = Path(__file__).parents[1] / "examples"
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


# ---- random trees with random planar loops -----------------------------------------------------------------------------
def turned(angle, point):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])


class Builder:
    """Links on a branching tree; each is turned by a cylinder directly, on the middle pin of two brackets, or through a crank."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.bodies, self.loops, self.actuators = [], [], []

    def solid(self):
        mass, inertia = random_inertia(self.rng)
        com = tuple(map(float, self.rng.normal(size=2) * 0.3))
        return {"mass": mass, "com": com, "inertia": inertia}

    def body(self, name, parent, at, start, hold=False):
        """A body on a revolute joint; its axis is z or against it, its frame parallel to its parent's at zero."""
        sign = float(self.rng.choice([-1.0, 1.0]))
        damping = float(self.rng.uniform(0.0, 3.0))
        self.bodies.append(
            Body(
                name,
                parent,
                point=tuple(map(float, at)),
                axis=(0.0, 0.0, sign * 2.0),
                start=sign * start,
                hold=hold,
                damping=damping,
                **self.solid(),
            )
        )

    def link(self, k):
        parent = "ground" if k == 0 else f"link{self.rng.integers(max(0, k - 2), k)}"
        joint = self.rng.uniform((0.9, -0.2), (1.3, 0.2))
        angle = float(self.rng.uniform(-0.7, 0.7))
        self.body(f"link{k}", parent, joint, angle, hold=True)
        return parent, joint, angle

    def direct(self, k, parent, joint, angle):
        foot, rod = joint + (-0.5, -0.4), self.rng.uniform((0.3, 0.1), (0.5, 0.3))
        self.cylinder(k, Pin(parent, tuple(foot)), Pin(f"link{k}", tuple(rod)))

    def brackets(self, k, parent, joint, angle):
        """Two brackets between parent and link, the cylinder on the pin between them, as the PATU has them."""
        eye = self.rng.uniform((-0.2, 0.25), (0.0, 0.35))
        self.dyad(k, parent, joint + (-0.35, 0.0), joint + turned(angle, eye), eye)
        case = joint + (-1.2, 0.3)
        self.cylinder(k, Pin(parent, tuple(case)), Pin(f"a{k}", (0.4, 0.0, 0.0)))

    def crank(self, k, parent, joint, angle):
        """A crank and a rod, the cylinder on a point of the crank beside its pins, as a bell crank."""
        eye = self.rng.uniform((0.2, 0.2), (0.4, 0.4))
        self.dyad(k, parent, joint + (-0.4, -0.1), joint + turned(angle, eye), eye)
        case = joint + (-0.9, 0.5)
        self.cylinder(k, Pin(parent, tuple(case)), Pin(f"a{k}", (0.1, 0.25, 0.0)))

    def dyad(self, k, parent, foot, end, eye):
        """Two bars from `foot` on the parent to `end`, the link's pin `eye`; their lengths as the gap wants."""
        r = 0.4
        gap = end - foot
        reach = float(np.hypot(*gap))
        length = float(np.sqrt(r * r + reach * reach - 2 * r * reach * np.cos(1.0)))
        tilt = float(np.arctan2(gap[1], gap[0])) + 1.0
        middle = foot + r * np.array([np.cos(tilt), np.sin(tilt)])
        rest = end - middle
        self.body(f"a{k}", parent, foot, tilt)
        self.body(f"b{k}", f"a{k}", (r, 0.0), float(np.arctan2(rest[1], rest[0])) - tilt)
        self.loops.append(
            Loop(f"c{k}", Place(f"b{k}", (length, 0.0)), Place(f"link{k}", tuple(eye)))
        )

    def cylinder(self, k, a, b):
        self.actuators.append(Actuator(f"d{k}", Force(), a, b))

    def made(self, n) -> Mechanism:
        kinds = [self.direct, self.brackets, self.crank]
        for k in range(n):
            kinds[self.rng.integers(3)](k, *self.link(k))
        order = list(self.rng.permutation(len(self.bodies)))
        bodies = tuple(self.bodies[i] for i in order)
        return Mechanism(
            bodies,
            tuple(self.loops),
            tuple(self.actuators),
            gravity=tuple(map(float, self.rng.normal(size=3) * 5.0)),
            method="minimal",
        )


def drawn(seed) -> Mechanism:
    """The first that starts away from dead points, of those from this seed on."""
    for k in range(20):
        try:
            return Builder(100 * seed + k).made(2 + seed % 4)
        except InputError:
            continue
    raise AssertionError("no random machine could be built")


MACHINES = {f"random {seed}": (lambda seed=seed: drawn(seed)) for seed in range(12)} | {
    "patu-655": lambda: machine("patu-655").plant,
    "excavator": lambda: machine("excavator").plant,
    "two cylinders": lambda: load(EXAMPLES / "two-cylinders.yaml").plant,
}


# ---- the same in pinocchio ---------------------------------------------------------------------------------------------
class Theirs:
    """The machine at positions z and rates of ours: M, h, J_c, γ, S and lengths by pinocchio, in the order of our rates."""

    def __init__(self, mechanism, z, rates):
        self.m, model = mechanism, in_pinocchio(mechanism)
        data = model.createData()
        q, v, self.which = theirs(mechanism, model, z, rates)
        self.back = np.argsort(self.which)
        pin.crba(model, data, q)
        full = np.triu(data.M) + np.triu(data.M, 1).T
        self.M = full[np.ix_(self.back, self.back)]
        self.h = pin.nonLinearEffects(model, data, q, v)[self.back]
        self.D = np.diag([mechanism.bodies[j].damping for j in mechanism.tree.body_of])
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        pin.computeJointJacobians(model, data, q)
        self.model, self.data = model, data
        self.J_c, self.γ, self.open = [], [], []
        for loop in mechanism.loops:
            (p, J_p, a_p), (r, J_r, a_r) = self.point(loop.a), self.point(loop.b)
            self.J_c += list((J_r - J_p)[:2])
            self.γ += list((a_r - a_p)[:2])
            self.open += list(r - p)
        n = mechanism.tree.n_v
        self.J_c = np.array(self.J_c).reshape(-1, n)
        self.lengths, self.S = [], []
        for actuator in mechanism.actuators:
            (p, J_p, _), (r, J_r, _) = self.point(actuator.a), self.point(actuator.b)
            s = np.linalg.norm(r - p)
            self.lengths.append(s)
            self.S.append((r - p) / s @ (J_r - J_p))
        self.S = np.array(self.S)

    def point(self, place):
        """(position, Jacobian by our rates, acceleration without joint accelerations) of a point of a body."""
        n = self.m.tree.n_v
        j = self.m.number(place.body)
        offset = np.array(place.point, float)
        while j >= 0 and self.m.bodies[j].joint == "fixed":
            offset = offset + np.array(self.m.bodies[j].point)
            j = self.m.tree.parent[j]
        if j < 0:
            return offset, np.zeros((3, n)), np.zeros(3)
        joint = self.model.getJointId(self.m.bodies[j].name)
        pose = self.data.oMi[joint]
        arm = pose.rotation @ offset
        J = pin.getJointJacobian(self.model, self.data, joint, WORLD)
        J = J[:3] - pin.skew(arm) @ J[3:]
        spin = pin.getVelocity(self.model, self.data, joint, WORLD).angular
        a = pin.getClassicalAcceleration(self.model, self.data, joint, WORLD)
        return (
            pose.translation + arm,
            J[:, self.back],
            a.linear + np.cross(a.angular, arm) + np.cross(spin, np.cross(spin, arm)),
        )

    def accelerations(self, forces, rates):
        """a under forces of the actuators, from M, J_c and γ."""
        n, many = len(self.M), len(self.J_c)
        K = np.block([[self.M, -self.J_c.T], [self.J_c, np.zeros((many, many))]])
        load = self.S.T @ forces - self.D @ rates - self.h
        return np.linalg.solve(K, np.concatenate([load, -np.array(self.γ)]))[:n]

    def free(self) -> np.ndarray:
        """N with J_c N = 0 and the independent rates of ours as they are."""
        own = self.m.own[1]
        others = [i for i in range(len(self.M)) if i not in own]
        N = np.zeros((len(self.M), len(own)))
        N[own] = np.eye(len(own))
        if others:
            N[others] = -np.linalg.solve(self.J_c[:, others], self.J_c[:, own])
        return N


def states(mechanism, seed):
    """A few (q, q̇) near the start that the loops can take."""
    rng = np.random.default_rng(seed + 50)
    q = np.array([float(v) for v in mechanism.initial()[: len(mechanism.own[0])]])
    for _ in range(3):
        yield q + 0.02 * rng.normal(size=len(q)), rng.normal(size=len(q)), rng


every = pytest.mark.parametrize("name", MACHINES)


@every
def test_forces_are_those_of_pinocchio(name):
    """Required forces at a random motion, and holding forces at rest, to 1e-9 of the largest."""
    mechanism = MACHINES[name]()
    for q, qd, rng in states(mechanism, 1):
        qdd = rng.normal(size=len(q))
        for rates, accelerations in ((qd, qdd), (0.0 * qd, 0.0 * qd)):
            at = required.whole(mechanism, list(q), list(rates))
            their = Theirs(mechanism, at.z, at.rates)
            assert np.abs(their.open).max(initial=0.0) < 1e-11
            N = their.free()
            assert np.abs(N @ rates - np.array(at.rates, float)).max() < 1e-9
            _, wanted = required.required(mechanism, at, list(rates), list(accelerations))
            nets = required.net_wrenches(mechanism, at.motion, wanted)
            ours = required.projected(at.B, required.joint_forces(mechanism, at.motion, nets))
            bias = np.zeros(len(N))
            if len(their.J_c):
                others = [i for i in range(len(N)) if i not in mechanism.own[1]]
                bias[others] = -np.linalg.solve(their.J_c[:, others], their.γ)
            want = N.T @ (their.M @ (N @ accelerations + bias) + their.h)
            assert np.abs(np.array(ours, float) - want).max() < 1e-9 * np.abs(want).max()
            lines = required.lines(mechanism, at)
            arms = np.array(lines.by_coordinate, float)
            assert np.abs(arms - their.S @ N).max() < 1e-9 * np.abs(arms).max()
            assert np.array(lines.s, float) == pytest.approx(their.lengths, rel=1e-12)


@every
def test_motion_is_that_of_pinocchio(name):
    mechanism = MACHINES[name]()
    n = len(mechanism.own[0])
    for q, qd, rng in states(mechanism, 2):
        x = [*q, *qd, *mechanism.initial()[2 * n :]]
        u = list(map(float, 5.0 * rng.normal(size=len(mechanism.inputs))))
        z, rates, _ = mechanism.split(x)
        log = dict(zip((s.name for s in mechanism.monitors), mechanism.monitor(0.0, x, u)))
        forces = np.array([float(log[f"f_{a.name}"]) for a in mechanism.actuators])
        their = Theirs(mechanism, z, rates)
        want = their.accelerations(forces, np.array(rates, float))[mechanism.own[1]]
        ours = np.array(mechanism.rhs(0.0, x, u), float)[n : 2 * n]
        assert np.abs(ours - want).max() < 1e-9 * np.abs(want).max()


def slipped(mechanism, name, **changes):
    """The mechanism with one body changed."""
    bodies = (replace(b, **changes) if b.name == name else b for b in mechanism.bodies)
    return replace(mechanism, bodies=tuple(bodies))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("bracket_2", {"point": (-0.457226402, 0.0425, 0.0)}),
        ("tilt", {"mass": 157.871069 * (1 + 1e-6)}),
        ("bracket_1", {"inertia": (0.2687,) * 3 + (0.0,) * 3}),
    ],
)
def test_a_slip_would_be_seen(name, changes):
    """A pin 1 µm off, a mass 1 ppm off, an inertia 0.2 ‰ off: more than the tests above allow."""
    mechanism = MACHINES["patu-655"]()
    q, qdd = [0.1, -0.5], [0.7, -1.1]
    at = required.whole(mechanism, q, [0.0, 0.0])
    their = Theirs(slipped(mechanism, name, **changes), at.z, at.rates)
    N = their.free()
    _, wanted = required.required(mechanism, at, [0.0, 0.0], qdd)
    nets = required.net_wrenches(mechanism, at.motion, wanted)
    ours = required.projected(at.B, required.joint_forces(mechanism, at.motion, nets))
    want = N.T @ (their.M @ (N @ qdd) + their.h)
    off = np.abs(np.array(ours, float) - want).max() / np.abs(want).max()
    assert np.abs(their.open).max() > 1e-7 or off > 1e-9
