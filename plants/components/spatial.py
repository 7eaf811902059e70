"""6-D (linear/angular) vectors as pairs of 3-vectors of scalars: rigid frames and rigid bodies.

Vectors are plain lists of three scalars (floats or expressions), rotations lists of nine (row-major), so that exact zeros
(a fixed base, a plane, a missing offset) drop out of traced graphs.

Source: Zhu's 6-D notation as used in [Petrovic22], eqs (1)–(6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np

from plants.components.scalars import plain_difference, plain_product, plain_sum
from workbench.cases.shorthand import Shorthand
from workbench.contract.errors import InputError
from workbench.contract.parameters import Bound, Unit, check_bounds, nonnegative

ZERO3 = (0.0, 0.0, 0.0)
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def add(a, b):
    return [plain_sum(a[0], b[0]), plain_sum(a[1], b[1]), plain_sum(a[2], b[2])]


def sub(a, b):
    return [
        plain_difference(a[0], b[0]),
        plain_difference(a[1], b[1]),
        plain_difference(a[2], b[2]),
    ]


def scale(k, a):
    return [plain_product(k, a[0]), plain_product(k, a[1]), plain_product(k, a[2])]


def dot(a, b):
    return plain_sum(
        plain_sum(plain_product(a[0], b[0]), plain_product(a[1], b[1])), plain_product(a[2], b[2])
    )


def cross(a, b):
    return [
        plain_difference(plain_product(a[1], b[2]), plain_product(a[2], b[1])),
        plain_difference(plain_product(a[2], b[0]), plain_product(a[0], b[2])),
        plain_difference(plain_product(a[0], b[1]), plain_product(a[1], b[0])),
    ]


def turn(R, a):
    """R a."""
    return [dot(R[0:3], a), dot(R[3:6], a), dot(R[6:9], a)]


def unturn(R, a):
    """Rᵀ a."""
    return [dot((R[0], R[3], R[6]), a), dot((R[1], R[4], R[7]), a), dot((R[2], R[5], R[8]), a)]


def compose(R, S):
    """R S."""
    return [
        dot(R[3 * i : 3 * i + 3], (S[j], S[3 + j], S[6 + j])) for i in range(3) for j in range(3)
    ]


def about_z(c, s):
    """Rotation about z by the angle with cosine c and sine s."""
    return [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0]


def inertia_times(J, a):
    """J a for a symmetric tensor J = (xx, yy, zz, xy, xz, yz)."""
    return [dot((J[0], J[3], J[4]), a), dot((J[3], J[1], J[5]), a), dot((J[4], J[5], J[2]), a)]


def _turned(angle, others):
    return {"R": tuple(about_z(float(np.cos(angle)), float(np.sin(angle))))}


@final
@dataclass(frozen=True)
class Frame:
    """Pose of a frame {B} in its parent {A}. Columns of `R`, which is written row by row, are B's axes in A."""

    r: Annotated[tuple[float, ...], Unit("m"), "origin in the parent frame"] = ZERO3
    R: Annotated[tuple[float, ...], Unit("1"), "rotation matrix, row by row"] = IDENTITY

    shorthand: ClassVar[tuple[Shorthand, ...]] = (
        Shorthand(
            "about_z",
            Annotated[float, Unit("rad"), "rotation about z, instead of R"],
            ("R",),
            _turned,
        ),
    )

    def __post_init__(self):
        check_bounds(self)
        if len(self.r) != 3 or len(self.R) != 9:
            raise InputError(
                "frame: expected an origin r of 3 and a rotation R of 9 numbers, row by row"
            )
        R = np.array(self.R).reshape(3, 3)
        if abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
            raise InputError(
                f"R: not a rotation matrix (R Rᵀ is off the identity by {abs(R @ R.T - np.eye(3)).max():.2g},"
                f" det R = {np.linalg.det(R):.6g})"
            )

    def then(self, other):
        """Pose of other's frame in this frame's parent."""
        return pose(add(self.r, turn(self.R, other.r)), compose(self.R, other.R))


def pose(r, R) -> Frame:
    """A Frame of any scalars (not checked, for frames that move)."""
    new = object.__new__(Frame)
    object.__setattr__(new, "r", tuple(r))
    object.__setattr__(new, "R", tuple(R))
    return new


@final
@dataclass(frozen=True)
class Body:
    """Rigid body in its frame {A}: mass and inertia.

    mass; com: centre of mass in {A}; inertia: tensor about the centre of mass, axes of {A}, (xx, yy, zz, xy, xz, yz),
    off-diagonal entries with the sign they have in the tensor.
    """

    mass: Annotated[float, Unit("kg"), "mass", nonnegative] = 0.0
    com: Annotated[tuple[float, ...], Unit("m"), "centre of mass in the body's frame"] = ZERO3
    inertia: Annotated[
        tuple[float, ...],
        Unit("kg m^2"),
        "tensor about the centre of mass: xx, yy, zz, xy, xz, yz",
        Bound(words=""),
    ] = (0.0,) * 6

    def __post_init__(self):
        check_bounds(self)
        if len(self.com) != 3 or len(self.inertia) != 6:
            raise InputError(
                "body: expected com of 3 numbers and inertia of 6 (xx, yy, zz, xy, xz, yz)"
            )
        # Principal moments of the mass distribution must be non-negative: Jmax ≤ J1 + J2 (triangle inequality).
        J = np.linalg.eigvalsh(self.tensor())
        if J[0] < -1e-9 * max(J[-1], 1e-12) or J[2] > (J[0] + J[1]) * (1 + 2e-3) + 1e-12:
            raise InputError(
                f"inertia: principal moments {J[0]:.6g}, {J[1]:.6g}, {J[2]:.6g} kg m² belong to no body; "
                "each must be non-negative and none larger than the sum of the other two",
                mend="give all three; of a body that moves in one plane the moment J about its normal will do: (J, J, J, 0, 0, 0)",
            )
        if self.mass == 0 and J[-1] > 0:
            raise InputError("mass: a body with inertia but no mass")

    def tensor(self) -> np.ndarray:
        """Inertia about the centre of mass as a 3×3 array."""
        xx, yy, zz, xy, xz, yz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float)

    def matrix(self) -> np.ndarray:
        """M_A (6×6) in {A}, linear part first."""
        r = self.com
        rx = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        m = self.mass
        return np.block([[m * np.eye(3), -m * rx], [m * rx, self.tensor() - m * rx @ rx]])

    def moved(self, frame: Frame) -> Body:
        """The same body expressed in the parent of `frame` (its own frame at pose `frame` there)."""
        R = np.array(frame.R).reshape(3, 3)
        J = R @ self.tensor() @ R.T
        com = np.array(frame.r) + R @ np.array(self.com)
        return Body(self.mass, tuple(map(float, com)), _six(J))

    def joined(self, other: Body) -> Body:
        """Both bodies (in the same frame) as one."""
        m = self.mass + other.mass
        if m == 0:
            return self
        com = (self.mass * np.array(self.com) + other.mass * np.array(other.com)) / m
        J = sum(b.tensor() + b.mass * _steiner(np.array(b.com) - com) for b in (self, other))
        return Body(m, tuple(map(float, com)), _six(J))


def _steiner(d):
    return d @ d * np.eye(3) - np.outer(d, d)


def _six(J):
    return tuple(float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


def plus(F, G):
    """Sum of two 6-D vectors."""
    return add(F[0], G[0]), add(F[1], G[1])


def minus(F, G):
    """Difference of two 6-D vectors."""
    return sub(F[0], G[0]), sub(F[1], G[1])


def power(V, F):
    """Vᵀ F."""
    return dot(V[0], F[0]) + dot(V[1], F[1])
