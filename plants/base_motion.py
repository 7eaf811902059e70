"""Motion of a machine's base (a truck, a ship, a tracked carriage) as consistent disturbances.

p(t)      origin of {B_c1} in W: its place at rest plus `position`
R(t)      R_z(γ) R_y(β) R_x(α) R_0, with `angles` (α, β, γ) and R_0 the base's rotation at rest
V = Rᵀ ṗ, ω from Ṙ = R (ω×),  A = d/dt V = Rᵀ p̈ − ω × V,  α = ω̇,  g = Rᵀ g_W          all in the axes of {B_c1}

g_W is the weight direction in W, against gravity. Of a mechanism with `moving_ground`, {B_c1} is the ground's frame and R_0 = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from workbench.contract.capabilities import ends, periods
from workbench.contract.errors import InputError


@final
@dataclass(frozen=True)
class BaseMotion:
    """A prescribed motion of a machine's base; `disturbances(plant)` gives it as `Scenario(disturbances=…)` takes it.

    position   displacement x, y, z of the base from its place at rest, m: a Reference of three components, or None
    angles     rotation about x, y, z, rad, likewise

    Equations are in `plants.base_motion`. `VDC` assumes a base at rest; the ledger then has the power that a moving base
    brings in under the name p_Bc1.
    """

    position: Any = None
    angles: Any = None

    def disturbances(self, plant) -> dict[str, Component]:
        """Input name → Component, for every base input of `plant`. Raises InputError for references of another size."""
        for name in ("position", "angles"):
            reference = getattr(self, name)
            if reference is not None and reference.sample(np.zeros(1), 0).shape[2] != 3:
                raise InputError(
                    f"base motion: {name} needs three components",
                    mend="give x, y, z (angles about x, y, z)",
                )
        groups = [("g", 0), ("V_b", 1), ("ω_b", 2), ("A_b", 3), ("α_b", 4)]
        return {
            (f"{stem}_{axis}" if stem == "g" else f"{stem}{axis}"): Component(self, plant, row, i)
            for stem, row in groups
            for i, axis in enumerate("xyz")
        }

    @property
    def duration(self) -> float:
        """When the base has come to rest, s."""
        return max((ends(part) for part in self._parts), default=0.0)

    @property
    def periods(self) -> tuple[float, ...]:
        """Periods of position and angles, s."""
        return tuple(period for part in self._parts for period in periods(part))

    @property
    def _parts(self) -> list[Any]:
        return [part for part in (self.position, self.angles) if part is not None]

    def at(self, plant, t) -> np.ndarray:
        """(5, N, 3): g, V, ω, A, α at times t, in the axes of {B_c1}."""
        t = np.asarray(t, float)
        _, velocity, acceleration = _sampled(self.position, t)
        angles, rates, angular = _sampled(self.angles, t)
        upward = np.tile(list(plant.upward), (t.size, 1))
        R = rotation(*angles.T)
        ω, α = _turning(angles, rates, angular)
        V = np.einsum("nji,nj->ni", R, velocity)
        A = np.einsum("nji,nj->ni", R, acceleration) - np.cross(ω, V)
        g = np.einsum("nji,nj->ni", R, upward)
        own = np.array(plant.base.R, float).reshape(3, 3)
        return np.stack([g, V, ω, A, α]) @ own  # x ↦ R_0ᵀ x for every row


@final
@dataclass(frozen=True)
class Component:
    """One signal of a base motion, as a reference of one component (values only)."""

    motion: BaseMotion
    plant: Any
    row: int
    axis: int

    @property
    def duration(self) -> float:
        """When the base has come to rest, s."""
        return self.motion.duration

    @property
    def periods(self) -> tuple[float, ...]:
        """Periods of the base's motion, s."""
        return self.motion.periods

    def sample(self, t, order: int) -> np.ndarray:
        """(1, N, 1); InputError for order > 0: nobody differentiates a disturbance."""
        if order > 0:
            raise InputError("base motion: only values are known here")
        return self.motion.at(self.plant, t)[self.row, :, self.axis][None, :, None]


def _sampled(reference, t: np.ndarray) -> np.ndarray:
    """(3, N, 3): values, rates and second derivatives of a reference of three components; 0 where there is none."""
    return np.zeros((3, t.size, 3)) if reference is None else reference.sample(t, 2)


def _turning(angles, rates, second) -> tuple[np.ndarray, np.ndarray]:
    """ω and ω̇ (N, 3) of R_z(c) R_y(b) R_x(a), in the turned axes; ω̇ follows by the product rule.

    rates, second: first and second derivatives of the angles a, b, c.
    """
    a, b, _ = angles.T
    da, db, dc = rates.T
    dda, ddb, ddc = second.T
    sa = np.sin(a)
    ca = np.cos(a)
    sb = np.sin(b)
    cb = np.cos(b)
    ω = np.column_stack([da - dc * sb, db * ca + dc * cb * sa, -db * sa + dc * cb * ca])
    α = np.column_stack(
        [
            dda - ddc * sb - dc * db * cb,
            ddb * ca - db * da * sa + ddc * cb * sa - dc * db * sb * sa + dc * da * cb * ca,
            -ddb * sa - db * da * ca + ddc * cb * ca - dc * db * sb * ca - dc * da * cb * sa,
        ]
    )
    return ω, α


def rotation(a, b, c) -> np.ndarray:
    """R_z(c) R_y(b) R_x(a), (N, 3, 3)."""
    sa = np.sin(a)
    ca = np.cos(a)
    sb = np.sin(b)
    cb = np.cos(b)
    sc = np.sin(c)
    cc = np.cos(c)
    rows = [
        [cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa],
        [sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa],
        [-sb, cb * sa, cb * ca],
    ]
    return np.moveaxis(np.array(rows), 2, 0)
