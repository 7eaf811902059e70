"""Newton–Euler of [Petrovic22] for parallel–serial structures in series, as its equations are written, frame by frame.

One outward sweep, one inward sweep, (24)–(34), (49)–(69); required motion (38)–(48) exchanges the joint rates alone. The package
forms the same machine as bodies, joints and loops in the ground's axes (`plants.crane.bodies`) and projects; nothing is shared.

    d        = √(L² + L₁² + 2 L L₁ cos q_j)                                             (18)
    cos q_j1 = (L + L₁ cos q_j)/d,   sin q_j1 = L₁ sin q_j/d
    cos q_j2 = (L₁ + L cos q_j)/d,   sin q_j2 = L sin q_j/d,   q_j1 + q_j2 = q_j
    dx/dq    = −L₁ sin q_j2,   dq_j1/dq = L₁ cos q_j2/d                                 (21)

A 6-D acceleration is d/dt(ᴬV), component by component, plus the weight direction g_A, so that F* = M_A A + C_A(ω) V contains G_A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.components.spatial import (
    IDENTITY,
    Body,
    Frame,
    about_z,
    add,
    cross,
    inertia_times,
    minus,
    plus,
    pose,
    scale,
    turn,
    unturn,
)
from plants.crane.segments import Revolute, Structure

ZERO6 = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class Closure(NamedTuple):
    """Geometry of the closed chain at one q_j."""

    L: object
    L1: object
    c: object
    s: object
    d: object  # pin-to-pin length x_j + x_j0
    c1: object
    s1: object
    c2: object
    s2: object

    @property
    def lever(self):
        """dx_j/dq_j (21), m/rad: the cylinder's lever arm."""
        return -self.L1 * self.s2

    @property
    def swing(self):
        """dq_j1/dq_j."""
        return self.L1 * self.c2 / self.d

    def rates(self, qd):
        """ẋ_j, q̇_j1 for q̇_j = qd (linear in qd, so they serve required rates too)."""
        return self.lever * qd, self.swing * qd

    def accelerations(self, qd, rate, acceleration):
        """d/dt of `rates(rate)` along the true motion q̇_j = qd, with d(rate)/dt = acceleration: ẍ_j, q̈_j1."""
        xd, q1d = self.rates(qd)
        q2d = qd - q1d
        lever_dot = -self.L1 * self.c2 * q2d
        swing_dot = -self.L1 * (self.s2 * q2d + self.c2 * xd / self.d) / self.d
        return (
            self.lever * acceleration + lever_dot * rate,
            self.swing * acceleration + swing_dot * rate,
        )


def close(L, L1, q) -> Closure:
    """Closed chain with link lengths L, L₁ at joint angle q_j."""
    c = np.cos(q)
    s = np.sin(q)
    d = np.sqrt(L**2 + L1**2 + 2 * L * L1 * c)
    return Closure(L, L1, c, s, d, (L + L1 * c) / d, L1 * s / d, (L1 + L * c) / d, L * s / d)


class Base(NamedTuple):
    """Motion of {B_c1}: velocity V = (v, ω), its derivative A, and the weight direction g (upwards), all in its own axes."""

    V: tuple
    A: tuple
    g: tuple


class Motion(NamedTuple):
    """Outward sweep's result: per structure the velocities and accelerations (weight included) of every frame."""

    V: list  # one dict per structure: frame name → (v, ω)
    A: list


def geometry(structures, q) -> list:
    """Per structure (closure, {frame: pose in the frame before it}); q in joint order."""
    found, i = [], 0
    for structure in structures:
        r = structure.revolute
        k = close(r.L, r.L1, q[i])
        frames = {
            "B1": pose((r.L, 0.0, 0.0), about_z(k.c, k.s)),
            "Tc": pose((r.L1, 0.0, 0.0), IDENTITY),
            "E1": r.end,
            "B3": pose((0.0, 0.0, 0.0), about_z(k.c1, k.s1)),
            "B4": pose((k.d - r.l_c, 0.0, 0.0), IDENTITY),
        }
        i += 1
        if structure.prismatic is not None:
            s = structure.prismatic
            frames["B5"] = pose(add(s.start.r, turn(s.start.R, (q[i], 0.0, 0.0))), s.start.R)
            frames["P3"], frames["E2"] = s.rod_end, s.end
            i += 1
        found.append((k, frames))
    return found


def velocity(frame: Frame, V):
    """ᴮV = ᴬU_Bᵀ ᴬV (3)."""
    v, ω = V
    return unturn(frame.R, add(v, cross(ω, frame.r))), unturn(frame.R, ω)


def force(frame: Frame, F):
    """ᴬF = ᴬU_B ᴮF (4)."""
    f = turn(frame.R, F[0])
    return f, add(turn(frame.R, F[1]), cross(frame.r, f))


def net(body: Body, A, V, ω):
    """M_A A + C_A(ω) V (7), (8): A with the weight in it, V what the Coriolis terms act on, ω the true angular velocity."""
    (a, α), (v, w) = A, V
    speed = add(v, cross(w, body.com))
    f = scale(body.mass, add(add(a, cross(α, body.com)), cross(ω, speed)))
    spun = inertia_times(body.inertia, add(α, cross(ω, w)))
    return f, add(add(spun, cross(ω, inertia_times(body.inertia, w))), cross(body.com, f))


def _carry(frame: Frame, V, A):
    """Velocity and acceleration of a frame fixed on the same body."""
    return velocity(frame, V), velocity(frame, A)


def _turning(frame: Frame, V, A, rate_true, rate, acceleration):
    """Across a revolute joint about z: `rate` adds to ω, the frame itself turns with `rate_true`."""
    (v, ω), (a, α) = _carry(frame, V, A)
    return (
        (v, [ω[0], ω[1], ω[2] + rate]),
        (
            [a[0] + rate_true * v[1], a[1] - rate_true * v[0], a[2]],
            [α[0] + rate_true * ω[1], α[1] - rate_true * ω[0], α[2] + acceleration],
        ),
    )


def _sliding(frame: Frame, V, A, rate_true, rate, acceleration):
    """Across a prismatic joint along x: `rate` adds to v, the frame's origin slides with `rate_true`."""
    (v, ω), (a, α) = _carry(frame, V, A)
    slide = cross(ω, (rate_true, 0.0, 0.0))
    return (
        ([v[0] + rate, v[1], v[2]], ω),
        ([a[0] + slide[0] + acceleration, a[1] + slide[1], a[2] + slide[2]], α),
    )


def sweep(structures, shape, base: Base, qd, rates=None, accelerations=None) -> Motion:
    """Velocities and accelerations of all frames, (24)–(34) or, with required joint rates, (38)–(48).

    shape: result of `geometry`; qd: true joint rates; rates, accelerations: those the velocities are formed with (true ones
    by default); base: motion of {B_c1}, required or true, weight direction included.
    """
    rates = qd if rates is None else rates
    accelerations = [0.0] * len(qd) if accelerations is None else accelerations
    V_c, A_c = base.V, (add(base.A[0], base.g), base.A[1])
    Vs, As, i = [], [], 0
    for structure, (k, frames) in zip(structures, shape):
        V, A = {"B0": V_c}, {"B0": A_c}
        xd_true, q1d_true = k.rates(qd[i])
        xd, q1d = k.rates(rates[i])
        xdd, q1dd = k.accelerations(qd[i], rates[i], accelerations[i])
        V["B1"], A["B1"] = _turning(frames["B1"], V_c, A_c, qd[i], rates[i], accelerations[i])
        V["B3"], A["B3"] = _turning(frames["B3"], V_c, A_c, q1d_true, q1d, q1dd)
        V["B4"], A["B4"] = _sliding(frames["B4"], V["B3"], A["B3"], xd_true, xd, xdd)
        V["Tc"], A["Tc"] = _carry(frames["Tc"], V["B1"], A["B1"])
        V["E1"], A["E1"] = _carry(frames["E1"], V["Tc"], A["Tc"])
        V_c, A_c, i = V["E1"], A["E1"], i + 1
        if structure.prismatic is not None:
            V["P2"], A["P2"] = V_c, A_c
            V["B5"], A["B5"] = _sliding(frames["B5"], V_c, A_c, qd[i], rates[i], accelerations[i])
            V["P3"], A["P3"] = _carry(frames["P3"], V["B5"], A["B5"])
            V["E2"], A["E2"] = _carry(frames["E2"], V["P3"], A["P3"])
            V_c, A_c, i = V["E2"], A["E2"], i + 1
        Vs.append(V)
        As.append(A)
    return Motion(Vs, As)


def net_forces(structures, motion: Motion, true: Motion, payload: Body | None = None) -> list:
    """F* (49) of every body, or with a required `motion` the model part of F_r* (8); ω always from the `true` motion.

    `payload` is a body in the last structure's end frame, listed there as "payload".
    """
    nets = []
    for j, structure in enumerate(structures):
        nets.append(
            {
                name: net(body, motion.A[j][name], motion.V[j][name], true.V[j][name][1])
                for segment in structure.segments
                for name, body in segment.bodies
            }
        )
    if payload is not None:
        end = end_frame(structures[-1])
        nets[-1]["payload"] = net(payload, motion.A[-1][end], motion.V[-1][end], true.V[-1][end][1])
    return nets


def end_frame(structure: Structure) -> str:
    """Name of the frame the next structure (or the environment) is attached to."""
    return "E1" if structure.prismatic is None else "E2"


def forces(structures, shape, nets, tip) -> tuple[list, list]:
    """Inward sweep: cylinder forces in joint order and per structure the dict of forces at its cuts.

    nets: F* or F_r* of every body; tip: ᴰF the end-effector exerts on its surroundings (a pair f, m).
    Theorems 3 (68) and 4 (69), prismatic segments (51)–(56).
    """
    F_E = tip
    per_joint, cuts = [], []
    for structure, (k, frames), net in reversed(list(zip(structures, shape, nets))):
        cut = {}
        if "payload" in net:
            F_E = plus(net["payload"], F_E)
        cut[end_frame(structure)] = F_E
        if structure.prismatic is not None:
            cut["P3"] = plus(net["P3"], force(frames["E2"], F_E))
            cut["B5"] = plus(net["B5"], force(frames["P3"], cut["P3"]))
            cut["P2"] = plus(net["P2"], force(frames["B5"], cut["B5"]))
            per_joint.append(cut["B5"][0][0])
            F_E = cut["E1"] = cut["P2"]
        f_c, cut["Bc"] = _revolute(structure.revolute, k, frames, net, F_E)
        per_joint.append(f_c)
        F_E = cut["Bc"]
        cuts.append(cut)
    return per_joint[::-1], cuts[::-1]


def _revolute(r: Revolute, k: Closure, frames, net, F_E):
    """f_cj (68) and ᴮᶜʲF (69)."""
    arm = plus(net["B1"], force(frames["Tc"], force(frames["E1"], F_E)))
    (fx4, fy4, _), (_, _, mz4) = net["B4"]
    mz3 = net["B3"][1][2]
    f_c = fx4 + arm[1][2] / k.lever - (mz3 + mz4 + fy4 * (k.d - r.l_c)) * k.c2 / (k.d * k.s2)
    rod = force(frames["B3"], plus(net["B3"], force(frames["B4"], net["B4"])))
    return f_c, plus(plus(net["B0"], force(frames["B1"], arm)), rod)


def loop_forces(r: Revolute, k: Closure, frames, net, F_E, f_c) -> dict:
    """Forces at the cuts inside a revolute segment, (61)–(65), each from its own body's equation of motion.

    P1: on the rod's pin (A.2); B4, B3: along the cylinder; B1: at the q_j-joint; B0, B2: the two parts of ᴮᶜʲF (66).
    """
    (fx4, fy4, _), (_, _, mz4) = net["B4"]
    b4y = (fy4 * r.l_c - net["B3"][1][2] - mz4) / k.d  # (A.14)
    P1 = ([f_c - fx4, b4y - fy4, 0.0], [0.0, 0.0, 0.0])  # (A.6), (A.7)
    to_pin = pose((r.l_c, 0.0, 0.0), IDENTITY)
    pin_in_arm = pose((r.L1, 0.0, 0.0), (k.c2, k.s2, 0.0, -k.s2, k.c2, 0.0, 0.0, 0.0, 1.0))  # (A.1)
    B4 = plus(net["B4"], force(to_pin, P1))  # (63)
    B3 = plus(net["B3"], force(frames["B4"], B4))  # (64)
    B1 = minus(
        plus(net["B1"], force(frames["Tc"], force(frames["E1"], F_E))), force(pin_in_arm, P1)
    )  # (61)
    return {
        "P1": P1,
        "B4": B4,
        "B3": B3,
        "B1": B1,
        "B0": plus(net["B0"], force(frames["B1"], B1)),  # (62)
        "B2": force(frames["B3"], B3),
    }  # (65)


def still(g) -> Base:
    """A base at rest."""
    zero = (0.0, 0.0, 0.0)
    return Base((zero, zero), (zero, zero), tuple(g))


def reach(structures, shape, R, r) -> list:
    """Pose (in W) of every body-carrying frame: per structure a dict frame → Frame, from the base pose (r, R)."""
    at = pose(r, R)
    poses = []
    for structure, (_, frames) in zip(structures, shape):
        p = {"B0": at, "B1": at.then(frames["B1"]), "B3": at.then(frames["B3"])}
        p["B4"] = p["B3"].then(frames["B4"])
        p["Tc"] = p["B1"].then(frames["Tc"])
        at = p["E1"] = p["Tc"].then(frames["E1"])
        if structure.prismatic is not None:
            p["P2"] = at
            p["B5"] = at.then(frames["B5"])
            p["P3"] = p["B5"].then(frames["P3"])
            at = p["E2"] = p["P3"].then(frames["E2"])
        poses.append(p)
    return poses


def based(crane, base=None) -> Base:
    """Base of a crane: None (at rest), or (R, V, A) as `Manipulator.around` takes it."""
    if base is None:
        return still(crane.up)
    R, V, A = base
    return Base(V, A, unturn(R, crane.upward))


def motion_forces(crane, q, qd, qdd, base=None, tip=ZERO6) -> tuple[list, list]:
    """Cylinder forces in joint order and per structure the forces at its cuts; `base` as for `based`."""
    return _forces(crane, based(crane, base), q, qd, qdd, tip)


def _forces(crane, base: Base, q, qd, qdd, tip):
    shape = geometry(crane.structures, q)
    motion = sweep(crane.structures, shape, base, qd, accelerations=qdd)
    nets = net_forces(crane.structures, motion, motion, crane.payload)
    return forces(crane.structures, shape, nets, tip or ZERO6)


def levers(crane, q) -> np.ndarray:
    """dx/dq of all cylinders, 1 of a sliding joint."""
    found, i = [], 0
    for structure in crane.structures:
        r = structure.revolute
        found += [close(r.L, r.L1, q[i]).lever, *[1.0] * (structure.prismatic is not None)]
        i += len(structure.segments)
    return np.array(found, float)


def inertia(crane, q) -> np.ndarray:
    """H(q), from unit accelerations."""
    n, rest = crane.n, still((0.0, 0.0, 0.0))
    columns = [_forces(crane, rest, q, [0.0] * n, unit, ZERO6)[0] for unit in np.eye(n).tolist()]
    return levers(crane, q)[:, None] * np.array(columns, float).T


def motion_of(crane, q, qd, f_c, base=None, tip=ZERO6) -> np.ndarray:
    """q̈ from cylinder forces: H(q) q̈ = diag(dx/dq)(f_c − f_c(q, q̇, 0))."""
    bias, _ = motion_forces(crane, q, qd, [0.0] * crane.n, base, tip)
    return np.linalg.solve(inertia(crane, q), levers(crane, q) * np.subtract(f_c, bias))
