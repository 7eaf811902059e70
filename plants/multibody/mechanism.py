"""A mechanism of bodies, joints, loops and actuators: a System in relative coordinates.

    M^Σ z̈ + Φ_zᵀ λ = Q^Σ,   Φ(z) = 0                                                       (9) without penalty

method (all with the same text of M^Σ, Q^Σ, Φ, Φ_z, Φ̇_z ż):

    projected   states z, ż. z̈ and λ from both equations, the second differentiated twice: (Φ_z M⁻¹ Φ_zᵀ) λ = Φ_z M⁻¹ Q + Φ̇_z ż;
                `project` puts positions and velocities back on the loops after every step, in the metric of M^Σ
    minimal     states are the independent z, ż alone; the loops are planar and close in closed form (`plants.multibody.planar`)
    penalty     the augmented Lagrangian and the trapezoidal rule of [Jaiswal21], a solver of its own (`plants.multibody.penalty`);
                linearisations and claims see the same flow as projected

Source: [Jaiswal21] eqs (1)–(12), (35)–(42); [Bayo96] for the projections.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, final

from plants import scales
from plants.drives.contract import Drive, Line
from plants.multibody import (
    acting,
    checks,
    coordinates,
    dynamics,
    held,
    loops,
    pins,
    reduced,
    signals,
    static,
    strokes,
    tree,
)
from plants.multibody.acting import Pull
from plants.multibody.assembly import Assembly, assemble
from plants.multibody.parts import Actuator, Body, Loop, Pin
from plants.multibody.planar import Closing, plan
from plants.multibody.points import NamedPoint, PinTable, named_points
from plants.multibody.starting import in_words, resting, start
from plants.multibody.tree import Motion, Tree
from plants.supplies.contract import Supply
from plants.supplies.kinds import SupplyKind
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds
from workbench.contract.system import Signal, System
from workbench.numerics.adaptive import Adaptive, Fixed

__all__ = ["Actuator", "Body", "Loop", "Mechanism"]


@final
@dataclass(frozen=True)
class Mechanism(System):
    """Bodies on joints, loops closed by cut joints, actuators and their supply; equations and methods in the module's docstring.

    Inputs: those of the drives. Outputs: lengths s_… and rates ds_… of the actuators, then positions and rates of all joints
    (q_…, dq_… revolute; x_…, dx_… prismatic; e_…_0 to 3, ω_…_x to z spherical), then the states of drives and supply. Logged
    besides: forces f_… of the actuators, how far each loop is open, what drives and supply log. gravity in the ground's axes.
    pins: those of the ground, by name; tcp: the pin that does the work.

    Raises InputError for names that do not exist, loops that cannot be closed, motion without mass, singular starts,
    cylinders out of their range.
    """

    bodies: tuple[Body, ...]
    loops: tuple[Loop, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    gravity: Annotated[tuple[float, ...], Unit("m/s^2"), "gravity in the ground's axes"] = (
        0.0,
        -9.81,
        0.0,
    )
    method: Literal["projected", "minimal", "penalty"] = "projected"
    supply: SupplyKind | Supply | None = None
    name: str = "mechanism"
    pins: PinTable | tuple[NamedPoint, ...] = ()
    tcp: Annotated[str | Pin | None, "tool centre point: a pin, body.pin, or body and point"] = None
    kept: tuple[int, ...] = field(
        init=False, repr=False, compare=False, default=()
    )  # independent rows of Φ
    used: tuple[int, ...] = field(
        init=False, repr=False, compare=False, default=()
    )  # rows of Φ that act
    closings: tuple[Closing, ...] = field(
        init=False, repr=False, compare=False, default=()
    )  # of method minimal

    def __post_init__(self):
        check_bounds(self)
        object.__setattr__(self, "gravity", tuple(float(v) for v in self.gravity))
        for parts in ("bodies", "loops", "actuators"):
            object.__setattr__(self, parts, tuple(getattr(self, parts)))
        named_points(self)
        if not self.bodies or len(self.gravity) != 3:
            raise InputError(
                "bodies: a mechanism needs at least one"
                if not self.bodies
                else f"gravity: expected three numbers, got {len(self.gravity)}"
            )
        drawn = pins.resolve(self)
        checks.check_names(self)
        checks.check_supply(self)
        object.__setattr__(self, "kept", self.assembly.kept)
        object.__setattr__(self, "used", self.assembly.used)
        object.__setattr__(
            self, "closings", plan(self, self.assembly.z) if self.method == "minimal" else ()
        )
        checks.check_signals(self)
        checks.check_lengths(self)
        self.initial()
        if drawn:
            strokes.check_strokes(self)

    def held_at(self) -> dict[str, tuple[str, ...]]:
        """Path of a pin as written in a file → paths of its coordinates."""
        return pins.held_at(self)

    # ---- who is who -------------------------------------------------------------------------------------------------
    @property
    def tree(self) -> Tree:
        return tree.tree(self.bodies)

    @property
    def assembly(self) -> Assembly:
        """The consistent start: positions, rates, rows kept and left out, mobility."""
        return assemble(self)

    @property
    def in_words(self) -> str:
        """Degrees of freedom, constraints left out, and what the assembly moved."""
        return in_words(self)

    def number(self, body: str) -> int:
        """Which body that is; −1 for the ground."""
        return next((j for j, b in enumerate(self.bodies) if b.name == body), -1)

    @property
    def cuts(self) -> list[tuple[int, int]]:
        """Numbers of the two bodies of every loop."""
        return [(self.number(loop.a.body), self.number(loop.b.body)) for loop in self.loops]

    @property
    def coordinates(self) -> tuple[Signal, ...]:
        """Positions of all joints."""
        return signals.positions(self.bodies)

    @property
    def rates(self) -> tuple[Signal, ...]:
        """Rates of all joints."""
        return signals.rates(self.bodies)

    @property
    def drive_states(self) -> tuple[Signal, ...]:
        """States of all drives, then of the supply."""
        own = () if self.supply is None else self.supply.states()
        return (*(s for a in self.actuators for s in a.drive.states(a.name)), *own)

    @property
    def own(self) -> tuple[list[int], list[int]]:
        """Which positions and rates are states: all, or the independent ones."""
        follow = {j for k in self.closings for j in k.unknown}
        parts = [
            (z, v) for j, (z, v) in enumerate(zip(self.tree.z, self.tree.v)) if j not in follow
        ]
        return [i for (at, n), _ in parts for i in range(at, at + n)], [
            i for _, (at, n) in parts for i in range(at, at + n)
        ]

    @property
    def states(self):
        (zs, vs), coordinates, rates = self.own, self.coordinates, self.rates
        return (*(coordinates[i] for i in zs), *(rates[i] for i in vs), *self.drive_states)

    @property
    def inputs(self):
        own = () if self.supply is None else self.supply.inputs()
        return (*(s for a in self.actuators for s in a.drive.inputs(a.name)), *own)

    @property
    def outputs(self):
        return (*signals.lengths(self), *self.coordinates, *self.rates, *self.drive_states)

    @property
    def monitors(self):
        return (
            *signals.lengths(self),
            *self._following(self.coordinates, self.rates),
            *signals.forces(self),
            *(
                Signal(f"open_{loop.name}", "m", f"how far {loop.name} is open")
                for loop in self.loops
            ),
            *signals.bends(self),
            *signals.of_parts(self),
            *(Signal(f"tcp_{a}", "m", "tool centre point in the world") for a in self._tool_axes),
        )

    @property
    def _tool_axes(self) -> str:
        return "" if self.tcp is None else "xyz"

    def _following(self, positions, rates) -> list:
        """Those that are no states."""
        zs, vs = self.own
        return [v for i, v in enumerate(positions) if i not in zs] + [
            v for i, v in enumerate(rates) if i not in vs
        ]

    @property
    def power_names(self):
        own = () if self.supply is None else self.supply.power_names()
        parts = (name for a in self.actuators for name in a.drive.power_names(a.name))
        return (*parts, *own, "damping")

    @property
    def integrator(self):
        """The method's own integrator; None: those of `workbench.run.simulate`."""
        if self.method != "penalty":
            return None
        from plants.multibody.penalty_loop import penalty_loop

        return penalty_loop

    @property
    def fixed(self) -> Fixed | None:
        """Equal steps of the L-stable method where a drive asks for them, and none for steps that find their own length."""
        wanted = any(a.drive.equal_steps for a in self.actuators)
        return Fixed() if wanted and self.adaptive is None else None

    @property
    def adaptive(self) -> Adaptive | None:
        """Steps of the L-stable method that find their own length, where a drive asks for them."""
        return acting.adaptive(self)

    @property
    def stiff(self):
        """Where no equal steps are made: spools, bristles, and the rates that friction of cylinders may make fast near rest."""
        own = tuple(name for a in self.actuators for name in a.drive.stiff(a.name))
        if self.fixed or self.adaptive or not any(a.drive.steep for a in self.actuators):
            return ()
        return (*(self.rates[i].name for i in self.own[1]), *own)

    @property
    def pressure_names(self):
        return tuple(name for a in self.actuators for name in a.drive.pressures(a.name))

    @property
    def flow_names(self) -> tuple[str, ...]:
        """What the drives take from the supply, each."""
        return tuple(signals.flow_name(a.name) for a in self.actuators if a.drive.needs_supply)

    @property
    def vacuum(self) -> float | None:
        """Pressure below which the oil of a drive is not described, Pa; None: it always is."""
        known = [a.drive.vacuum for a in self.actuators if a.drive.vacuum is not None]
        return max(known) if known else None

    @property
    def p_s(self) -> float | None:
        """Pressure of the supply, Pa, where that is one number for all chambers; None elsewhere."""
        line = acting.constant_line(self)
        return None if line is None else line.p_s

    @property
    def p_r(self) -> float | None:
        """Pressure of the return, Pa, where `p_s` is a number."""
        line = acting.constant_line(self)
        return None if line is None else line.p_r

    @property
    def pressure_limits(self) -> tuple:
        """Between which all chambers should stay, Pa, where every drive with chambers says so."""
        return acting.pressure_limits(self)

    @property
    def line_at_most(self) -> Line | None:
        """What the drives see of the supply at its highest pressure; None without one."""
        return None if self.supply is None else self.supply.most

    @property
    def loop_rate(self) -> float:
        """What a position loop can have, 1/s: that of the slowest drive."""
        return min((a.drive.loop_rate for a in self.actuators), default=Drive.loop_rate)

    @property
    def integral_rate(self) -> float:
        """K_i/K_p of it, 1/s."""
        return min((a.drive.integral_rate for a in self.actuators), default=Drive.integral_rate)

    @property
    def cuts_commands(self) -> bool:
        """Whether a drive has no command beyond its limit."""
        return any(a.drive.cuts_commands for a in self.actuators)

    @property
    def velocity_gain(self) -> float | None:
        """Velocity per unit of command, the actuators' mean; None where a command is no velocity."""
        gains = acting.velocity_gains(self)
        return sum(gains) / len(gains) if gains else None

    @property
    def velocity_gains(self) -> tuple[float, ...]:
        """Velocity per unit of command of each actuator, where their commands differ in unit, so that a mean has no meaning."""
        units = {s.unit for a in self.actuators for s in a.drive.inputs(a.name)}
        return acting.velocity_gains(self) if len(units) > 1 else ()

    @property
    def spans(self) -> dict[str, tuple[float, float]]:
        """What the actuators can span, m (rad on a revolute joint), those for which it is known."""
        return acting.spans(self.actuators)

    def limits(self):
        own = {} if self.supply is None else self.supply.limits()
        return acting.limits(self.actuators) | own

    def scales(self):
        return scales.of_mechanism(self)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Positions of the independent joints; of all joints that have one number where they depend on each other."""
        if coordinates.independent(self):
            return tuple(coordinates.joints(self))
        return tuple(s.name for s in self.coordinates if not s.name.startswith("e_"))

    def machine_limits(self):
        """Spans of the actuators, vacuum in their chambers, spools, commands."""
        return acting.machine_limits(self)

    def holding(self, x, u):
        """Forces of the driven actuators at rest, by virtual work and within their limits where that is possible."""
        return static.holding(self, x)

    @property
    def dead_ends(self):
        """Of method minimal: where a loop's two dependent joints are in line."""
        return signals.dead_ends(self)

    @property
    def change_points(self):
        """Of the others: where the loops' constraints depend on each other for an instant."""
        return signals.change_points(self)

    def free_joints(self, commands=None):
        return held.free_joints(self, commands)

    # ---- coordinates of paths ---------------------------------------------------------------------------------------
    @property
    def n(self) -> int:
        """How many coordinates are independent."""
        return len(self.own[0])

    @property
    def spaces(self) -> tuple[str, ...]:
        """Spaces a path can be given in, see `plants.multibody.coordinates`."""
        return coordinates.spaces(self)

    def task_names(self, space: str) -> list[str]:
        """Names of the coordinates of a space."""
        return coordinates.names(self, space)

    def task(self, space: str, q) -> list:
        """Coordinates of a space at independent positions q."""
        return coordinates.task(self, space, q)

    @property
    def strokes(self) -> list[tuple[float, float]]:
        """Least and largest lengths of the driven actuators, in the order of the piston space."""
        return [self.actuators[i].span for i in coordinates.driven(self)]

    @property
    def has_tool(self) -> bool:
        return self.tcp is not None and coordinates.independent(self)

    @property
    def tool(self):
        """q ↦ position of the tool in the world, m. AttributeError for a mechanism without a tool."""
        if not self.has_tool:
            raise AttributeError("tool: this mechanism has none; give it a tcp")
        return lambda q: coordinates.place(self, q)[0]

    # ---- the equations ----------------------------------------------------------------------------------------------
    def split(self, x):
        """(all z, all ż, states of every drive) of the state vector."""
        zs, vs = self.own
        parts = acting.shared_out(self, x[len(zs) + len(vs) :])
        z, rates = list(x[: len(zs)]), list(x[len(zs) : len(zs) + len(vs)])
        if self.closings:
            z, own = reduced.positions(self, z), dict(zip(vs, rates))
            G = loops.jacobian(self.tree, *self._closing_rows(z, None))
            rates = reduced.followed(
                self, G, [own.get(i, 0.0) for i in range(self.tree.n_v)], [0.0] * len(G)
            )
        return z, rates, parts

    def _closing_rows(self, z, rates):
        motion = self.closed(z, rates)
        return reduced.rows(self, motion), motion.b

    def moving(self, z, rates) -> Motion:
        """Poses, columns and, with rates, velocities of all bodies, at any positions."""
        return tree.move(self.bodies, self.tree, z, rates)

    def closed(self, z, rates) -> Motion:
        """As `moving`, at positions that close all loops: in closed form, without angles of the joints that follow."""
        known = reduced.directions(self, z) if self.closings else None
        return tree.move(self.bodies, self.tree, z, rates, known)

    def mass_matrix(self, z) -> list:
        """M^Σ (8), rows."""
        motion = self.moving(z, None)
        return tree.mass_matrix(self.tree, tree.inertias(self.bodies, motion), motion.b)

    def rows(self, motion: Motion) -> list:
        """All rows of all loops."""
        return [
            row
            for loop, (a, b) in zip(self.loops, self.cuts)
            for row in loops.rows(loop, motion, a, b)
        ]

    def constraints(self, z) -> tuple[list, list]:
        """(Φ, Φ_z) of all rows, redundant ones too."""
        motion = self.moving(z, None)
        found = self.rows(motion)
        return [row.value for row in found], loops.jacobian(self.tree, found, motion.b)

    def moved(self, z, δ) -> list:
        """z ⊕ δ: positions after a small motion δ, given as rates times time; quaternions of unit length."""
        return tree.moved(self.bodies, self.tree, z, δ)

    def pulls(self, motion: Motion, z, rates, own, u) -> list[Pull]:
        """What every actuator does; own, u None: lengths and rates only."""
        return acting.pulls(self, motion, z, rates, own, u)

    def loads(self, motion: Motion, own, rates, pulls: list[Pull]) -> list:
        """Q^Σ with actuators and damping."""
        wrenches, direct = acting.applied(self, pulls, [p.force for p in pulls])
        Q = tree.forces(self.tree, own, motion, self.gravity, wrenches)
        return [
            q + f - self.bodies[j].damping * v
            for q, f, j, v in zip(Q, direct, self.tree.body_of, rates)
        ]

    def accelerations(self, motion: Motion, rates, pulls: list[Pull]) -> tuple[list, list]:
        """(z̈, λ) with λ of the rows that are kept; minimal: z̈ of the independent joints, and nothing."""
        return dynamics.accelerations(self, motion, rates, pulls)

    def rhs(self, t, x, u):
        z, rates, own = self.split(x)
        motion = self.closed(z, rates)
        pulls = self.pulls(motion, z, rates, own, u)
        accelerations, _ = self.accelerations(motion, rates, pulls)
        flows = acting.rates(self, pulls, own, u)
        velocities = tree.velocities(self.bodies, self.tree, z, rates)
        return [*(velocities[i] for i in self.own[0]), *accelerations, *flows]

    def guards(self, t, x, u):
        z, rates, own = self.split(x)
        pulls = self.pulls(self.closed(z, rates), z, rates, own, u)
        supply = [] if self.supply is None else self.supply.guards(own[-1])
        drives = zip(self.actuators, pulls)
        return [*(g for a, p in drives for g in a.drive.guards(p.x, p.s, p.rate, p.u)), *supply]

    def project(self, t, x) -> list:
        """x back on its loops, nearest in the metric of M^Σ; quaternions of unit length."""
        if self.closings and "spherical" not in {b.joint for b in self.bodies}:
            return list(x)
        z, rates, own = self.split(x)
        z, rates = dynamics.projected(self, self.moved(z, [0.0] * self.tree.n_v), rates)
        zs, vs = self.own
        return [*(z[i] for i in zs), *(rates[i] for i in vs), *(v for part in own for v in part)]

    # ---- what is measured and logged --------------------------------------------------------------------------------
    def out(self, t, x):
        z, rates, own = self.split(x)
        pulls = self.pulls(self.closed(z, rates), z, rates, None, None)
        return [
            *(p.s for p in pulls),
            *(p.rate for p in pulls),
            *z,
            *rates,
            *(v for part in own for v in part),
        ]

    def monitor(self, t, x, u):
        z, rates, own = self.split(x)
        motion = self.closed(z, rates)
        gaps = []
        for loop, (a, b) in zip(self.loops, self.cuts):
            Φ = [row.value for row in loops.rows(loop, motion, a, b)]
            gaps.append(sum(v * v for v in Φ) ** 0.5)
        pulls = self.pulls(motion, z, rates, own, u)
        return [
            *(p.s for p in pulls),
            *(p.rate for p in pulls),
            *self._following(z, rates),
            *(p.force for p in pulls),
            *gaps,
            *dynamics.bends(self, z, motion),
            *acting.shown(self, pulls, own, u),
            *([] if self.tcp is None else coordinates.tip(self, motion)),
        ]

    def powers(self, t, x, u):
        """W into the stored energy, by cause."""
        z, rates, own = self.split(x)
        pulls = self.pulls(self.closed(z, rates), z, rates, own, u)
        lost = 0.0
        for j, v in zip(self.tree.body_of, rates):
            lost = lost - self.bodies[j].damping * v * v
        return [*acting.powers(self, pulls, own, u), lost]

    def energies(self, z, rates):
        """(kinetic, potential) energy of the bodies, J; potential is zero with all centres of mass at the origin."""
        motion = self.moving(z, rates)
        return tree.energies(self.bodies, tree.inertias(self.bodies, motion), motion, self.gravity)

    def stored(self, t, x, u):
        z, rates, own = self.split(x)
        pulls = self.pulls(self.closed(z, rates), z, rates, own, u)
        total = sum(self.energies(z, rates))
        for a, p in zip(self.actuators, pulls):
            total = total + a.drive.stored(p.x, p.s)
        return total if self.supply is None else total + self.supply.stored(own[-1])

    # ---- a sensible start -------------------------------------------------------------------------------------------
    def initial(self):
        """The assembled start, drives at rest under the forces that hold it."""
        return start(self)

    def rest(self, q) -> list:
        """The state at rest with the loops closed near positions q, of the leading position states; what is held stays exact."""
        return resting(self, q).initial()

    def check_pose(self, q, where: str = "start") -> None:
        """ValueError when `rest` is impossible there."""
        try:
            self.rest(q)
        except InputError as why:
            raise InputError(f"{where}: {why.message}", mend=why.mend) from None
