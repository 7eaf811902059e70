"""Gains of a sampled PID loop under a disk margin: every actuator in turn, the others closed, all of them re-checked.

One loop at a time: the margin holds for changes at one command while the others are as they are; `Tuning.together` is the
(smaller) disk margin for changes at all of them at once. Linearised at rest inside the limits: nothing is claimed far from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, final

import numpy as np

from controllers.pid_tuning.design import Program, climb, recover
from controllers.pid_tuning.linear import GAINS, Family, family, gains, sizes, with_gains
from controllers.pid_tuning.record import Tuning, record
from controllers.pid_tuning.experiment import RelayExperiment, relay
from controllers.pid_tuning.rules import Rule, Structure
from controllers.pid_tuning.rules import gains as rule_gains
from workbench.errors import InputError
from workbench.parameters import Bound, Unit, check_bounds, positive
from workbench.system import ClosedLoop, find, innermost, names, rewrapped
from workbench.units import format_quantity, quantity
from workbench.wrappers import Sampled

GUIDES = 160  # frequencies the programs begin with
TRIED = 48  # crossovers tried for the first gains
SPARE = 5e-4  # relative: designed for a little more than asked, so that rounded gains keep it
SWEEPS = 8
Tell = Callable[[float], None]


@final
@dataclass(frozen=True)
class ByDiskMargin:
    """The largest K_i with a disk margin of at least m at every command, see `design`.

    disk_margin  m in (0, 2): 2 is that of no feedback at all; 0.75 allows gain × 0.45 … 2.2 and ±41° together
    free         the gains to find; the others stay. With K_d its filter follows: τ = T_d/N, at least a sample
    noise_gain   largest K_p + 2 K_d/(2τ + T_s): the command per measured unit at half the sampling frequency
    at           where to linearise: states and inputs (joints of a manipulator) other than at the plant's start
    """

    disk_margin: Annotated[float, Unit("1"), "disk margin to keep", Bound(0.0, 2.0, True, "between 0 and 2")] = 0.75
    free: tuple[Literal["K_p", "K_i", "K_d"], ...] = ("K_p", "K_i")
    N: Annotated[float, Unit("1"), "derivative time over its filter's", positive] = 10.0
    noise_gain: Annotated[float | None, Unit("1"), "largest gain from measurement noise to command, SI", positive] = None
    at: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        check_bounds(self)
        if not self.free or len(set(self.free)) < len(self.free) or not set(self.free) <= set(GAINS):
            raise ValueError(f"free: {list(self.free)}; expected some of {', '.join(GAINS)}, each once")
        object.__setattr__(self, "free", tuple(n for n in GAINS if n in self.free))

    def tune(self, loop: ClosedLoop, tell: Tell = lambda share: None) -> Tuning:
        """Gains for `loop`. Raises InputError where there is nothing to tune or no first gains are found."""
        checked(loop)
        return _by_disk_margin(loop, self, tell)


def checked(loop: ClosedLoop) -> None:
    """Raise InputError for a loop that is no sampled PID loop."""
    law = innermost(loop.controller)
    if not hasattr(law, "_each") or not hasattr(law, "K_d"):
        raise InputError(f"tuning is for PID loops, this one has {type(law).__name__}", mend="choose 'law: PID'")
    if loop.period is None:
        raise InputError("the law is continuous: it has no samples", mend="give the loop a sample_time")


def _by_disk_margin(loop, wish: ByDiskMargin, tell: Tell) -> Tuning:
    goal = wish.disk_margin * (1 + SPARE)
    τ_free = "K_d" in wish.free
    base = loop
    for round_ in range(4 if τ_free else 1):
        found = _gains(base, wish, min(goal, 1.9999), lambda share: tell((round_ + share) / (4 if τ_free else 1)))
        if not τ_free:
            break
        τ = _filter(found, wish.N)
        if abs(τ / innermost(found.controller).τ - 1) < 0.05:
            break
        base = _with_filter(loop, τ)
    neat = rounded(found, wish.free)
    tuning = record(neat, wish.disk_margin, wish.at, wish.free)
    return tuning if tuning.met else record(found, wish.disk_margin, wish.at, wish.free)


def _filter(loop, N: float) -> float:
    """τ = T_d/N of the quickest actuator, two digits, a sample or more."""
    law = innermost(loop.controller)
    T_d = [d / p for d, p in zip(law._each(law.K_d), law._each(law.K_p)) if d > 0 and p > 0]
    return max(float(f"{min(T_d) / N:.2g}"), float(loop.period)) if T_d else law.τ


def _with_filter(loop, τ: float) -> ClosedLoop:
    return ClosedLoop(loop.plant, rewrapped(loop.controller, replace(innermost(loop.controller), τ=τ)))


def rounded(loop: ClosedLoop, free: Sequence[str]) -> ClosedLoop:
    """The free gains at four digits."""
    law = innermost(loop.controller)
    neat = {name: tuple(float(f"{k:.4g}") for k in law._each(getattr(law, name))) for name in free}
    neat = {name: values[:1] if len(set(values)) == 1 else values for name, values in neat.items()}
    return ClosedLoop(loop.plant, rewrapped(loop.controller, replace(law, **neat)))


# ---- the search ---------------------------------------------------------------------------------------------------------
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
        return Program(self.family, K, i, sizes(self.loop, self.free), _guides(self.family.T, guides), self.m, self.noise[i])

    def least(self, K: np.ndarray, enough: float) -> float:
        """The smallest disk margin, or the first one met below `enough`."""
        return min(e[0].α for e in self.family.margins(K, enough))


def _gains(loop, wish: ByDiskMargin, m: float, tell: Tell) -> ClosedLoop:
    """The loop with its free gains found."""
    free, n = wish.free, innermost(loop.controller).n
    search = Search(loop, family(loop, free, wish.at), m, tuple(_noise(loop, i, wish) for i in range(n)))
    goal = free.index("K_i") if "K_i" in free else 0
    K, scales, α = _first(search)
    for sweep in range(SWEEPS if n > 1 or α < m else 1):
        before = K.copy()
        for i in range(n):
            program = search.program(K, i)
            if α < m:
                own, α = recover(program, K[i], scales[i], α)
            else:
                own = climb(program, K[i], goal, scales[i])
            K = program.whole(own)
            tell((sweep + (i + 1) / n) / SWEEPS)
        if np.allclose(K[:, goal], before[:, goal], rtol=0.01, atol=0.0):
            break
    return with_gains(loop, free, K)


def _guides(T: float, count: int) -> np.ndarray:
    top = np.pi / T
    return np.geomspace(1e-5 * top, 0.999 * top, count)


def _noise(loop, i: int, wish: ByDiskMargin) -> tuple[np.ndarray, float] | None:
    """(h, limit) of h·K ≤ limit."""
    if wish.noise_gain is None:
        return None
    law = innermost(loop.controller)
    weight = {"K_p": 1.0, "K_i": 0.0, "K_d": 2 / (2 * law.τ + float(loop.period))}
    rest = sum(w * law._each(getattr(law, name))[i] for name, w in weight.items() if name not in wish.free)
    if wish.noise_gain <= rest:
        raise InputError(f"noise_gain: {wish.noise_gain:g}, and the gains that stay make {rest:g} of it already",
                         mend="allow more, or let K_p and K_d be found")
    return np.array([weight[name] for name in wish.free]), wish.noise_gain - rest


# ---- the first gains ------------------------------------------------------------------------------------------------------
def _first(search: Search) -> tuple[np.ndarray, np.ndarray, float]:
    """(gains that keep the margin, sizes of the gains, disk margin): the fastest of simple ones.

    K_p = 0.7/|G(ω)|, K_i = K_p ω/20 for all actuators at one ω after the other, from high ones down, without and with K_d.
    Where none keeps the margin: the stable ones with the largest, the loop's own gains among them.
    """
    free, law = search.free, innermost(search.loop.controller)
    own = gains(search.loop, free)
    programs = [search.program(np.zeros_like(own), i, TRIED) for i in range(law.n)]
    ω, lead = programs[0].ω, free.index("K_p") if "K_p" in free else 0
    heard = [np.abs(p.L[:, :, 1 + lead]).max(axis=0) for p in programs]
    for name, size in zip(names(law.commands), heard):
        _refuse_deaf(size, name, law)
    best = search.least(own, 1e-9), own, np.maximum(own, 1e-3 * sizes(search.loop, free))
    for damped in (0.0, 2.0) if "K_d" in free else (0.0,):
        for k in reversed(range(len(ω))):
            K = np.array([_quieter(_guess(free, size[k], ω[k], damped), p.noise) for p, size in zip(programs, heard)])
            α = search.least(K, max(best[0], 1e-9))
            if α > best[0]:
                best = α, K, np.array([_guess(free, size[k], ω[k], 0.1) for size in heard])
            if α >= search.m:
                return K, best[2], α
    if best[0] > 0:
        return best[1], best[2], best[0]
    raise _lost(search, ω, heard, names(law.commands))


def _guess(free, size: float, ω: float, damped: float) -> np.ndarray:
    """Gains that cross over near ω."""
    K_p = 0.7 / max(size, 1e-300)
    if "K_p" not in free:  # the size is that of the first free gain's own response
        return np.array([K_p * (1.0 if j == 0 else 0.1) for j in range(len(free))])
    return np.array([{"K_p": K_p, "K_i": K_p * ω / 20, "K_d": damped * K_p / ω}[name] for name in free])


def _quieter(K: np.ndarray, noise) -> np.ndarray:
    return K if noise is None else K * min(1.0, 0.9 * noise[1] / max(noise[0] @ K, 1e-300))


def _refuse_deaf(size: np.ndarray, name: str, law) -> None:
    if not size.max() * law.u_max > 1e-12:
        raise InputError(f"{name} has no effect on what the law measures, where the loop is linearised",
                         mend="choose a point where it has, e.g. at: {E: 0.1 mm, X: 0.1 mm} for an IEHA, whose distributor is shut "
                              "at E = 0")


def _lost(search: Search, ω, heard, commands) -> InputError:
    """Why nothing stabilises: the wrong sign, or nothing simple does."""
    if len(commands) == 1:
        for size, w in zip(heard[0], ω):
            if search.least(-_guess(search.free, size, w, 0.0)[None, :], 1e-9) > 0:
                return InputError(f"{commands[0]}: the measurement goes down when the command goes up, and gains cannot be "
                                  "negative", mend="turn the sign of the command or of the measurement in the plant")
    return InputError(f"no gains that make the loop stable were found (crossovers from {ω[0]:.3g} to {ω[-1]:.3g} rad/s tried, and "
                      "the loop's own gains)",
                      mend="give stable gains to start from, let K_d be found as well (free: [K_p, K_i, K_d]), or sample faster")


# ---- by rule ---------------------------------------------------------------------------------------------------------------
@final
@dataclass(frozen=True)
class ByRelay:
    """Gains by a rule from a relay experiment on every actuator in turn, the others under the law as it is.

    rule, structure  see `rules`; N: derivative time over its filter's
    amplitude        of the relay, in the commands' unit; by default a tenth of their limit
    hysteresis       in the measurement's unit: above the noise. bias: added to the command
    at               as for `ByDiskMargin`; states there are where the experiment starts
    """

    rule: Rule = "tyreus-luyben"
    structure: Structure = "PI"
    amplitude: str | float | None = None
    hysteresis: str | float = 0.0
    bias: str | float = 0.0
    N: Annotated[float, Unit("1"), "derivative time over its filter's", positive] = 10.0
    at: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        check_bounds(self)
        rule_gains(1.0, 1.0, self.rule, self.structure, self.N)

    def tune(self, loop: ClosedLoop, tell: Tell = lambda share: None) -> Tuning:
        """Gains for `loop`. Raises InputError where an experiment shows no limit cycle."""
        checked(loop)
        law = innermost(loop.controller)
        seen, rows = [], []
        for i, u in enumerate(law.commands):
            tell(i / law.n)
            seen.append(self._experiment(loop, u, law.measured[i]))
            rows.append(rule_gains(seen[-1].K_u, seen[-1].T_u, self.rule, self.structure, self.N))
        if self.structure == "PID":
            loop = _with_filter(loop, max(float(f"{min(row.τ for row in rows):.2g}"), float(loop.period)))
        made = rounded(with_gains(loop, GAINS, np.array([row[:3] for row in rows])), GAINS)
        words = f"{self.rule} {self.structure} by relay: " + ", ".join(
            f"{e.command} K_u = {e.K_u:.4g}, T_u = {format_quantity(e.T_u, 's')}" for e in seen)
        return record(made, None, self.at, GAINS, words, tuple(seen))

    def _experiment(self, loop, u, y) -> RelayExperiment:
        d, bias = (v if v is None else quantity(v, u.unit) for v in (self.amplitude, self.bias))
        at = {name: quantity(value, find((*loop.plant.states, *loop.plant.inputs), name, "at: states and inputs").unit)
              for name, value in self.at.items()}
        found = relay(loop, d, quantity(self.hysteresis, y.unit), bias, command=u.name,
                      at={k: v for k, v in at.items() if k in names(loop.plant.states)})
        if not found.settled:
            raise InputError(f"relay on {u.name}: {found.why}", mend="change amplitude, hysteresis or bias, or choose "
                             "method: disk-margin")
        return found


METHODS = {"disk-margin": ByDiskMargin, "relay": ByRelay}


def tuned(what, disk_margin: float = 0.75, *, T_s: float = 1e-3, **options):
    """The PID of a sampled loop (or a PID around its own model, sampled every T_s) with gains that keep the disk margin.

    options: those of `ByDiskMargin`. Raises InputError also where the margin is not reached; `ByDiskMargin(…).tune(loop)` gives
    what was reached instead, with all margins.
    """
    loop = what if isinstance(what, ClosedLoop) else ClosedLoop(what.model, Sampled(what, T_s))
    found = ByDiskMargin(disk_margin, **options).tune(loop)
    if not found.met:
        raise InputError(f"a disk margin of {disk_margin:g} is not reached; the largest found is {found.disk:.3g}",
                         mend="ask for less, let K_d be found (free), sample faster, or change the damping")
    return found.law
