"""What `MeteredVDC` needs to know of a machine behind metering valves: its rods, its bodies, the pressure of its pump.

A machine is a law's gains around a plant's numbers; the law has one of its model, its ledger another of the true plant.

    n, labels, titles, units     rods, and of their forces
    K, B                   oil between valves and linkage, N/m, N s/m (of a motor's arm: N m/rad, N m s/rad)
    measured, references, wanted, errors(m)     signals; desired positions and what they are off by
    read(y, r)             → Measured
    observers, rub(xd, xd_r, ẑ), observe(T, m, ẑ, ẑ̇)     observed friction: signals, (f_fr, ẑ̇), and after a sample
    required(m)            ẋ, ẋ_r, f_cr of every rod (an object with xd, xd_r, f_c)
    pressure(m, v)         P [Pa] while the rods move at v
    rows                   `valve_circuits.inverse.whole`
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple, final

import numpy as np

from controllers.vdc import VDC
from plants.metered_arms import MeteredArms
from plants.metered_crane import MeteredCrane
from plants.valve_circuits.closed import _TINY
from plants.valve_circuits.inverse import whole
from workbench.contract.system import Signal
from workbench.run.targets import target_name

SHARED = ("space", "λ", "κ", "K_I", "gains")  # settings that are VDC's too


class Measured(NamedTuple):
    """What the law reads: q, q̇, f_K = K (p − x) of each rod, P where it is measured; and the reference τ_d with two derivatives."""

    q: list
    qd: list
    f_K: list
    P: object
    τ: list


class Needed(NamedTuple):
    """ẋ, ẋ_r and required forces f_cr of the rods."""

    xd: list
    xd_r: list
    f_c: list


@final
@dataclass(frozen=True)
class OfCrane:
    """A `MeteredCrane`: bodies, friction and reference spaces are those of `VDC`. f_K and P are measured."""

    law: Any
    plant: MeteredCrane

    @property
    def bodies(self) -> VDC:
        """The law of the bodies alone, around the law's own model. Not checked here: its numbers may be expressions."""
        law = object.__new__(VDC)
        own = {name: getattr(self.law, name) for name in SHARED} | {"model": self.law.model.crane}
        for field in fields(VDC):
            object.__setattr__(law, field.name, own.get(field.name, field.default))
        return law

    @property
    def n(self) -> int:
        return self.plant.n

    @property
    def labels(self):
        return self.plant.labels

    @property
    def titles(self):
        return tuple(s.name for s in self.plant.segments)

    @property
    def units(self):
        return ("N",) * self.n

    @property
    def K(self) -> list:
        return self.plant.stiffness()

    @property
    def B(self) -> list:
        return [self.plant.τ * K for K in self.K]

    @property
    def rows(self) -> list:
        return whole(self.plant)

    @property
    def measured(self):
        at = {s.name: s for s in self.plant.outputs}
        return (*self.plant.outputs[: 2 * self.n], *(at[f"f_K_{k}"] for k in self.labels), at["P"])

    @property
    def references(self):
        return self.bodies.references[: 3 * self.n]

    @property
    def wanted(self):
        return self.bodies.monitors[self.n :]

    @property
    def observers(self):
        return self.bodies.states

    def read(self, y, r) -> Measured:
        n = self.n
        return Measured(
            list(y[:n]),
            list(y[n : 2 * n]),
            list(y[2 * n : 3 * n]),
            y[3 * n],
            [list(r[k * n : (k + 1) * n]) for k in range(3)],
        )

    def required(self, m: Measured):
        return self.bodies.required(m.q, m.qd, *self.bodies.required_motion(m.q, m.qd, *m.τ))

    def rub(self, xd, xd_r, ẑ):
        return self.bodies.rubbing(xd, xd_r, ẑ)

    def observe(self, T, m: Measured, ẑ, rates) -> list:
        return self.bodies.observe(T, m.q, m.qd, ẑ, rates)

    def pressure(self, m: Measured, v):
        return m.P

    def errors(self, m: Measured) -> list:
        return [d - at for d, at in zip(m.τ[0], self.plant.task(self.law.space, m.q))]


@final
@dataclass(frozen=True)
class OfArms:
    """`MeteredArms`, each arm a body of its own. f_K = K (x − ℓ(θ)) is the model's, from rod and angle measured.

        I θ̈_r − τ_g(θ) + K_A (θ̇_r − θ̇) = f_cr ℓ'(θ),   θ̇_r = θ̇_d + λ (θ_d − θ),   K_A = κ I + K_I
        P = min(P_M, ((Q − Σ A_j |ṗ_rj|)/k_b)²),  A the side the pump feeds                                    (114), (123)

    The pump's pressure is no state there: the arms' required velocities fix it, and so they share the pump before they move.
    """

    law: Any
    plant: MeteredArms

    @property
    def n(self) -> int:
        return len(self.plant.arms)

    @property
    def labels(self):
        return self.plant.names

    @property
    def titles(self):
        return tuple(f"arm {name}" for name in self.plant.names)

    @property
    def units(self):
        own = {s.name: s.unit for s in self.plant.monitors}  # of a motor N m
        return tuple(own[f"f_{name}"] for name in self.plant.names)

    @property
    def K(self) -> list:
        return [a.K for a in self.plant.arms]

    @property
    def B(self) -> list:
        return [a.B for a in self.plant.arms]

    @property
    def rows(self) -> list:
        return whole(self.plant)

    @property
    def measured(self):
        at = {s.name: s for s in self.plant.outputs}
        return tuple(at[f"{key}_{k}"] for key in ("θ", "dθ", "x") for k in self.labels)

    @property
    def references(self):
        rate = lambda k: "rad" + ("" if k == 0 else "/s" if k == 1 else f"/s^{k}")
        return tuple(
            Signal(
                target_name(f"θ_{name}", k),
                rate(k),
                f"desired angle of arm {name}, derivative {k}",
                "reference",
            )
            for k in range(3)
            for name in self.labels
        )

    @property
    def wanted(self):
        return tuple(
            Signal(f"e_θ_{name}", "rad", f"tracking error of arm {name}") for name in self.labels
        )

    @property
    def observers(self):
        return ()

    def read(self, y, r) -> Measured:
        n = self.n
        q = list(y[:n])
        f_K = [a.K * (x - a.length(θ)) for a, x, θ in zip(self.plant.arms, y[2 * n : 3 * n], q)]
        return Measured(
            q, list(y[n : 2 * n]), f_K, None, [list(r[k * n : (k + 1) * n]) for k in range(3)]
        )

    def required(self, m: Measured) -> Needed:
        lever, found = [a.lever(θ) for a, θ in zip(self.plant.arms, m.q)], []
        rates, accelerations = self.motion(m)
        for a, K_A, θ, l, ω, ω_r, α in zip(
            self.plant.arms, self.fed_back(), m.q, lever, m.qd, rates, accelerations
        ):
            found.append(
                (a.inertia * α - a.torque(θ, 0.0, 0.0, self.plant.g) + K_A * (ω_r - ω)) / l
            )
        return Needed(
            [l * ω for l, ω in zip(lever, m.qd)], [l * ω for l, ω in zip(lever, rates)], found
        )

    def motion(self, m: Measured):
        """θ̇_r, θ̈_r."""
        λ = self.law.per_rod(self.law.λ)
        return (
            [d + g * (to - at) for d, to, at, g in zip(m.τ[1], m.τ[0], m.q, λ)],
            [d + g * (to - at) for d, to, at, g in zip(m.τ[2], m.τ[1], m.qd, λ)],
        )

    def fed_back(self) -> list:
        """K_A of every arm, with the law's own model, N m s."""
        return [self.law.κ * a.inertia + self.law.K_I for a in self.law.model.arms]

    def rub(self, xd, xd_r, ẑ):
        return [0.0] * self.n, []

    def observe(self, T, m, ẑ, rates) -> list:
        return []

    def pressure(self, m: Measured, v):
        Q, P_M, k_b = self.plant.supply
        left = Q - sum(
            np.where(w > 0.0, row[0], row[1]) * np.abs(w) for w, row in zip(v, self.rows)
        )
        return np.minimum(np.maximum(left, 0.0) / (k_b + _TINY), np.sqrt(P_M)) ** 2

    def errors(self, m: Measured) -> list:
        return [d - at for d, at in zip(m.τ[0], m.q)]


def machine(law, plant) -> OfCrane | OfArms:
    """The machine of `law` around the numbers of `plant`."""
    return (OfCrane if isinstance(plant, MeteredCrane) else OfArms)(law, plant)
