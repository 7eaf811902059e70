"""Polynomials near the nominal run of a flow with fast modes, in floats. Any will do: the checker encloses what they miss.

Over a step the coefficients of c(s) = Σ C_j s^j are those of ċ = f(c), f_j = (j + 1) C_{j+1}: forwards from the state in the
slow coordinates, backwards from f_p = 0 in the fast ones. So c has no fast motion; what the state has of it is left out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.verification.tube.checker import interval as iv
from workbench.verification.tube.checker import series
from workbench.verification.tube.checker.centred import gradient
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.frame import FAST, Frame, framed
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.program import NAMES
from workbench.verification.tube.checker.samples import as_it_is, constants
from workbench.verification.tube.checker.section import released
from workbench.verification.tube.checker.series import Series
from workbench.verification.tube.checker.steps import as_series

SWEEPS = 7
TOUCH = 1e-6  # share of a held command's largest value: how near to its change of sign the flow's kinks are looked at
LOOKED = 60  # nodes at which fast modes, and kinks of the flow, are looked for


class Path:
    """A tube's programs over many nodes at once, in floats."""

    def __init__(self, c: Tube, nodes: np.ndarray):
        self.c = c
        self.nodes = nodes
        self.time = Interval(nodes * c.T)
        self.fixed = [*(Interval(c.w[nodes, j]) for j in range(c.w.shape[1])), *constants(c)]

    def jumped(self, program, x: np.ndarray) -> np.ndarray:
        found = program.run(iv, [self.time, *map(Interval, x.T), *self.fixed], as_it_is)
        return stacked(found[: self.c.states], len(x))

    def coefficients(self, C: np.ndarray) -> np.ndarray:
        """f_j along Σ C_j s^j, (rows, order + 1, states)."""
        p = C.shape[1] - 1
        own = [Series([Interval(C[:, j, i]) for j in range(p + 1)]) for i in range(C.shape[2])]
        rest = map(as_series, self.fixed)
        rates = self.c.flow.run(series, [as_series(self.time), *own, *rest], as_series)
        nothing = Interval(0.0)
        each = [
            stacked(
                [r.parts[j] if j < len(r.parts) else nothing for r in rates[: C.shape[2]]], len(C)
            )
            for j in range(p + 1)
        ]
        return np.nan_to_num(np.stack(each, axis=1), posinf=0.0, neginf=0.0)

    def slope(self, x: np.ndarray) -> np.ndarray:
        given = [self.time, *map(Interval, x.T), *self.fixed]
        return gradient(self.c.flow, given, 1, self.c.states, len(x))[1][:, : self.c.states]

    def sides(self, x: np.ndarray) -> list[np.ndarray]:
        """Of every kink of the flow, on which side of it these states are."""
        p = self.c.flow
        every = p.nodes(iv, [self.time, *map(Interval, x.T), *self.fixed], as_it_is)
        nothing = Interval(0.0)
        return [
            every[a].mid > (every[b] if code != "absolute" else nothing).mid
            for code, a, b in zip((NAMES[k] for k in p.codes), p.left, p.right)
            if code in ("maximum", "minimum", "absolute")
        ]

    def step(self, x: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        """(C, the state after h)."""
        frame = framed(self.slope(x), np.abs(x) + 1e-9 * np.abs(x).max(axis=0) + 1e-12, h)
        C = np.zeros((len(x), self.c.order + 1, self.c.states))
        C[:, 0] = x
        for _ in range(SWEEPS):
            C = swept(C, self.coefficients(C), frame, x)
        w = turn(frame.X, x - C[:, 0])[:, frame.slow :]
        cosine, sine = frame.exponential(h)
        left = cosine.mid * w + sine.mid * np.take_along_axis(w, frame.mate, axis=-1)
        end = np.einsum("rji,j->ri", C, h ** np.arange(C.shape[1]))
        return C, end + turn(frame.T.mid[..., frame.slow :], left)


def swept(C: np.ndarray, f: np.ndarray, frame: Frame, x: np.ndarray) -> np.ndarray:
    """One sweep over all coefficients: slow ones from f, fast ones by Newton's method."""
    s = frame.slow
    p = C.shape[1] - 1
    W = np.einsum("rik,rjk->rji", frame.X, C)
    g = np.einsum("rik,rjk->rji", frame.X, f)
    new = W.copy()
    new[:, 0, :s] = turn(frame.X, x)[:, :s]
    for j in range(p):
        new[:, j + 1, :s] = g[:, j, :s] / (j + 1)
    later = np.zeros_like(W[:, 0, s:])
    for j in range(p, -1, -1):
        following = (j + 1) * W[:, j + 1, s:] if j < p else 0.0
        later = backwards(frame, (j + 1) * later - (g[:, j, s:] - following))
        new[:, j, s:] += later
    return np.einsum("rik,rjk->rji", frame.T.mid, new)


def backwards(frame: Frame, v: np.ndarray) -> np.ndarray:
    """Λ⁻¹v of the fast coordinates."""
    other = np.take_along_axis(v, frame.mate, axis=-1)
    return (frame.a * v - frame.b * other) / (frame.a**2 + frame.b**2)


def turn(X: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.einsum("rij,rj->ri", X, v)


def stacked(found: list, rows: int) -> np.ndarray:
    return np.stack([np.broadcast_to(b.mid, (rows,)) for b in found], axis=-1)


def starts(path: Path) -> np.ndarray:
    """States just after the samples."""
    c = path.c
    x = np.zeros((len(path.nodes), c.states))
    x[:, c.section] = c.z[path.nodes]
    return path.jumped(c.jump, x)


def fastest(c: Tube) -> float:
    """The largest |λ| of the flow that is seen along the nominal run, 1/s."""
    nodes = np.unique(np.linspace(0, len(c.z) - 1, LOOKED).astype(int))
    path = Path(c, nodes)
    with np.errstate(all="ignore"):
        return float(np.abs(np.linalg.eigvals(path.slope(starts(path)))).max())


def longest(c: Tube) -> float:
    """The longest step of the flow, s."""
    return float(max(c.lag / max(c.substeps[0], 1), (c.T - c.lag) / c.substeps[1]))


def pathed(c: Tube) -> Tube:
    """With polynomials where a mode is too fast for the steps; as it is elsewhere."""
    if not fastest(c) * longest(c) > FAST:
        return c
    found = np.zeros((len(c.z), int(c.substeps.sum() * c.finer.max()), c.order + 1, c.states))
    for finer in np.unique(c.finer):
        nodes = np.flatnonzero(c.finer == finer)
        with np.errstate(all="ignore"):
            each = polynomials(c, nodes, int(finer))
        found[nodes, : len(each)] = np.stack(each, axis=1)
    return replace(c, paths=found)


def polynomials(c: Tube, nodes: np.ndarray, finer: int) -> list[np.ndarray]:
    """Of these nodes, step after step, (nodes, order + 1, states)."""
    path = Path(c, nodes)
    x = starts(path)
    found = []
    for k, span in enumerate((c.lag, c.T - c.lag)):
        many = int(c.substeps[k]) * finer
        if k == 1 and c.lag > 0:
            x = path.jumped(c.release, x)
        for _ in range(many):
            C, x = path.step(x, float(span / many))
            found.append(C)
    return found


def turning(c: Tube) -> np.ndarray:
    """States whose change of sign turns a kink of the flow round, wherever the nominal run is."""
    nodes = np.unique(np.linspace(0, len(c.z) - 1, LOOKED).astype(int))
    path = Path(c, nodes)
    x = starts(path)
    found = np.zeros(c.states, bool)
    for i in np.flatnonzero(c.flow.still()[: c.states]):
        sides = []
        for sign in (1.0, -1.0):
            at = x.copy()
            at[:, i] = sign * TOUCH * np.abs(x[:, i]).max()
            sides.append(path.sides(at))
        found[i] = any((a != b).any() for a, b in zip(*sides))
    if c.lag > 0:
        found |= handing_on(path, x, released(c) & found)
    return found


def handing_on(path: Path, x: np.ndarray, later: np.ndarray) -> np.ndarray:
    """States on which those that are told hang when they are released: of a queue the one whose turn it is."""
    c = path.c
    before = path.jumped(c.release, x)[:, later]
    found = np.zeros(c.states, bool)
    for i in range(c.states if later.any() else 0):
        moved = x.copy()
        moved[:, i] += 1 + np.abs(x[:, i])
        found[i] = (path.jumped(c.release, moved)[:, later] != before).any()
    return found
