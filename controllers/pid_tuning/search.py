"""The search for PID gains: it begins with stable ones, then improves one actuator after the other, with the other loops closed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from controllers.pid_tuning.design import Program, climb, recover
from controllers.pid_tuning.linear import Family, family, gains, sizes, with_gains
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.system import innermost, names

GUIDES = 160  # frequencies the programs begin with
TRIED = 48  # crossovers tried for the first gains
SWEEPS = 15  # over all actuators
ALIKE = 0.02  # relative: gains that change less from sweep to sweep are found
TOGETHER = 3.0  # growth of one actuator before the next has its turn, so that none takes what the others need


@dataclass(frozen=True, eq=False)
class Search:
    """One search: the loop as a function of its gains, what is wanted, and the largest noise gain of each actuator."""

    loop: ClosedLoop
    family: Family
    m: float
    noise: tuple[tuple[np.ndarray, float] | None, ...]

    @property
    def free(self):
        return self.family.free

    def program(self, K: np.ndarray, i: int, guides: int = GUIDES) -> Program:
        return Program(
            self.family,
            K,
            i,
            sizes(self.loop, self.free),
            _guides(self.family.T, guides),
            self.m,
            self.noise[i],
        )

    def least(self, K: np.ndarray, enough: float) -> float:
        """The smallest disk margin, or the first one met below `enough`."""
        return min(e[0].α for e in self.family.margins(K, enough))


def best_gains(
    loop: ClosedLoop,
    free: Sequence[str],
    m: float,
    at: Mapping[str, Any],
    noise_gain: float | None,
    tell: Callable[[float], None],
) -> ClosedLoop:
    """The loop with the largest K_i found (K_p where K_i is not free) that leaves every command a disk margin of m.

    Where that is not reached, with the largest disk margin found. Raises InputError where nothing stabilises the loop.
    """
    n = innermost(loop.controller).n
    search = Search(
        loop, family(loop, free, at), m, tuple(_noise(loop, i, free, noise_gain) for i in range(n))
    )
    goal = free.index("K_i") if "K_i" in free else 0
    K, scales, α = _first(search)
    for sweep in range(SWEEPS if n > 1 or α < m else 1):
        before = K.copy()
        for i in range(n):
            program = search.program(K, i)
            if α < m:
                own, α = recover(program, K[i], scales[i], α)
            else:
                own = climb(program, K[i], goal, scales[i], np.inf if n == 1 else TOGETHER)
            K = program.whole(own)
            tell((sweep + (i + 1) / n) / SWEEPS)
        if np.allclose(K[:, goal], before[:, goal], rtol=ALIKE, atol=0.0):
            break
    return with_gains(loop, free, K)


def _guides(T: float, count: int) -> np.ndarray:
    top = np.pi / T
    return np.geomspace(1e-5 * top, 0.999 * top, count)


def _noise(loop, i: int, free, limit: float | None) -> tuple[np.ndarray, float] | None:
    """(h, b) of h·K ≤ b for the free gains K of actuator i: the limit on the noise gain, less the share of the other gains."""
    if limit is None:
        return None
    law = innermost(loop.controller)
    weight = {"K_p": 1.0, "K_i": 0.0, "K_d": 2 / (2 * law.τ + float(loop.period))}
    rest = sum(
        w * law.each(getattr(law, name))[i] for name, w in weight.items() if name not in free
    )
    if limit <= rest:
        raise InputError(
            f"noise_gain: {limit:g}, of which the gains that are not searched use {rest:g} already",
            mend="allow more, or let K_p and K_d be found",
        )
    return np.array([weight[name] for name in free]), limit * (
        1 - 1e-4
    ) - rest  # rounded gains stay below it


def first_stable(loop: ClosedLoop, free: Sequence[str], m: float) -> tuple[ClosedLoop, float]:
    """(the loop with the first simple gains that keep a disk margin of m at every command, the least of these margins).

    Where none keeps it: those with the largest. Raises InputError where nothing simple is stable.
    """
    none = (None,) * innermost(loop.controller).n
    K, _, margin = _first(Search(loop, family(loop, free, {}), m, none))
    return with_gains(loop, free, K), margin


# ---- the first gains ------------------------------------------------------------------------------------------------------
def _first(search: Search) -> tuple[np.ndarray, np.ndarray, float]:
    """(gains that keep the margin, sizes of the gains, disk margin): the fastest of simple ones.

    K_p = 0.7/|G(ω)|, K_i = K_p ω/20 for all actuators at one ω after the other, from high ones down, without and with K_d.
    Where none keeps the margin: the stable ones with the largest, the loop's own gains among them.
    """
    free = search.free
    law = innermost(search.loop.controller)
    own = gains(search.loop, free)
    programs = [search.program(np.zeros_like(own), i, TRIED) for i in range(law.n)]
    ω = programs[0].ω
    lead = free.index("K_p") if "K_p" in free else 0
    heard = [np.abs(p.L[:, :, 1 + lead]).max(axis=0) for p in programs]
    for name, size in zip(names(law.commands), heard):
        _refuse_deaf(size, name, law)
    quiet = all(p.noise is None or p.noise[0] @ K <= p.noise[1] for p, K in zip(programs, own))
    best = (
        search.least(own, 1e-9) if quiet else 0.0,
        own,
        np.maximum(own, 1e-3 * sizes(search.loop, free)),
    )
    for damped in (0.0, 2.0) if "K_d" in free else (0.0,):
        for k in reversed(range(len(ω))):
            K = np.array(
                [
                    _quieter(_guess(free, size[k], ω[k], damped), p.noise)
                    for p, size in zip(programs, heard)
                ]
            )
            α = search.least(K, min(max(best[0], 1e-9), search.m))
            scales = np.array([_guess(free, size[k], ω[k], 0.1) for size in heard])
            if α >= search.m:
                return K, scales, α
            best = max(best, (α, K, scales), key=lambda e: e[0])
    if best[0] > 0:
        return best[1], best[2], best[0]
    raise _lost(search, ω, heard, names(law.commands))


def _guess(free, size: float, ω: float, damped: float) -> np.ndarray:
    """Gains that cross over near ω."""
    K_p = 0.7 / max(size, 1e-300)
    if "K_p" not in free:  # the size is that of the first free gain's own response
        return np.array([K_p * (1.0 if j == 0 else 0.1) for j in range(len(free))])
    return np.array(
        [{"K_p": K_p, "K_i": K_p * ω / 20, "K_d": damped * K_p / ω}[name] for name in free]
    )


def _quieter(K: np.ndarray, noise) -> np.ndarray:
    return K if noise is None else K * min(1.0, 0.9 * noise[1] / max(noise[0] @ K, 1e-300))


def _refuse_deaf(size: np.ndarray, name: str, law) -> None:
    if not size.max() * law.u_max > 1e-12:
        raise InputError(
            f"{name} has no effect on what the law measures, where the loop is linearised",
            mend="choose a point where it has, e.g. at: {E: 0.1 mm, X: 0.1 mm} for an IEHA, whose distributor is shut "
            "at E = 0",
        )


def _lost(search: Search, ω, heard, commands) -> InputError:
    """Why nothing stabilises: the wrong sign, or nothing simple does."""
    if len(commands) == 1:
        for size, w in zip(heard[0], ω):
            if search.least(-_guess(search.free, size, w, 0.0)[None, :], 1e-9) > 0:
                return InputError(
                    f"{commands[0]}: the measurement goes down when the command goes up, and gains cannot be "
                    "negative",
                    mend="turn the sign of the command or of the measurement in the plant",
                )
    return InputError(
        f"no gains that make the loop stable were found (crossovers from {ω[0]:.3g} to {ω[-1]:.3g} rad/s tried, and "
        "the loop's own gains)",
        mend="give stable gains to start from, let K_d be found as well (free: [K_p, K_i, K_d]), or sample faster",
    )
