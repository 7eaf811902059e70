"""The search for a friction law's numbers: data, residuals with exact slopes, starts, trust-region steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, final

import numpy as np
from scipy.optimize import least_squares

from workbench.contract.errors import InputError
from workbench.contract.parameters import bind, leaves
from workbench.numerics.sliding import drive, enough, steady

ABOVE = {"F_s": "F_c", "v_b": "v_s"}  # never below these
MORE = 2  # data a number needs at least
BRIEF, LONG = 12, 200  # evaluations from each start, and from the best
STIFFNESSES = 5  # bristle stiffnesses to start from
SPEEDS = 8  # Stribeck speeds to start from
FEW = 2000  # data to start from
KEPT = 3  # starts that are followed on
WIDE = 30.0  # longest time and largest v_b searched, of what is in the data; v_s lies within it


@final
@dataclass(frozen=True, eq=False)
class Points:
    """Forces F [N] (N,) of sliding steadily at speeds v [m/s] (N,)."""

    v: np.ndarray
    F: np.ndarray
    source: str = ""

    def __post_init__(self):
        v = np.asarray(self.v, float).ravel()
        F = np.asarray(self.F, float).ravel()
        if v.size != F.size or not (np.isfinite(v).all() and np.isfinite(F).all()):
            raise InputError(
                f"{v.size} speeds and {F.size} forces",
                file=self.source or None,
                mend="give finite numbers, one force a speed",
            )
        object.__setattr__(self, "v", v)
        object.__setattr__(self, "F", F)


@final
@dataclass(frozen=True, eq=False)
class Motion:
    """A record as the fit sees it: t, v, F."""

    t: np.ndarray
    v: np.ndarray
    F: np.ndarray
    source: str = ""


@dataclass(frozen=True, eq=False)
class Task:
    """A law, data and the names of what is wanted: the function to be minimised.

    The search runs over what lies above a lower bound: F_s − F_c instead of F_s, v_b − v_s instead of v_b.
    """

    law: Any
    sets: tuple[Points | Motion, ...]
    wanted: tuple[str, ...]
    offset: bool = False
    parts: tuple[int, ...] = ()

    @property
    def map(self) -> np.ndarray:
        """(p, p): numbers = map · what is searched."""
        M = np.eye(len(self.wanted))
        for name, below in ABOVE.items():
            if name in self.wanted and below in self.wanted:
                M[self.wanted.index(name), self.wanted.index(below)] = 1.0
        return M

    def refuse_too_little(self) -> None:
        N = sum(s.v.size for s in self.sets)
        if N < MORE * len(self.wanted):
            raise InputError(
                f"{N} data are too few for {len(self.wanted)} numbers",
                file=self.sets[0].source or None,
                mend=f"give at least {MORE * len(self.wanted)}, or hold some of {', '.join(self.wanted)}",
            )

    def thinned(self) -> tuple[np.ndarray, np.ndarray]:
        """(v, F) of all sets where they slide steadily, about, few enough to look around with."""
        kept = [
            _slid(d) if isinstance(d, Motion) and self.law.states("") else slice(None)
            for d in self.sets
        ]
        v, F = (np.concatenate([getattr(d, n)[k] for d, k in zip(self.sets, kept)]) for n in "vF")
        return v[:: -(-v.size // FEW)], F[:: -(-v.size // FEW)]

    def at(self, θ):
        """The law with these numbers."""
        return bind(self.law, dict(zip(self.wanted, map(float, θ))))

    def numbers(self, law) -> np.ndarray:
        return np.array([getattr(law, n) for n in self.wanted])

    def predicted(self, law) -> list[tuple[np.ndarray, np.ndarray]]:
        """(forces, derivatives by the wanted numbers) of each set of data, offsets not in them."""
        pick = [[leaf.path for leaf in leaves(law)].index(n) for n in self.wanted]
        found = []
        for k, data in enumerate(self.sets):
            if isinstance(data, Points) or not law.states(""):
                F, J = steady(law, data.v)
            else:
                run = drive(
                    law,
                    data.t,
                    data.v,
                    start=_begin(law, data.v),
                    slopes=True,
                    parts=self.parts[k] if self.parts else None,
                )
                F, J = run.F, run.slopes
            found.append((F, J[:, pick]))
        return found

    def errors(self, law) -> tuple[list[np.ndarray], list[np.ndarray], list[float]]:
        """Residuals, derivatives of the forces, and offsets of each set."""
        pieces = []
        J = []
        offsets = []
        for data, (F, dF) in zip(self.sets, self.predicted(law)):
            e = data.F - F
            shift = float(e.mean()) if self.offset else 0.0
            pieces.append(e - shift)
            J.append(dF - dF.mean(axis=0) if self.offset else dF)
            offsets.append(shift)
        return pieces, J, offsets

    def without_the_unseen(self, starts) -> tuple[Task, list[str]]:
        """Without numbers that move no force wherever the search begins, and with the parts that integration needs."""
        parts = lambda d: (
            max(enough(law, d.t, d.v, _begin(law, d.v)) for law in starts)
            if isinstance(d, Motion)
            else 1
        )
        task = replace(self, parts=tuple(map(parts, self.sets)))
        v, F = self.thinned()
        J = np.concatenate(
            [
                J
                for law in (*starts, *_guesses(self, v, F))
                for J in replace(task, offset=False).errors(law)[1]
            ]
        )
        unseen = [n for n, column in zip(self.wanted, J.T) if not column.any()]
        return replace(task, wanted=tuple(n for n in self.wanted if n not in unseen)), unseen

    def optimised(self, law, evaluations: int):
        """The law at the minimum next to this one, and SciPy's result; searched is x in numbers = map · (x · sizes)."""
        M, θ0 = self.map, self.numbers(law)
        sizes = np.abs(θ0) + 1e-12
        low, high = np.array([self._range(law, n) for n in self.wanted]).T
        scale = np.sqrt(sum(float(np.sum(d.F**2)) for d in self.sets))

        def residuals(x):
            pieces, J, _ = self.errors(self.at(M @ (x * sizes)))
            return np.concatenate(pieces) / scale, -np.concatenate(J) @ M * sizes / scale

        room = 1e-6 * np.minimum(sizes, high - low)
        begin = np.clip(np.linalg.solve(M, θ0), low + room, high - room) / sizes
        found = _least(residuals, begin, (low / sizes, high / sizes), evaluations)
        return self.at(M @ (found.x * sizes)), found

    def _range(self, law, name) -> tuple[float, float]:
        """Where a number is searched: speeds and times within what the data could possibly show."""
        info = next(leaf.info for leaf in leaves(self.law) if leaf.path == name)
        low, high = info.bound.low, np.inf
        if name in ABOVE:
            low = 0.0 if ABOVE[name] in self.wanted else getattr(law, ABOVE[name])
        if info.unit == "m/s":
            speeds = np.abs(np.concatenate([d.v for d in self.sets]))
            top, slow = speeds.max(), speeds[speeds > 0].min()
            low, high = (low, WIDE * top) if name in ABOVE else (max(low, 1e-2 * slow), top)
        if info.unit == "s":
            runs = [d.t for d in self.sets if isinstance(d, Motion)]
            high = WIDE * max((t[-1] - t[0] for t in runs), default=np.inf)
            low = min((1e-2 * float(np.diff(t).min()) for t in runs), default=low)
        return low, high


def _least(residuals, begin, bounds, evaluations: int):
    """SciPy's result of least squares; residuals: x ↦ (residuals, their slopes), worked out once at each x."""
    last = {}

    def residual(x):
        with np.errstate(all="ignore"):
            e, J = residuals(x)
        last.clear()
        last[x.tobytes()] = J
        return np.where(np.isfinite(e), e, 1e3)

    def slope(x):
        known = last.get(x.tobytes())
        J = residuals(x)[1] if known is None else known
        return np.nan_to_num(J, nan=0.0, posinf=0.0, neginf=0.0)

    return least_squares(
        residual,
        begin,
        slope,
        bounds=bounds,
        x_scale="jac",
        ftol=1e-9,
        xtol=1e-9,
        gtol=1e-12,
        max_nfev=evaluations,
    )


def _begin(law, v) -> list[float]:
    """Memory a record begins with: sliding steadily if it moves, else none."""
    if not law.states("") or abs(v[0]) < 1e-3 * np.abs(v).max():
        return [0.0] * len(law.states(""))
    return [
        law.grip(v[0], [0.0, *law.film_settled(v[0])]) / law.σ_0 * np.sign(v[0]),
        *law.film_settled(v[0]),
    ]


def _slid(d: Motion) -> np.ndarray:
    """Which samples of a record have slid a tenth of its longest stroke since the last reversal; all where these are few."""
    x = np.concatenate([[0.0], np.cumsum(0.5 * (d.v[1:] + d.v[:-1]) * np.diff(d.t))])
    turns = np.concatenate([[True], np.sign(d.v[1:]) != np.sign(d.v[:-1])])
    since = np.abs(x - x[np.maximum.accumulate(np.where(turns, np.arange(x.size), 0))])
    found = since > 0.1 * since.max()
    return found if found.sum() > 0.1 * x.size else np.ones(x.size, bool)


# ---- where the search starts ----------------------------------------------------------------------------------------
def starts(task: Task) -> list:
    """The best few of several short searches: Stribeck speeds over the range of the data, bristle stiffnesses over decades."""
    v, F = task.thinned()
    static = replace(task, sets=(Points(v, F),))
    found = [static.optimised(law, BRIEF) for law in _guesses(task, v, F)]
    curves = _best(found)
    if not task.law.states("") or not any(isinstance(d, Motion) for d in task.sets):
        return curves
    longest = max(d.t[-1] - d.t[0] for d in task.sets if isinstance(d, Motion))
    brief = replace(task, parts=(1,) * len(task.sets))
    tried = []
    # m, deflection at breakaway.
    for law, bend in product(curves, np.geomspace(1e-6, 1e-3, STIFFNESSES)):
        σ_0 = max(law.F_s, 1e-9) / bend
        given = {
            "σ_0": σ_0,
            "σ_1": 3e-3 * σ_0,
            "τ_hp": longest / 100,
            "τ_hn": longest / 20,
            "τ_h0": longest,
        }
        tried.append(
            brief.optimised(bind(law, {k: x for k, x in given.items() if k in task.wanted}), BRIEF)
        )
    return _best(tried)


def _best(found) -> list:
    """The few at the lowest cost that differ."""
    chosen = []
    for law, result in sorted(found, key=lambda pair: pair[1].cost):
        if len(chosen) < KEPT and (not chosen or result.cost > 1.01 * chosen[-1][1]):
            chosen.append((law, result.cost))
    return [law for law, _ in chosen]


def _guesses(task: Task, v, F):
    speed = np.abs(v)
    top = np.abs(v).max()
    fast = speed >= 0.4 * top
    b, F_c = (
        np.polyfit(speed[fast], (F * np.sign(v))[fast], 1)
        if fast.sum() > 2
        else (0.0, np.abs(F).mean())
    )
    F_c = max(F_c, 0.05 * np.abs(F).max())
    b = max(b, 1e-3 * np.abs(F).max() / top)
    slowest = max(speed[speed > 0].min(), 1e-3 * top)
    for v_s in np.geomspace(slowest, 0.5 * top, SPEEDS):
        given = {
            "F_c": F_c,
            "F_s": max(1.3 * F_c, np.quantile(np.abs(F), 0.95)),
            "b": b,
            "v_s": v_s,
            "ξ": 1 / v_s,
            "v_b": 3 * v_s,
        }
        yield bind(task.law, {k: x for k, x in given.items() if k in task.wanted})
