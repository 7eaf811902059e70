"""Hydraulic manipulator of parallel–serial structures with chamber pressures, valves and friction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, NamedTuple, final

from plants import chain, crane_bodies, scales
from plants.chain import ZERO6, Base, Prismatic, Revolute, Structure, end_frame
from plants.components.chamber import Oil
from plants.components.linkage import angle_at, close
from plants.components.spatial import Body, Frame, add, turn, unturn
from plants.components.two_chambers import POWERS
from plants.drives.contract import Line
from plants.multibody.built import Built
from plants.multibody.mechanism import Mechanism
from plants.multibody.planar import Closing
from plants.supplies.constant import ConstantPressure
from plants.supplies.contract import check_line
from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Holding, Limit, chamber_limits, command_limits
from workbench.contract.parameters import Unit, check_bounds, check_parts, nonnegative, positive
from workbench.contract.system import Signal
from workbench.contract.units import quantity

__all__ = ["Manipulator", "Structure", "Revolute", "Prismatic", "Body", "Frame", "Oil"]

_AXES = ("x", "y", "z")


class Parts(NamedTuple):
    """The manipulator's state by meaning, one entry per joint."""

    q: list
    qd: list
    p: list  # (p_a, p_b)
    spool: list  # spool states of each valve
    rub: list  # friction states of each cylinder


@final
@dataclass(frozen=True)
class Manipulator(Built):
    """n structures in series, each a revolute closed chain, optionally followed by a prismatic segment.

        f_c(q, q̇, q̈) = f_p − f_f,   f_p = A_a p_a − A_b p_b                      (68), (78), (79)
        ṗ_a, ṗ_b: `Cylinder`;   Q_a, Q_b and the spool: `Valve`;   f_f: `Friction`

    States: joint positions q_j (rad) and x_tj (m) in order of the chain, their rates, p_a, p_b per cylinder (Pa), then spool
    and friction states. Inputs: one voltage u per valve; disturbances: motion and weight direction of the base frame
    {B_c1} in its own axes, and the wrench the end-effector exerts on its surroundings, in the last end frame.
    The payload is a rigid body in that frame. Gravity g acts along −y of W.

    Source: [Petrovic22] eqs (14)–(34), (49)–(69), (78)–(91).
    """

    name: str
    structures: tuple[Structure, ...]
    base: Frame = Frame()
    oil: Oil = Oil()
    p_s: Annotated[float, Unit("Pa"), "supply pressure", positive] = ConstantPressure.p_s
    p_r: Annotated[float, Unit("Pa"), "return pressure", nonnegative] = ConstantPressure.p_r
    Q_max: Annotated[float, Unit("m^3/s"), "largest pump flow", positive] = ConstantPressure.Q_max
    g: Annotated[float, Unit("m/s^2"), "gravity, along −y of the world frame", nonnegative] = 9.8066
    payload: Body = Body()
    pose: Annotated[
        tuple[str | float, ...] | None,
        Unit("1"),
        "initial joint positions, rad or m (or 45 deg, 300 mm)",
    ] = None
    pressures: Annotated[
        tuple[Annotated[tuple[float, float], Unit("Pa")], ...] | None,
        "initial (p_a, p_b) per cylinder",
    ] = None
    closings: tuple[Closing, ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self):
        check_parts(self)
        if not self.structures:
            raise InputError("structures: a manipulator needs at least one")
        if isinstance(self.pose, tuple):
            object.__setattr__(
                self,
                "pose",
                tuple(map(self._joint_position, self.joint_names, self.pose)) + self.pose[self.n :],
            )
        check_bounds(self)
        object.__setattr__(self, "closings", crane_bodies.closings(self))
        check_line(Line(self.p_s, self.p_r))
        if self.pose is not None:
            if len(self.pose) != self.n:
                raise InputError(
                    f"pose: expected {self.n} joint positions ({', '.join(self.joint_names)}), "
                    f"got {len(self.pose)}"
                )
            self.check_pose(self.pose)
        for label, pair in zip(self.labels, self.pressures or ()):
            for side, p in zip("ab", pair):
                if not 0 <= p <= self.p_s:
                    raise InputError(
                        f"pressures: p_{side}{label} = {p / 1e5:g} bar is outside 0 … {self.p_s / 1e5:g} bar, "
                        "what the supply can give"
                    )
        if self.pressures is not None and len(self.pressures) != self.n:
            raise InputError(
                f"pressures: expected {self.n} pairs (p_a, p_b), got {len(self.pressures)}"
            )

    def _joint_position(self, name, value):
        if not isinstance(value, str):
            return value
        try:
            return quantity(value, "m" if name.startswith("x") else "rad")
        except InputError as why:
            raise InputError(f"pose: {name}: {why.message}", mend=why.mend) from None

    # ---- who is who -------------------------------------------------------------------------------------------------
    @cached_property
    def mechanism(self) -> Mechanism:
        """The machine as bodies, joints, loops and drives, see `plants.crane_bodies`."""
        return crane_bodies.mechanism(self)

    @property
    def called(self) -> dict[str, str]:
        return crane_bodies.called(self)

    @property
    def causes(self) -> dict[str, tuple[str, ...]]:
        each = {name: tuple(f"{name}_{label}" for label in self.labels) for name in POWERS}
        return each | {"tip": ("tip",), "base": ("base",)}

    def given(self, u) -> list:
        """Inputs of the mechanism: the wrench of the tool is in the axes of its body."""
        R = self.axes[crane_bodies.PAYLOAD]
        turned = [v for at in (len(u) - 6, len(u) - 3) for v in turn(R, u[at : at + 3])]
        return [*u[: len(u) - 6], *turned]

    @cached_property
    def axes(self) -> dict:
        """Body → rotation of its frame of the paper in that of `mechanism`."""
        return crane_bodies.axes(self)

    @property
    def upward(self) -> tuple:
        """Weight direction in the world, m/s²."""
        return 0.0, self.g, 0.0

    @property
    def up(self) -> list:
        """Weight direction in the base frame, while the base is at rest, m/s²."""
        return unturn(self.base.R, self.upward)

    @property
    def segments(self) -> tuple:
        """Revolute and prismatic segments in joint order."""
        return tuple(s for structure in self.structures for s in structure.segments)

    @property
    def cylinders(self) -> tuple:
        return tuple(s.cylinder for s in self.segments)

    @property
    def n(self) -> int:
        return len(self.segments)

    @property
    def supplies(self) -> list:
        """Supply pressure of every cylinder: p_s, which around a pump that is no constant one may be one for each (`OnPump`)."""
        return self.p_s if isinstance(self.p_s, list) else [self.p_s] * self.n

    @property
    def labels(self) -> tuple[str, ...]:
        """The paper's subscripts: "1", "2", "t2" …"""
        found = []
        for j, structure in enumerate(self.structures, 1):
            found += [f"{j}"] if structure.prismatic is None else [f"{j}", f"t{j}"]
        return tuple(found)

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(
            f"x_{label}" if s.slides else f"q_{label}"
            for label, s in zip(self.labels, self.segments)
        )

    @property
    def states(self):
        joints = [
            Signal(name, "m" if name.startswith("x") else "rad", f"{s.name} joint position")
            for name, s in zip(self.joint_names, self.segments)
        ]
        rates = [
            Signal("d" + s.name, s.unit + "/s", s.meaning.replace("position", "rate"))
            for s in joints
        ]
        p = [
            Signal(f"p_{side}{label}", "Pa", f"{s.name} chamber {side} pressure")
            for label, s in zip(self.labels, self.segments)
            for side in "ab"
        ]
        spools = [
            s for label, c in zip(self.labels, self.cylinders) for s in c.valve.spool_states(label)
        ]
        rubs = [
            s for label, c in zip(self.labels, self.cylinders) for s in c.friction.states(label)
        ]
        return (*joints, *rates, *p, *spools, *rubs)

    @property
    def inputs(self):
        u = [
            Signal(f"u_{label}", "V", f"{s.name} valve voltage")
            for label, s in zip(self.labels, self.segments)
        ]
        other = [(f"g_{a}", "m/s^2", "weight direction in the base frame") for a in _AXES]
        other += [(f"V_b{a}", "m/s", "base velocity") for a in _AXES] + [
            (f"ω_b{a}", "rad/s", "base rate") for a in _AXES
        ]
        other += [(f"A_b{a}", "m/s^2", "base acceleration") for a in _AXES]
        other += [(f"α_b{a}", "rad/s^2", "base angular acceleration") for a in _AXES]
        other += [(f"f_D{a}", "N", "tip force on the surroundings") for a in _AXES]
        other += [(f"m_D{a}", "N m", "tip moment on the surroundings") for a in _AXES]
        return (*u, *(Signal(*entry, kind="disturbance") for entry in other))

    @property
    def outputs(self):
        x = [
            Signal(f"x_{k}", "m", f"{s.name} piston position") for k, s in self._revolute_cylinders
        ]
        dx = [Signal("d" + s.name, "m/s", s.meaning.replace("position", "velocity")) for s in x]
        return (*self.states[: 4 * self.n], *x, *dx)

    @property
    def _revolute_cylinders(self):
        return [(label, s) for label, s in zip(self.labels, self.segments) if not s.slides]

    @property
    def monitors(self):
        found = [s for s in self.outputs[4 * self.n :]]
        for label, s in zip(self.labels, self.segments):
            found += [
                Signal(f"f_p{label}", "N", f"{s.name} piston force"),
                Signal(f"f_f{label}", "N", f"{s.name} friction"),
                Signal(f"Q_s{label}", "m^3/s", f"{s.name} flow from the pump"),
            ]
        return (*found, *(Signal(f"tcp_{a}", "m", "tool centre point in the world") for a in _AXES))

    @property
    def stiff(self):
        """Joint rates (and bristles): smooth Coulomb friction makes them fast near rest. Spools: fast, and linear."""
        spools = [
            s.name
            for label, c in zip(self.labels, self.cylinders)
            for s in c.valve.spool_states(label)
        ]
        bristles = [
            name
            for label, c in zip(self.labels, self.cylinders)
            for name in c.friction.stiff(label)
        ]
        return (*("d" + name for name in self.joint_names), *spools, *bristles)

    @property
    def pressure_names(self):
        return tuple(f"p_{side}{label}" for label in self.labels for side in "ab")

    @property
    def vacuum(self) -> float | None:
        """Pressure below which nothing here is true, Pa: without air in the oil a chamber that the oil leaves does not cavitate."""
        return 0.0 if self.oil.air == 0 else None

    def limits(self):
        return {
            f"u_{label}": (-c.valve.u_max, c.valve.u_max)
            for label, c in zip(self.labels, self.cylinders)
        }

    def as_shipped(self):
        from plants.shipped import like  # which imports this file

        return like(self)

    def scales(self):
        return scales.of_crane(self)

    def machine_limits(self):
        """Pump flow, strokes, vacuum, spools, commands."""
        found = [
            Limit(
                "pump flow",
                tuple(f"Q_s{label}" for label in self.labels),
                high=self.Q_max,
                unit="m^3/s",
                kind="flow",
                meaning="what all cylinders take from the pump",
                key="Q_max",
            )
        ]
        for label, s in zip(self.labels, self.segments):
            found.append(
                Limit(
                    f"piston {label}",
                    (f"x_{label}",),
                    0.0,
                    s.cylinder.stroke,
                    "m",
                    "stroke",
                    f"stroke of {s.name}",
                    f"{s.name}.cylinder.stroke",
                )
            )
        found += chamber_limits(self.pressure_names, self.oil.hollow)
        for label, s in zip(self.labels, self.segments):
            for spool in s.cylinder.valve.spool_states(label)[:1]:
                u = s.cylinder.valve.u_max
                found.append(
                    Limit(
                        f"spool {label}",
                        (spool.name,),
                        -u,
                        u,
                        "V",
                        "valve",
                        f"travel of the spool of {s.name}",
                        f"{s.name}.cylinder.valve.u_max",
                        bearable=True,
                    )
                )
        return (*found, *command_limits(self))

    def holding(self, x, u):
        """Cylinder forces at rest (68) against f_p between return and supply pressure."""
        _, base, tip = self.surroundings(u)
        still = [0.0] * self.n
        f_c, _ = self.inverse_dynamics(
            list(x[: self.n]), still, still, Base(ZERO6, ZERO6, base.g), tip
        )
        words = f"{self.p_r / 1e5:g} and {self.p_s / 1e5:g} bar"
        return tuple(
            Holding(
                f"cylinder {label} ({s.name})",
                float(f),
                s.cylinder.force(self.p_r, self.p_s),
                s.cylinder.force(self.p_s, self.p_r),
                "N",
                words,
                "p_s",
            )
            for label, s, f in zip(self.labels, self.segments, f_c)
        )

    def defaults(self):
        up = unturn(self.base.R, (0.0, self.g, 0.0))
        return {f"g_{a}": value for a, value in zip(_AXES, up)}

    # ---- the equations ----------------------------------------------------------------------------------------------
    def split(self, x) -> Parts:
        """State vector by meaning."""
        n = self.n
        p = [(x[2 * n + 2 * i], x[2 * n + 2 * i + 1]) for i in range(n)]
        at, spool, rub = 4 * n, [], []
        for group, count in (
            (spool, lambda c: len(c.valve.spool_states(""))),
            (rub, lambda c: len(c.friction.states(""))),
        ):
            for c in self.cylinders:
                group.append(list(x[at : at + count(c)]))
                at += count(c)
        return Parts(list(x[:n]), list(x[n : 2 * n]), p, spool, rub)

    def surroundings(self, u) -> tuple[list, Base, tuple]:
        """(voltages, base motion, tip wrench) from the input vector."""
        n = self.n
        g, Vb, ωb, Ab, αb, f, m = (list(u[n + 3 * i : n + 3 * i + 3]) for i in range(7))
        return list(u[:n]), Base((Vb, ωb), (Ab, αb), g), (f, m)

    def geometry(self, q):
        return chain.geometry(self.structures, q)

    def cylinder_motion(self, q, qd, shape=None):
        """Piston positions x and velocities ẋ, and the lever arms dx/dq (1 for prismatic joints), in joint order."""
        x, lever, i = [], [], 0
        for structure, (k, _) in zip(self.structures, shape or self.geometry(q)):
            x.append(k.d - structure.revolute.x0)
            lever.append(k.lever)
            if structure.prismatic is not None:
                x.append(q[i + 1])
                lever.append(1.0)
            i += len(structure.segments)
        return x, [a * b for a, b in zip(lever, qd)], lever

    def _forces(self, shape, base, qd, qdd, tip):
        motion = chain.sweep(self.structures, shape, base, qd, accelerations=qdd)
        nets = chain.net_forces(self.structures, motion, motion, self.payload)
        return chain.forces(self.structures, shape, nets, tip)

    def _base(self, base):
        if base is None:
            return chain.still(unturn(self.base.R, (0.0, self.g, 0.0)))
        if isinstance(base, Base):
            return base
        R, V, A = base
        return Base(V, A, unturn(R, (0.0, self.g, 0.0)))

    def inverse_dynamics(self, q, qd, qdd, base=None, tip=ZERO6):
        """Cylinder forces f_c (68), (55) in joint order and the reaction ᴮᶜ¹F (69).

        base: None (at rest in `self.base`), `Base`, or (R, V, A): rotation of {B_c1} in W, its 6-D velocity and the derivative
        of that, in its own axes. tip: wrench on the surroundings.
        """
        f_c, cuts = self._forces(self.geometry(q), self._base(base), qd, qdd, tip or ZERO6)
        return f_c, cuts[0]["Bc"]

    def inertia(self, shape, lever):
        """H(q), n×n rows: kinetic energy is ½ q̇ᵀH q̇."""
        n, rest, zero = self.n, chain.still((0.0, 0.0, 0.0)), [0.0] * self.n
        columns = [
            self._forces(shape, rest, zero, [1.0 if k == i else 0.0 for k in range(n)], ZERO6)[0]
            for i in range(n)
        ]
        return [[lever[j] * columns[i][j] for i in range(n)] for j in range(n)]

    def forward_dynamics(self, q, qd, f_c, base=None, tip=ZERO6, shape=None):
        """q̈ from cylinder forces: H(q) q̈ = diag(dx/dq)(f_c − f_c(q, q̇, 0))."""
        shape = shape or self.geometry(q)
        _, _, lever = self.cylinder_motion(q, qd, shape)
        bias, _ = self._forces(shape, self._base(base), qd, [0.0] * self.n, tip or ZERO6)
        return chain.solve_spd(
            self.inertia(shape, lever), [a * (f - b) for a, f, b in zip(lever, f_c, bias)]
        )

    def hydraulics(self, parts: Parts, voltages, x, xd):
        """`Work` of every cylinder."""
        return [
            c.at_work(self.oil, p, spool, u, at, v, p_s, self.p_r)
            for c, u, p, p_s, spool, at, v in zip(
                self.cylinders, voltages, parts.p, self.supplies, parts.spool, x, xd
            )
        ]

    def friction(self, parts: Parts, xd):
        """f_f per cylinder."""
        return [c.friction.force(v, z) for c, v, z in zip(self.cylinders, xd, parts.rub)]

    def out(self, t, x):
        parts = self.split(x)
        pos, xd, _ = self.cylinder_motion(parts.q, parts.qd)
        keep = [i for i, s in enumerate(self.segments) if not s.slides]
        return [*x[: 4 * self.n], *(pos[i] for i in keep), *(xd[i] for i in keep)]

    def monitor(self, t, x, u):
        parts = self.split(x)
        shape = self.geometry(parts.q)
        pos, xd, _ = self.cylinder_motion(parts.q, parts.qd, shape)
        found = self.out(t, x)[4 * self.n :]
        flows = self.hydraulics(parts, self.surroundings(u)[0], pos, xd)
        for c, p, f, row in zip(self.cylinders, parts.p, self.friction(parts, xd), flows):
            found += [c.force(*p), f, row[4]]
        return [*found, *self.tool(parts.q)]

    # ---- geometry for references and users --------------------------------------------------------------------------
    def tool(self, q):
        """Tool centre point in W (base at rest), m."""
        poses = chain.reach(self.structures, self.geometry(q), self.base.R, self.base.r)
        return list(poses[-1][end_frame(self.structures[-1])].r)

    spaces = ("joint", "piston", "cartesian")

    def task(self, space: str, q) -> list:
        """Coordinates of a reference space: joint positions; piston positions; or tool x, y in W and the extensions x_t."""
        if space == "joint":
            return list(q)
        if space == "piston":
            return self.cylinder_motion(q, [0.0] * self.n)[0]
        self._check_cartesian(space)
        return [*self.tool(q)[:2], *(q[i] for i, s in enumerate(self.segments) if s.slides)]

    def _check_cartesian(self, space: str) -> None:
        if space != "cartesian":
            raise InputError(
                f"there is no reference space {space!r}",
                mend=f"choose from {', '.join(self.spaces)}",
            )
        turns = sum(not s.slides for s in self.segments)
        if turns != 2:
            raise InputError(
                f"a Cartesian reference needs two revolute segments, {self.name} has {turns}",
                mend="give the reference in joint or piston space",
            )

    def task_names(self, space: str) -> list[str]:
        if space == "joint":
            return list(self.joint_names)
        if space == "piston":
            return [f"x_{label}" for label in self.labels]
        self._check_cartesian(space)
        return ["tcp_x", "tcp_y", *(name for name in self.joint_names if name.startswith("x"))]

    def joint_range(self) -> list[tuple[float, float]]:
        """Joint positions between retracted and extended cylinders, on the branch of `pose`, else q_j in (−π, 0)."""
        found = []
        for i, s in enumerate(self.segments):
            if isinstance(s, Revolute):
                side = -1.0 if self.pose is not None and self.pose[i] > 0 else 1.0
                ends = [
                    side * float(angle_at(s.L, s.L1, s.x0 + x)) for x in (0.0, s.cylinder.stroke)
                ]
                found.append((min(ends), max(ends)))
            else:
                found.append((0.0, s.cylinder.stroke))
        return found

    def check_pose(self, q, where: str = "pose") -> None:
        """ValueError naming the first joint at which a piston would leave its stroke."""
        for s, name, value, (low, high) in zip(
            self.segments, self.joint_names, q, self.joint_range()
        ):
            x = float(close(s.L, s.L1, value).d) - s.x0 if isinstance(s, Revolute) else value
            if not 0 < x < s.cylinder.stroke:
                raise InputError(
                    f"{where}: {name} = {value:.6g} puts the {s.name} piston at {1e3 * x:.4g} mm, outside its stroke "
                    f"0 … {1e3 * s.cylinder.stroke:.4g} mm ({name} must lie in {low:.5g} … {high:.5g})"
                )

    # ---- a sensible start -------------------------------------------------------------------------------------------
    def rest(self, q, pressures=None) -> list[float]:
        """State at rest at joint positions q: given pressures, or those that carry the weight (middle of what the supply
        allows)."""
        f_c, _ = self.inverse_dynamics(q, [0.0] * self.n, [0.0] * self.n)
        if pressures is None:
            pressures = [c.balanced(f, self.p_s, self.p_r) for c, f in zip(self.cylinders, f_c)]
        extra = len(self.states) - 4 * self.n
        return [
            *map(float, q),
            *[0.0] * self.n,
            *(float(p) for pair in pressures for p in pair),
            *[0.0] * extra,
        ]

    def initial(self):
        q = self.pose or tuple((low + high) / 2 for low, high in self.joint_range())
        return self.rest(q, self.pressures)

    # ---- variants ---------------------------------------------------------------------------------------------------
    def locked(self, **at: float) -> Manipulator:
        """The machine with prismatic segments, named with their extension, frozen into rigid links."""
        known = [s.name for s in self.segments if isinstance(s, Prismatic)]
        unknown = set(at) - set(known)
        if unknown:
            raise InputError(
                f"lock: no prismatic segment is called {', '.join(sorted(unknown))}",
                mend=f"choose from {', '.join(known) or 'none (this machine has no prismatic segment)'}",
            )
        keep = [
            i
            for i, s in enumerate(self.segments)
            if not (isinstance(s, Prismatic) and s.name in at)
        ]
        pick = lambda values: None if values is None else tuple(values[i] for i in keep)
        structures = tuple(
            _frozen(s, at.get(s.prismatic.name)) if s.prismatic is not None else s
            for s in self.structures
        )
        return replace(
            self, structures=structures, pose=pick(self.pose), pressures=pick(self.pressures)
        )


def _frozen(structure: Structure, extension: float | None) -> Structure:
    if extension is None:
        return structure
    r, s = structure.revolute, structure.prismatic
    if not 0 <= extension <= s.cylinder.stroke:
        raise InputError(
            f"lock: {s.name} = {extension:g} m is outside its stroke, 0 … {s.cylinder.stroke:g} m"
        )
    at_tube = Frame((r.L1, 0.0, 0.0)).then(r.end)
    slid = Frame(
        tuple(map(float, add(s.start.r, turn(s.start.R, (extension, 0.0, 0.0))))), s.start.R
    )
    at_rod = at_tube.then(slid)
    at_object = at_rod.then(s.rod_end)
    arm = (
        r.arm.joined(s.tube.moved(at_tube))
        .joined(s.rod.moved(at_rod))
        .joined(s.object.moved(at_object))
    )
    end = r.end.then(slid).then(s.rod_end).then(s.end)
    return Structure(structure.name, replace(r, arm=arm, end=Frame(tuple(end.r), tuple(end.R))))
