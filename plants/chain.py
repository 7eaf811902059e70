"""Newton–Euler for parallel–serial structures in series: one outward sweep, one inward sweep, true or required.

The same text gives true motion and forces (24)–(34), (49)–(69) and required ones (38)–(48), (70)–(77): the required sweep
only exchanges the joint rates; frames always turn with the true rates and C_A always sees the true ω.

A 6-D acceleration is d/dt(ᴬV), component by component, plus the weight direction g_A (an accelerometer's reading), so that
F* = M_A A + C_A(ω) V contains G_A.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, final

from plants.components.cylinder import Cylinder
from plants.components.linkage import Closure, close
from plants.components.spatial import (
    IDENTITY,
    Body,
    Frame,
    about_z,
    add,
    cross,
    dot,
    minus,
    plus,
    pose,
    turn,
)
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, positive


@final
@dataclass(frozen=True)
class Revolute:
    """Revolute closed-chain segment: link L_j, link L_j1, cylinder case, piston with rod [Petrovic22, Fig. 5a].

    Frames: B_0 at the q_j1-joint, x towards the q_j-joint; B_1 at the q_j-joint, x towards the q_j2-joint; T_c at the
    q_j2-joint, axes of B_1; B_3 at B_0's origin, x towards the q_j2-joint; B_4 on the piston, l_c short of the q_j2-joint.
    """

    name: str
    L: Annotated[float, Unit("m"), "length of link L_j", positive]
    L1: Annotated[float, Unit("m"), "length of link L_j1", positive]
    x0: Annotated[float, Unit("m"), "pin-to-pin length at zero piston stroke", positive]
    l_c: Annotated[float, Unit("m"), "length of piston with rod", positive]
    cylinder: Cylinder
    link: Body = Body()
    arm: Body = Body()
    case: Body = Body()
    piston: Body = Body()
    end: Frame = Frame()

    slides: ClassVar[bool] = False

    def __post_init__(self):
        check_bounds(self)
        near, far = abs(self.L - self.L1), self.L + self.L1
        if not near < self.x0 < far:
            raise InputError(
                f"x0: the linkage cannot close with the cylinder retracted: {self.x0:g} m pin to pin is "
                f"outside ({near:.4g}, {far:.4g}) m, what links of {self.L:g} m and {self.L1:g} m allow"
            )
        if self.x0 + self.cylinder.stroke >= far:
            raise InputError(
                f"cylinder.stroke: {self.cylinder.stroke:g} m is beyond the linkage: pin to pin it allows at most "
                f"{far:.4f} m, so the stroke must be below {far - self.x0:.4f} m"
            )

    def lever(self, q):
        """dx_j/dq_j (21), m/rad."""
        return close(self.L, self.L1, q).lever

    @property
    def bodies(self):
        """(frame name, body) in the order of the outward sweep."""
        return (("B0", self.link), ("B1", self.arm), ("B3", self.case), ("B4", self.piston))


@final
@dataclass(frozen=True)
class Prismatic:
    """Prismatic segment: tube {P_2}, piston with rod {B_5} sliding along its x-axis, object {P_3} [Petrovic22, Fig. 5b, c]."""

    name: str
    cylinder: Cylinder
    tube: Body = Body()
    rod: Body = Body()
    object: Body = Body()
    start: Frame = Frame()  # P_2 → B_5 at x_t = 0
    rod_end: Frame = Frame()  # B_5 → P_3
    end: Frame = Frame()  # P_3 → E_2

    slides: ClassVar[bool] = True

    def __post_init__(self):
        check_bounds(self)

    @property
    def bodies(self):
        """(frame name, body) in the order of the outward sweep."""
        return (("P2", self.tube), ("B5", self.rod), ("P3", self.object))


@final
@dataclass(frozen=True)
class Structure:
    """The j-th structure: a revolute segment, optionally followed by a prismatic one."""

    name: str
    revolute: Revolute
    prismatic: Prismatic | None = None

    def __post_init__(self):
        check_bounds(self)

    @property
    def segments(self):
        return (self.revolute,) if self.prismatic is None else (self.revolute, self.prismatic)

    @property
    def frames(self):
        """Frames from {B_1} at zero to where the next structure is attached, in order."""
        s = self.prismatic
        return (self.revolute.end,) if s is None else (self.revolute.end, s.start, s.rod_end, s.end)


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


def _carry(frame: Frame, V, A):
    """Velocity and acceleration of a frame fixed on the same body."""
    return frame.velocity(V), frame.velocity(A)


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
                name: body.net(motion.A[j][name], motion.V[j][name], true.V[j][name][1])
                for segment in structure.segments
                for name, body in segment.bodies
            }
        )
    if payload is not None:
        end = end_frame(structures[-1])
        nets[-1]["payload"] = payload.net(motion.A[-1][end], motion.V[-1][end], true.V[-1][end][1])
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
            cut["P3"] = plus(net["P3"], frames["E2"].force(F_E))
            cut["B5"] = plus(net["B5"], frames["P3"].force(cut["P3"]))
            cut["P2"] = plus(net["P2"], frames["B5"].force(cut["B5"]))
            per_joint.append(cut["B5"][0][0])
            F_E = cut["E1"] = cut["P2"]
        f_c, cut["Bc"] = _revolute(structure.revolute, k, frames, net, F_E)
        per_joint.append(f_c)
        F_E = cut["Bc"]
        cuts.append(cut)
    return per_joint[::-1], cuts[::-1]


def _revolute(r: Revolute, k: Closure, frames, net, F_E):
    """f_cj (68) and ᴮᶜʲF (69)."""
    arm = plus(net["B1"], frames["Tc"].force(frames["E1"].force(F_E)))
    (fx4, fy4, _), (_, _, mz4) = net["B4"]
    mz3 = net["B3"][1][2]
    f_c = fx4 + arm[1][2] / k.lever - (mz3 + mz4 + fy4 * (k.d - r.l_c)) * k.c2 / (k.d * k.s2)
    rod = frames["B3"].force(plus(net["B3"], frames["B4"].force(net["B4"])))
    return f_c, plus(plus(net["B0"], frames["B1"].force(arm)), rod)


def loop_forces(r: Revolute, k: Closure, frames, net, F_E, f_c) -> dict:
    """Forces at the cuts inside a revolute segment, (61)–(65), each from its own body's equation of motion.

    P1: on the rod's pin (A.2); B4, B3: along the cylinder; B1: at the q_j-joint; B0, B2: the two parts of ᴮᶜʲF (66).
    """
    (fx4, fy4, _), (_, _, mz4) = net["B4"]
    b4y = (fy4 * r.l_c - net["B3"][1][2] - mz4) / k.d  # (A.14)
    P1 = ([f_c - fx4, b4y - fy4, 0.0], [0.0, 0.0, 0.0])  # (A.6), (A.7)
    to_pin = pose((r.l_c, 0.0, 0.0), IDENTITY)
    pin_in_arm = pose((r.L1, 0.0, 0.0), (k.c2, k.s2, 0.0, -k.s2, k.c2, 0.0, 0.0, 0.0, 1.0))  # (A.1)
    B4 = plus(net["B4"], to_pin.force(P1))  # (63)
    B3 = plus(net["B3"], frames["B4"].force(B4))  # (64)
    B1 = minus(
        plus(net["B1"], frames["Tc"].force(frames["E1"].force(F_E))), pin_in_arm.force(P1)
    )  # (61)
    return {
        "P1": P1,
        "B4": B4,
        "B3": B3,
        "B1": B1,
        "B0": plus(net["B0"], frames["B1"].force(B1)),  # (62)
        "B2": frames["B3"].force(B3),
    }  # (65)


def solve_spd(H, b):
    """x with H x = b for a symmetric positive definite H given as rows of scalars (LDLᵀ, no pivoting)."""
    n = len(b)
    L, D = [[0.0] * n for _ in range(n)], [0.0] * n
    for j in range(n):
        D[j] = H[j][j] - sum(L[j][k] ** 2 * D[k] for k in range(j))
        for i in range(j + 1, n):
            L[i][j] = (H[i][j] - sum(L[i][k] * L[j][k] * D[k] for k in range(j))) / D[j]
    y = []
    for i in range(n):
        y.append(b[i] - sum(L[i][k] * y[k] for k in range(i)))
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = y[i] / D[i] - sum(L[k][i] * x[k] for k in range(i + 1, n))
    return x


def still(g) -> Base:
    """A base at rest."""
    zero = (0.0, 0.0, 0.0)
    return Base((zero, zero), (zero, zero), tuple(g))


ZERO6 = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


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


def weight(structures, poses, payload: Body, up) -> object:
    """Σ m g·r over all bodies: potential energy with the upward weight vector `up` in the frame the poses are given in."""
    total = 0.0
    for structure, p in zip(structures, poses):
        for segment in structure.segments:
            for name, body in segment.bodies:
                total = total + body.mass * dot(up, add(p[name].r, turn(p[name].R, body.com)))
    end = poses[-1][end_frame(structures[-1])]
    return total + payload.mass * dot(up, add(end.r, turn(end.R, payload.com)))
