"""The equations of a crane of parallel–serial structures under the paper's names, on any pump.

Its states, inputs and signals are those of [Petrovic22]; motion, forces, oil and energy are the mechanism's.
"""

from __future__ import annotations

from functools import cached_property

from plants.components.spatial import turn, unturn
from plants.components.two_chambers import POWERS
from plants.crane import bodies as crane_bodies
from plants.crane.abilities import CraneAbilities
from plants.multibody import drive_forces
from plants.multibody.surroundings import Surroundings
from plants.multibody.tree import REST, ZERO6, Ground
from workbench.contract.system import names


class Crane(CraneAbilities):
    """What a `Manipulator` and one on a pump (`plants.crane.on_pump`) have in common; `mechanism` is what they add."""

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

    # ---- the equations ----------------------------------------------------------------------------------------------
    def around(self, base=None, tip=ZERO6) -> Surroundings:
        """What the surroundings do to the mechanism.

        base: None (at rest in `self.base`), or (R, V, A): rotation of {B_c1} in W, its 6-D velocity and the derivative of that,
        in its own axes. tip: wrench on the surroundings, in the last end frame.
        """
        R = self.base.R
        ground = REST
        if base is not None:
            R, V, A = base
            ground = Ground(tuple(V), tuple(A))
        down = [-v for v in unturn(R, self.upward)]
        axes = self.axes[crane_bodies.PAYLOAD]
        return Surroundings(ground, down, tuple(turn(axes, part) for part in tip or ZERO6))

    def inverse_dynamics(self, q, qd, qdd, base=None, tip=ZERO6):
        """Cylinder forces f_c (68), (55) in joint order and the reaction ᴮᶜ¹F (69); base, tip: see `around`."""
        state = self.mechanism, q, qd, qdd, self.around(base, tip)
        return drive_forces.asked(*state), drive_forces.borne(*state)

    def forward_dynamics(self, q, qd, f_c, base=None, tip=ZERO6):
        """q̈ from cylinder forces; base, tip: see `around`."""
        return drive_forces.motion(self.mechanism, q, qd, f_c, self.around(base, tip))

    def out(self, t, x):
        m = self.mechanism
        at = dict(zip(names(m.outputs), m.out(t, self.inner(x))))
        turning = [label for label, s in zip(self.labels, self.segments) if not s.slides]
        lengths = (at[f"{stem}_{label}"] for stem in ("s", "ds") for label in turning)
        return [*x[: 4 * self.n], *lengths, *(at[name] for name in self._pumped("p_s"))]

    def monitor(self, t, x, u):
        at = self.logged(t, x, u)
        shown = (at[f"{stem}_{label}"] for label in self.labels for stem in ("f_p", "f_f", "Q_s"))
        lengths = self.out(t, x)[4 * self.n : len(self.outputs) - len(self.supply_names)]
        felt = (at[name] for name in self._pumped("p_L"))
        return [*lengths, *shown, *self.tool(x[: self.n]), *felt]

    def _pumped(self, stem: str) -> list[str]:
        """What the mechanism calls this signal of every line from the pump that has a pressure of its own."""
        if not self.supply_names:
            return []
        return [f"{stem}_{line}" if line else stem for line in self.lines]
