"""A sampled loop as a function of its PID gains.

From sample to sample the closed loop is x⁺ = M x, the command u = C x, and a signal added to the command enters by B. On each
path from measurement to command there is one gain, so M and C are affine in

    K = (K_p, K_i, K_d):   M(K) = M_0 + Σ_j K_j M_j,   C(K) = C_0 + Σ_j K_j C_j,   B constant

jointly in the gains of all actuators. The return ratio at a command, the other loops closed, is affine in the gains of its own
actuator: L(z; K) = −C (zI − M + B C)⁻¹B = L_0 + Σ_j K_j L_j. All of these matrices follow from as many linearisations as there are
gains, and one more. Hold, delay and filters are part of M.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.system import controls, innermost, names, rewrapped
from workbench.contract.units import quantity
from workbench.numerics.switches import AtAnEdge
from workbench.run.scenario import Scenario
from workbench.verification.linear.local import linearised
from workbench.verification.linear.local_claim import STILL
from workbench.verification.linear.loop import closed, linear_law, point
from workbench.verification.linear.margins import DiskMargin, disk_margin
from workbench.verification.linear.systems import LinearSystem, balanced, break_loop
from workbench.verification.run import Run

GAINS = ("K_p", "K_i", "K_d")
OPEN = 0.1  # of a command, in its unit: beyond the edge at which valves change sides


def with_gains(loop: ClosedLoop, free: Sequence[str], K: np.ndarray) -> ClosedLoop:
    """The loop with other gains: a row of K for every actuator, a column for every name in `free`."""
    law = innermost(loop.controller)
    new = {name: tuple(float(k) for k in column) for name, column in zip(free, np.transpose(K))}
    return ClosedLoop(loop.plant, rewrapped(loop.controller, replace(law, **new)))


def gains(loop: ClosedLoop, free: Sequence[str]) -> np.ndarray:
    """(actuators, free gains) as the loop has them."""
    law = innermost(loop.controller)
    return np.transpose([law.each(getattr(law, name)) for name in free]).astype(float)


@dataclass(frozen=True, eq=False)
class Matrices:
    """The loop from sample to sample: x⁺ = M x + B w, u = C x with w added to the commands; `sides` of the valves, T in s."""

    M: np.ndarray
    B: np.ndarray
    C: np.ndarray
    T: float
    sides: tuple[int, ...] = ()


def matrices(loop: ClosedLoop, at: Mapping[str, Any]) -> list[Matrices]:
    """The loop near rest, one for every combination of valve sides.

    at: the point of linearisation, by the states and inputs (of a manipulator: joints) that differ from the plant's own start.
    Raises InputError where the loop has no samples, no derivative, or does not stand still there.
    """
    # Refuses, with its reason, what is not sampled or has no derivative.
    linear_law(loop, tangent=True)
    T = float(loop.period)
    if not loop.plant.cylinders:
        try:
            return [Matrices(*closed(loop, point(loop.plant, at)), T)]
        except AtAnEdge as why:
            raise InputError(why.message, mend=lambda: _off_the_edge(loop)) from None
    found = linearised(Run(loop, Scenario(duration=1.0, start=pose(loop.plant, at)), None))
    off = max(loc.residual for loc in found)
    if not off <= STILL:
        raise InputError(
            f"the start is no equilibrium (rates up to {off:.2g} in units of 1 rad/s², 10 bar/s, 1 V)",
            mend="choose another pose with at: {q_1: …}",
        )
    return [Matrices(loc.A, loc.B, loc.C, T, loc.sides) for loc in found]


def _off_the_edge(loop: ClosedLoop) -> str:
    """Advice where a valve is exactly between its sides at the start: commands or spools to open a little, if that helps."""
    plant = loop.plant
    commands = controls(plant)
    units = {s.unit for s in commands}
    spools = [s for s in plant.states if s.unit in units]
    by_runs = "find the gains without a linear model, by runs (workbench tune --method runs)"
    for moved in (commands, spools, [*commands, *spools]):
        at = {s.name: OPEN for s in moved}
        try:
            closed(loop, point(plant, at))
        except InputError:
            continue
        options = " ".join(f"--at {name}={value}" for name, value in at.items())
        listed = ", ".join(f"{name}: {value}" for name, value in at.items())
        return f"linearise with valves a little open, {options} (in a file at: {{{listed}}}), or {by_runs}"
    return by_runs


def pose(plant, at: Mapping[str, Any]) -> tuple[float, ...] | None:
    """Joint positions of a manipulator with what `at` says, None where it says nothing. InputError for other names."""
    if not at:
        return None
    joints = plant.states[: plant.n]
    for name in at:
        if name not in names(joints):
            raise InputError(
                f"at: {name!r} is no joint of the manipulator",
                mend=f"choose from {', '.join(names(joints))}",
            )
    return tuple(
        quantity(at[s.name], s.unit) if s.name in at else float(x)
        for s, x in zip(joints, plant.initial())
    )


@dataclass(frozen=True, eq=False)
class Family:
    """The loop as a function of the free gains of all actuators, see the module: K is (actuators, free gains).

    parts: M_0, its derivatives by every gain, B, C_0 and likewise; one such tuple for every combination of valve sides.
    """

    free: tuple[str, ...]
    T: float
    parts: tuple[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], ...]

    def at(self, K: np.ndarray) -> list[Matrices]:
        """The loop at these gains."""
        return [
            Matrices(M + np.tensordot(K, dM, 2), B, C + np.tensordot(K, dC, 2), self.T)
            for M, dM, B, C, dC in self.parts
        ]

    def loops(self, K: np.ndarray, i: int) -> list[LinearSystem]:
        """L at command i, one for every combination of valve sides."""
        return [balanced(break_loop(b.M, b.B, b.C, i, b.T)) for b in self.at(K)]

    def margins(
        self, K: np.ndarray, least: float = 0.0, first: int = 0
    ) -> list[tuple[DiskMargin, int]]:
        """(disk margin by bisection with the symplectic pencil, command), beginning with command `first`; ends at the first
        one below `least`."""
        found = []
        n = len(K)
        every = self.at(K)
        for k in [first, *(k for k in range(n) if k != first)]:
            for b in every:
                found.append((disk_margin(balanced(break_loop(b.M, b.B, b.C, k, b.T))), k))
                if found[-1][0].α < least:
                    return found
        return found

    def responses(self, K: np.ndarray, i: int, ω: np.ndarray, steps: Sequence[float]) -> np.ndarray:
        """(sides, frequencies, 1 + free gains): L_0 and L_j of command i at the frequencies ω, the others' gains as in K;
        steps: gains the L_j are told apart by."""
        values = []
        for own in [np.zeros(len(steps)), *(np.eye(len(steps)) * steps)]:
            new = K.copy()
            new[i] = own
            values.append([[L.at(w)[0, 0] for w in ω] for L in self.loops(new, i)])
        first = np.array(values[0])
        rest = [np.array(v) for v in values[1:]]
        return np.stack([first, *((v - first) / s for v, s in zip(rest, steps))], axis=-1)


def family(loop: ClosedLoop, free: Sequence[str], at: Mapping[str, Any]) -> Family:
    """The loop with the gains named in `free` left open; everything else stays as the loop has it."""
    n = innermost(loop.controller).n
    steps = sizes(loop, free)
    K = np.tile(steps, (n, 1))  # not at 0: a sum with no gain never changes and would be left out
    base = matrices(with_gains(loop, free, K), at)
    dM, dC = ([np.zeros((*K.shape, *getattr(b, name).shape)) for b in base] for name in "MC")
    for i, j in np.ndindex(*K.shape):
        moved = K.copy()
        moved[i, j] *= 2
        for b, new, M, C in zip(base, matrices(with_gains(loop, free, moved), at), dM, dC):
            M[i, j], C[i, j] = (new.M - b.M) / steps[j], (new.C - b.C) / steps[j]
    parts = [
        (b.M - np.tensordot(K, M, 2), M, b.B, b.C - np.tensordot(K, C, 2), C)
        for b, M, C in zip(base, dM, dC)
    ]
    return Family(tuple(free), base[0].T, tuple(parts))


def sizes(loop: ClosedLoop, free: Sequence[str]) -> np.ndarray:
    """Typical sizes of the gains, at which their effects can be told apart: for K_p the whole command for an error of 1 cm."""
    whole = 100.0 * float(innermost(loop.controller).u_max)
    return np.array([whole * {"K_p": 1.0, "K_i": 1.0, "K_d": 0.01}[name] for name in free])
