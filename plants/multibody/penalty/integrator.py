"""The augmented Lagrangian with penalties and the trapezoidal rule, in one system with the states of the drives.

Unknowns of a step are the motion δ over it (Δz; a rotation vector for a spherical joint) and the drives' states y:

    ż = (2/h) δ − ż_k,   z̈ = (2/h)(ż − ż_k) − z̈_k,   ẏ = (2/h)(y − y_k) − ẏ_k
    f = [ (h²/4) (M z̈ + Φ_zᵀ (α Φ + λ) − Q);  (h/2) (ẏ − u_0(y, z, ż)) ]                          (35)–(40)
    λ ← λ + α Φ after every Newton step                                                          (10)
    [W + (h²/4) Φ_zᵀ α Φ_z] ż = W ż'                                                             (11)
    [W + (h²/4) Φ_zᵀ α Φ_z] z̈ = W z̈' − (h²/4) Φ_zᵀ α Φ̇_z ż,   W = M + (h/2) C + (h²/4) K            (12)

C = −∂Q/∂ż, K = −∂Q/∂z. All rows of Φ are used, redundant ones too. The tangent matrix is the exact derivative of f, where
the paper takes differences (41), (42). A step is done when every correction is below its tolerance: 1e-7 (rad, m, V), 1e-2 Pa.

Source: [Jaiswal21] eqs (9)–(12), (35)–(42), Appendix A; [Bayo96].
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, final

import numpy as np

from plants.multibody import acting, loops
from plants.multibody.penalty.text import Text
from workbench.contract.parameters import Unit, check_bounds, positive
from workbench.contract.system import names
from workbench.numerics.c_code import address, generated, renamed
from workbench.numerics.calculus import Traced, trace
from workbench.numerics.compiler import library


@final
@dataclass(frozen=True)
class Penalty:
    """Settings of the augmented Lagrangian; the defaults are those of the paper that the module cites."""

    α: Annotated[float, Unit("1"), "penalty factor", positive] = 1e11
    tolerance: Annotated[float, Unit("1"), "of a correction, rad, m, V, …", positive] = 1e-7
    pressure_tolerance: Annotated[float, Unit("Pa"), "of a correction of a pressure", positive] = (
        1e-2
    )
    most: int = 50  # Newton iterations a step

    def __post_init__(self):
        check_bounds(self)


@dataclass(frozen=True, eq=False)
class Stepper:
    """The compiled method for mechanisms of one graph: `run` makes steps; without a compiler the same in NumPy."""

    sizes: dict
    parts: dict[str, Traced]
    units: tuple[str, ...]  # of the unknowns
    lib: Any = None
    work: int = 0

    def run(
        self, start, U, h: float, settings: Penalty, constants: list
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """(rows [z, ż, z̈, y, ẏ, λ], iterations, steps done) from `start`, inputs U (n + 1 rows)."""
        n = len(U) - 1
        rows = np.zeros((n + 1, len(start)))
        counts = np.zeros(n + 1, dtype=np.int64)
        rows[0] = start
        tolerances = np.array(
            [
                settings.pressure_tolerance if unit == "Pa" else settings.tolerance
                for unit in self.units
            ]
        )
        if self.lib is None:
            return rows, counts, self._plain(rows, counts, U, h, settings, constants, tolerances)
        work = np.empty(self.work)
        U = np.ascontiguousarray(U)
        made = self.lib.penalise(
            n,
            settings.most,
            h,
            settings.α,
            address(rows),
            counts.ctypes.data,
            address(U),
            *(address(c) for c in constants),
            address(tolerances),
            address(work),
        )
        return rows, counts, made

    def state(self, row) -> np.ndarray:
        """[z, ż, y] of a row."""
        s = self.sizes
        at = s["z"] + 2 * s["dz"]
        return np.concatenate([row[: at - s["dz"]], row[at : at + s["y"]]])

    def restarted(self, row, flow) -> np.ndarray:
        """A row with the accelerations and slopes of `flow`, d/dt of [z, ż, y]."""
        s = self.sizes
        new = row.copy()
        at = s["z"] + s["dz"]
        new[at : at + s["dz"]] = flow[s["z"] : at]
        new[at + s["dz"] + s["y"] : at + s["dz"] + 2 * s["y"]] = flow[at:]
        return new

    def _plain(self, rows, counts, U, h, settings, constants, tolerances) -> int:
        """As penalty.c, letter by letter."""
        s = self.sizes
        nv = s["dz"]
        nz = s["z"]
        N = nv + s["y"]
        call = {
            name: (lambda x, w, f=part.flow, c=c: np.array(f(0.0, x, w, c)).ravel())
            for (name, part), c in zip(self.parts.items(), constants)
        }
        cut = np.cumsum([nz, nv, nv, s["y"], s["y"]])
        for k in range(1, len(U)):
            w = np.concatenate([rows[k - 1], U[k], [h, settings.α]])
            λ = w[cut[-1] : cut[-1] + s["λ"]]  # a view: it changes w
            _, dz, ddz, y, dy, _ = np.split(rows[k - 1], cut)
            x = np.concatenate([h * dz + h * h / 2 * ddz, y + h * dy])
            step = np.full(N, np.inf)
            while not (np.abs(step) < tolerances).all():
                f, J, _, _ = self._parts(call["residual"](x, w), N)
                if counts[k] == settings.most or not np.isfinite(J).all():
                    return k
                step = np.linalg.solve(J.reshape(N, N).T, -f)
                x = x + step
                _, _, Φ, new = self._parts(call["residual"](x, w), N)
                λ += settings.α * Φ
                counts[k] += 1
            z, dz, ddz, dy = np.split(new, np.cumsum([nz, nv, nv]))
            A, W = (
                call["metric"](np.concatenate([z, dz, x[nv:]]), w)
                .reshape(2, nv, nv)
                .transpose(0, 2, 1)
            )
            dz = np.linalg.solve(A, W @ dz)
            ddz = np.linalg.solve(A, W @ ddz - call["bias"](np.concatenate([z, dz, x[nv:]]), w))
            rows[k] = np.concatenate([z, dz, ddz, x[nv:], dy, λ])
            if not np.isfinite(rows[k]).all():
                return k
        return len(U)

    def _parts(self, out, N):
        """f, tangent, Φ, new positions, rates, accelerations and slopes."""
        return np.split(out, np.cumsum([N, N * N, self.sizes["λ"]]))


_steppers: dict = {}


def stepper(mechanism, compiled: bool | None = None) -> tuple[Stepper, list]:
    """The Stepper of a mechanism, built once for all mechanisms of one graph, and its constants."""
    texts = {which: Text(mechanism, which) for which in ("residual", "metric", "bias")}
    parts = {which: trace(text, names(text.inputs)) for which, text in texts.items()}
    key = (*(id(p) for p in parts.values()), compiled)
    if key not in _steppers:
        text = texts["residual"]
        units = (*["rad"] * mechanism.tree.n_v, *(s.unit for s in mechanism.drive_states))
        _steppers[key] = Stepper(text.sizes, parts, units, *_compiled(parts, text.sizes, compiled))
    constants = [
        np.ascontiguousarray(parts[which].constants(text)) for which, text in texts.items()
    ]
    return _steppers[key], constants


def _compiled(parts, sizes, compiled):
    if compiled is False:
        return None, 0
    functions = [renamed(part.flow, which) for which, part in parts.items()]
    named = {"NZ": "z", "NV": "dz", "NY": "y", "NC": "λ", "NU": "u"}
    lib = library(
        generated(
            functions,
            {macro: sizes[name] for macro, name in named.items()},
            (Path(__file__).parent / "penalty.c").read_text("utf-8"),
        )
    )
    if lib is not None:
        p = ctypes.c_void_p
        l = ctypes.c_long
        d = ctypes.c_double
        lib.penalise.argtypes = [l, l, d, d, *[p] * 8]
        lib.penalise.restype = l
    return lib, max(f.sz_w() for f in functions) + 1


def consistent(mechanism, x, u) -> np.ndarray:
    """[z, ż, z̈, y, ẏ, λ] at a start, accelerations and multipliers from the equations of motion."""
    z, rates, own = mechanism.split([float(v) for v in x])
    motion = mechanism.moving(z, rates)
    pulls = mechanism.pulls(motion, z, rates, own, list(u))
    accelerations, λ = mechanism.accelerations(motion, rates, pulls)
    slopes = acting.rates(mechanism, pulls, own, list(u))
    whole = np.zeros(sum(loops.ROWS[loop.joint] for loop in mechanism.loops))
    whole[list(mechanism.used)] = λ
    return np.array(
        [*z, *rates, *accelerations, *(v for part in own for v in part), *slopes, *whole], float
    )
