"""A crane whose cylinders stand behind quasistatic metering valves on one pump, in place of servo valves.

    H(q) q̈ = diag(dx/dq) (f − f_f(ẋ) − f_c(q, q̇, 0))                                      as bodies and joints: `crane.bodies`
    f_j = K_j (p_j − x_j) + B_j (ṗ_j − ẋ_j),  f_j ∈ Γ_j(ṗ_j, P)  ⇔  ṗ_j = Λ_j(B_j, f̄_j, P)  (68)–(70), (122)
    V_p/β Ṗ = Q − k_b √P − G (P − P_M)⁺ − Σ_j Q_pj                                         (114), (123) with oil in the pump's line

p_j is where the valves have put the piston, x_j where the linkage has it. What lies between is the oil that the quasistatic
circuit takes for stiff: K_j = β (A_a²/V_a + A_b²/V_b) of the shut cylinder at half stroke, B_j = τ K_j. So K and B are no free
numbers here, and the crane keeps its resonances. A valve section has the areas of its cylinder and the orifices of the servo valve
fully open, k = c u_max: c_p1 pump to head, c_n1 head to tank, c_p2 pump to rod, c_n2 rod to tank. Pressures are gauge. The pump's
line is long and holds oil, V_p; so P is a state, chambers and valves are quasistatic at that P, and no root is sought.

    Q P = V_p/β P Ṗ + Q_b P + Q_M P + Σ_j [Q_pj P − f_j ṗ_j] + Σ_j f_j ṗ_j                           where power goes

It is a mechanism: the crane's bodies, a `MeteredSection` on every cylinder, all of them on a `SharedPump`. What valves and reliefs
of a section take, the bracket, is given valve by valve in `plants.drives.metering`.

Source: [Kikuuwe21] Sections 4.1, 6; [Petrovic22] for the crane; that K is the oil's own stiffness is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, final

from plants import scales
from plants.components.spatial import turn
from plants.crane import bodies as crane_bodies
from plants.crane.manipulator import Manipulator
from plants.drives.metered_section import MeteredSection
from plants.machine_files import shipped_plant
from plants.metered.crane_valves import MeteredCraneValves
from plants.multibody import drive_forces
from plants.multibody.mechanism import Mechanism
from plants.supplies.shared_pump import SharedPump, idle
from plants.valve_circuits.circuit import Pump
from workbench.cases.shorthand import Shorthand
from workbench.contract.parameters import Unit, check_bounds, fraction, positive, unchecked
from workbench.contract.system import names


def _shipped(name: str, others) -> dict[str, Any]:
    return {"crane": shipped_plant(name, Manipulator)}


@final
@dataclass(frozen=True)
class MeteredCrane(MeteredCraneValves):
    """A crane behind metering valves; equations in `plants.metered.crane`.

    States: q, q̇, p, P, friction's. Inputs: a command u_c in [−1, 1] for each cylinder, and the
    force [N] the tip exerts on its surroundings, in the last end frame.

    Raises ValueError for numbers out of range. In a file `of: hiab-xs031` stands for the crane of that name.
    """

    crane: Manipulator
    name: str = "crane with independent metering"
    pump: Pump = SharedPump.pump
    u_b: Annotated[float, Unit("1"), "opening of the bleed", fraction] = SharedPump.u_b
    P_hM: Annotated[float, Unit("Pa"), "reliefs of all head sides, above the tank", positive] = (
        MeteredSection.P_hM
    )
    P_rM: Annotated[float, Unit("Pa"), "reliefs of all rod sides, above the tank", positive] = (
        MeteredSection.P_rM
    )
    V_p: Annotated[float, Unit("m^3"), "volume of the pump's line", positive] = SharedPump.V_p
    G: Annotated[float, Unit("m^3/(s Pa)"), "slope of the pump's relief", positive] = SharedPump.G
    τ: Annotated[float, Unit("s"), "B_j/K_j, damping of the oil in the cylinders", positive] = (
        MeteredSection.τ
    )

    shorthand: ClassVar[tuple[Shorthand, ...]] = (
        Shorthand("of", Annotated[str, "name of a shipped crane"], ("crane",), _shipped),
    )

    def __post_init__(self):
        check_bounds(self)

    loop_rate = MeteredSection.loop_rate
    integral_rate = MeteredSection.integral_rate

    def as_shipped(self):
        return MeteredCrane(self.crane.as_shipped() or self.crane)

    def scales(self):
        return scales.of_metered_crane(self)

    # ---- a sensible start -------------------------------------------------------------------------------------------
    def rest(self, q) -> list[float]:
        """State at rest at joint positions q: the oil carries the weight."""
        still = [0.0] * self.n
        f_c = drive_forces.asked(self.crane.mechanism, q, still, still)
        x = self.crane.task("piston", q)
        rods = [float(at + f / K) for at, f, K in zip(x, f_c, self.stiffness())]
        bristles = [0.0] * (len(self.states) - 3 * self.n - 1)
        return [*map(float, q), *still, *rods, self.idle(), *bristles]

    def idle(self) -> float:
        """P with all valves shut, Pa."""
        return idle(*self.supply, self.G)

    def initial(self):
        return self.rest(self.crane.initial()[: self.n])

    # ---- equations --------------------------------------------------------------------------------------------------
    def _whole(self, x, u):
        """State and inputs as the crane has them, pressures and spools at zero."""
        m = self.crane
        n = self.n
        spools = sum(len(c.valve.spool_states("")) for c in self.cylinders)
        weight = list(m.defaults().values())
        given = [*[0.0] * n, *weight, *[0.0] * 12, *u[n:], *[0.0] * 3]
        return [*x[: 2 * n], *[0.0] * (2 * n + spools), *x[3 * n + 1 :]], given

    def rods(self, x, u) -> tuple[list, list]:
        """Velocities [m/s] and forces [N] of all rods behind the valves; also over a run, of arrays of states and inputs."""
        at = self.logged(0.0, x, u)
        speeds = self.rhs(0.0, x, u)[2 * self.n : 3 * self.n]
        return list(speeds), [at[f"f_p_{k}"] for k in self.labels]

    def out(self, t, x):
        n = self.n
        at = dict(zip(names(self.mechanism.outputs), self.mechanism.out(t, self.inner(x))))
        pistons = (at[f"s_{k}"] for k, s in zip(self.labels, self.segments) if not s.slides)
        return [*x[: 2 * n], x[3 * n], *pistons, *(at[f"f_K_{k}"] for k in self.labels)]

    def monitor(self, t, x, u):
        at = self.logged(t, x, u)
        shown = []
        for k in self.labels:
            shown += [at[f"{key}_{k}"] for key in ("f_p", "P_h", "P_r", "Q_s")]
        return [*self.out(t, x)[2 * self.n + 1 :], *shown, *self.crane.tool(x[: self.n])]

    # ---- the same as a mechanism --------------------------------------------------------------------------------------
    @cached_property
    def mechanism(self) -> Mechanism:
        """The crane's bodies, its cylinders behind metering valves, all on one pump."""
        pump = unchecked(
            SharedPump,
            pump=self.pump,
            u_b=self.u_b,
            V_p=self.V_p,
            G=self.G,
            β=self.crane.oil.β,
        )
        return crane_bodies.mechanism(self.crane, self._drive, pump, moving_ground=False)

    def _drive(self, crane: Manipulator, segment) -> MeteredSection:
        return unchecked(
            MeteredSection,
            cylinder=segment.cylinder,
            closed=0.0,
            oil=crane.oil,
            P_hM=self.P_hM,
            P_rM=self.P_rM,
            τ=self.τ,
        )

    def given(self, u):
        """Commands, and the tip's force in the axes of the payload's body."""
        R = self.axes[crane_bodies.PAYLOAD]
        return [*u[: self.n], *turn(R, u[self.n :]), 0.0, 0.0, 0.0]
