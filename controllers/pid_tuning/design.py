"""The largest integral gain under a disk margin, by convex-concave programming with exact acceptance.

    maximise K_i   subject to   |1 − L(z; K)| ≤ a |1 + L(z; K)|  for |z| = 1,  a = 2/m,   stable,
                                K_p² ≥ 4 K_i K_d,   h·K ≤ noise gain

A unit load step at the command leaves ∫e dt = 1/K_i behind. |1 − L| ≤ a |1 + L| is ‖S − T‖∞ ≤ 2/m, a disk margin of m: L stays
out of the disk with centre c = −(a² + 1)/(a² − 1) and radius r = 2a/(a² − 1), which holds −1. L is affine in K, so at gains K⁰
each half-plane that touches the disk and separates it from L(z; K⁰),

    Re n̄ (L(z; K) − c) ≥ r,   n = (L⁰ − c)/|L⁰ − c|,

is a convex restriction that contains K⁰: a linear program a step. While L moves inside the half-planes it cannot pass −1.
K_p² ≥ 4 K_i K_d keeps the zeros of the PID real (T_i ≥ 4 T_d): without it the largest K_i is that of a loop that swings, with
hardly any K_p. As K_p ≥ ρ K_i + K_d/ρ it is linear for each ρ > 0, and ρ = K_p⁰/2K_i⁰ serves at K⁰.
Frequencies only guide the steps. What is accepted has its disk margin from bisection (`margins.disk_margin`), and where a step is
refused the frequency that refused it joins the program. Local: another start may lead further.

Source: [Hast13] convex-concave procedure; [Seiler20] disk margins.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from controllers.pid_tuning.linear import Family

STEPS = 60
GROWTH = 3.0  # gains move by no more than this factor a step
ENOUGH = 1e-3  # relative gain of a step below which it ends
HALVINGS = 7


@dataclass(eq=False)
class Program:
    """The linear programs of actuator i, the others' gains as in K: guiding frequencies ω, and L there affine in its gains."""

    family: Family
    K: np.ndarray
    i: int
    steps: np.ndarray
    ω: np.ndarray
    m: float
    noise: tuple[np.ndarray, float] | None = None  # (h, limit)
    L: np.ndarray = field(init=False)

    def __post_init__(self):
        self.L = self.family.responses(self.K, self.i, self.ω, self.steps)

    def whole(self, own: np.ndarray) -> np.ndarray:
        """The gains of all actuators with these for actuator i."""
        K = self.K.copy()
        K[self.i] = own
        return K

    def add(self, ω: float) -> None:
        """One more guiding frequency."""
        if 0 < ω < np.pi / self.family.T and not np.isclose(self.ω, ω, rtol=1e-9).any():
            self.ω = np.append(self.ω, ω)
            more = self.family.responses(self.K, self.i, np.array([ω]), self.steps)
            self.L = np.concatenate([self.L, more], axis=1)

    def at(self, own: np.ndarray) -> np.ndarray:
        """L at the guiding frequencies, (sides, frequencies)."""
        return self.L @ np.concatenate([[1.0], own])

    def step(self, K: np.ndarray, goal: int, scale: np.ndarray) -> np.ndarray | None:
        """Gains with the largest K[goal] inside the half-planes at K; None where there are none."""
        rows, right = self._rows(K, self.m)
        right = np.maximum(right, rows @ K)  # K itself stays allowed, rounding or not
        return _solved(-np.eye(len(K))[goal], rows, right, _bounds(K, scale), scale)

    def outward(self, K: np.ndarray, scale: np.ndarray, m: float) -> np.ndarray | None:
        """Gains that lead L furthest out of the disk of margin m, within the reach of a step."""
        rows, right = self._rows(K, m)
        planes = self.L.shape[0] * self.L.shape[1]
        slack = np.concatenate([np.ones(planes), np.zeros(len(rows) - planes)])
        right[planes:] = np.maximum(right[planes:], rows[planes:] @ K)
        found = _solved(
            np.append(np.zeros(len(K)), -1.0),
            np.column_stack([rows, slack]),
            right,
            [*_bounds(K, scale), (None, m)],
            np.append(scale, 1.0),
        )
        return None if found is None else found[:-1]

    def _rows(self, K: np.ndarray, m: float) -> tuple[np.ndarray, np.ndarray]:
        """rows·K ≤ right: the half-planes at K for a disk margin m, then noise gain and real zeros."""
        a = 2.0 / m
        centre = -(a * a + 1) / (a * a - 1)
        radius = 2 * a / (a * a - 1)
        L = self.at(K)
        n = (L - centre) / np.abs(L - centre)
        rows = -(n.conj()[..., None] * self.L[..., 1:]).real.reshape(-1, len(K))
        right = ((n.conj() * (self.L[..., 0] - centre)).real - radius).ravel()
        if self.noise is not None:
            rows = np.vstack([rows, self.noise[0]])
            right = np.append(right, self.noise[1])
        if len(K) == 3 and K[1] > 0:
            ρ = K[0] / (2 * K[1])
            rows = np.vstack([rows, [-1.0, ρ, 1 / ρ]])
            right = np.append(right, 0.0)
        return rows, right


def _bounds(K, scale):
    return [
        (k / GROWTH / s if k > s / 10 else 0.0, (GROWTH * k + 0.1 * s) / s)
        for k, s in zip(K, scale)
    ]


def _solved(cost, rows, right, bounds, scale) -> np.ndarray | None:
    from scipy.optimize import linprog

    size = np.maximum(np.abs(rows * scale).max(axis=1), 1e-300)
    found = linprog(cost, rows * scale / size[:, None], right / size, bounds=bounds, method="highs")
    return found.x * scale if found.status == 0 else None


def climb(
    program: Program, K: np.ndarray, goal: int, scale: np.ndarray, factor: float = np.inf
) -> np.ndarray:
    """Better and better gains from K, whose disk margin is at least m; each accepted one has it as well. It ends where
    K[goal] has grown by `factor`."""
    enough = factor * K[goal]
    for _ in range(STEPS):
        if K[goal] >= enough:
            return K
        new = program.step(K, goal, scale)
        if new is None:
            return K
        found, refused = _furthest(program, K, new, goal)
        grown = found[goal] / max(K[goal], 1e-300) - 1
        K = found
        if grown < (ENOUGH / 10 if refused else ENOUGH):
            return K
    return K


def _furthest(
    program: Program, K: np.ndarray, new: np.ndarray, goal: int
) -> tuple[np.ndarray, bool]:
    """(gains on the way from K to new that are still good, whether new itself was refused)."""
    share = 1.0
    for k in range(HALVINGS):
        trial = K + share * (new - K)
        worst = _worst(program, trial)
        if worst[0].α >= program.m:
            return trial, k > 0
        if worst[1] == program.i:
            program.add(worst[0].ω)
        share /= 2
    # The program knows nothing of the other commands, which may mind other gains more.
    for factor in (2.0, 1.3, 1.05):
        trial = K.copy()
        trial[goal] = min(factor * K[goal], max(new[goal], K[goal]))
        if trial[goal] > K[goal] and _worst(program, trial)[0].α >= program.m:
            return trial, True
    return K, True


def _worst(program: Program, own: np.ndarray):
    """The first disk margin below m, or one that is not."""
    return program.family.margins(program.whole(own), program.m, program.i)[-1]


def recover(
    program: Program, K: np.ndarray, scale: np.ndarray, α: float
) -> tuple[np.ndarray, float]:
    """(gains, disk margin): from stable gains with disk margin α below m, as far towards m as steps of this kind lead."""
    for _ in range(STEPS):
        if α >= program.m:
            break
        new = program.outward(K, scale, min(program.m, 1.3 * α))
        if new is None:
            break
        share = 1.0
        found = None
        while found is None and share > 0.5**HALVINGS:
            trial = K + share * (new - K)
            worst = min(program.family.margins(program.whole(trial), 1e-9), key=lambda e: e[0].α)
            if worst[0].α > α * (1 + ENOUGH):
                found = trial, worst[0].α
            elif worst[1] == program.i:
                program.add(worst[0].ω)
            share /= 2
        if found is None:
            break
        K, α = found
    return K, α
