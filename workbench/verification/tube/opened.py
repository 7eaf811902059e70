"""What runs of the loop may differ in for ever, or from sample to sample, as states of a larger loop.

    a number of the plant     θ   J: θ,   release: θ,   flow: 0             it stays as it starts
    noise of a measurement    ν   J: 0,   release: ν,   flow: 0             a sample reads it once; anew before the next one
    a dead time's share       ρ   J: ρ,   release: ρ,   flow: 0             the dead time is ρ times that of the run, lag
    the pace of time          s   J: ρ,   release: (T − ρ lag)/(T − lag)    states flow at s f(x)

So a tube of the larger loop, from starts in which all of these are within their bounds, holds the runs of the smaller one
for each of them. At the pace s a span of the sample is gone through in its own length, whatever length it has in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.wrappers import Noisy, Sampled
from workbench.numerics.calculus import hoist

STEPS = ("jump", "release", "flow", "start")  # functions of the state that give the state
SHARE, PACE = "delay", "pace"  # names of the states of a dead time


@dataclass(frozen=True)
class Varied:
    """A number of the plant by its path: its value in the run, and the bounds between which it may be instead."""

    path: str
    unit: str
    value: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """The farther bound's distance from the value, rounded up."""
        far = max(self.high - self.value, self.value - self.low)
        return float(np.nextafter(far, np.inf)) if far > 0 else 0.0

    def at(self, share: float) -> float:
        """The number at a share of the way from the run's own to a bound, −1 to 1."""
        far = self.high - self.value if share > 0 else self.value - self.low
        return self.value + share * far


@dataclass(frozen=True)
class Noise:
    """Noise of a measured signal, anything up to `half` in size at every sample."""

    signal: str
    unit: str
    half: float

    @property
    def input(self) -> str:
        """The loop's input that it is."""
        return f"noise_{self.signal}"


@dataclass(frozen=True)
class Late:
    """The loop's dead time, as far as it is less than a sample: of the run, of a sample, and its bounds, all in s."""

    lag: float
    period: float
    low: float
    high: float

    @property
    def rest(self) -> float:
        """What is left of a sample of the run."""
        return self.period - self.lag

    @property
    def half(self) -> float:
        """Of its share of that of the run."""
        far = max(self.high - self.lag, self.lag - self.low) / self.lag
        return float(far * (1 + 1e-12))


@dataclass(frozen=True)
class Free:
    """All that runs may differ in beside their starts."""

    numbers: tuple[Varied, ...] = ()
    noises: tuple[Noise, ...] = ()
    late: Late | None = None

    @property
    def names(self) -> list[str]:
        """Of the states that stand for them."""
        own = [*(v.path for v in self.numbers), *(n.input for n in self.noises)]
        return own if self.late is None else [*own, SHARE, PACE]

    @property
    def units(self) -> list[str]:
        own = [*(v.unit for v in self.numbers), *(n.unit for n in self.noises)]
        return own if self.late is None else [*own, "1", "1"]

    @property
    def values(self) -> list[float]:
        """In the run."""
        own = [*(v.value for v in self.numbers), *(0.0 for _ in self.noises)]
        return own if self.late is None else [*own, 1.0, 1.0]

    @property
    def halves(self) -> list[float]:
        """How far they may be off at first."""
        own = [*(v.half for v in self.numbers), *(n.half for n in self.noises)]
        return own if self.late is None else [*own, self.late.half, 0.0]

    @property
    def fresh(self) -> list[float]:
        """How far they may be off anew at every later sample."""
        own = [*(0.0 for _ in self.numbers), *(n.half for n in self.noises)]
        return own if self.late is None else [*own, 0.0, 0.0]


NOTHING = Free()


def noisy(loop: Any, noises: Sequence[Noise]) -> Any:
    """The loop with inputs for the noise of these signals."""
    return replace(loop, controller=_noisy(loop.controller, noises)) if noises else loop


def _noisy(law: Any, noises: Sequence[Noise]) -> Any:
    if isinstance(law, Sampled):
        signals = tuple(n.signal for n in noises)
        return replace(law, inner=Noisy(law.inner, 1.0, signals))
    if law.inner is None:
        raise InputError(
            "the law reads its measurements by itself, so that no noise can be put to them",
            mend="write it inside Sampled(law, T_s=…), or leave the noise out",
        )
    return replace(law, inner=_noisy(law.inner, noises))


def opened(traced: Any, free: Free, told: ca.Function) -> dict[str, ca.Function]:
    """The loop's functions with what is free behind its states, `out` what is told, and the `prelude` of their constants.

    told: a function of the loop's (t, x, w, p).
    """
    n = traced.n_states
    t = ca.SX.sym("t")
    x = ca.SX.sym("x", n)
    θ = ca.SX.sym("θ", len(free.numbers))
    ν = ca.SX.sym("ν", len(free.noises))
    ρ = ca.SX.sym("ρ", 0 if free.late is None else 1)
    s = ca.SX.sym("s", 0 if free.late is None else 1)
    inputs = [noise.input for noise in free.noises]
    others = [name for name in traced.live if name not in inputs]
    w = ca.SX.sym("w", len(others))
    given = ca.vertcat(
        *(ν[inputs.index(k)] if k in inputs else w[others.index(k)] for k in traced.live)
    )
    p = ca.SX.sym("p", len(traced.paths))
    numbers = ca.SX(p)
    numbers[[traced.paths.index(f"plant.{v.path}") for v in free.numbers]] = θ
    parts = [traced.prelude(numbers), told(t, x, given, numbers)]
    (known, measured), c, prelude = hoist(parts, p)
    later = ρ if free.late is None else (free.late.period - free.late.lag * ρ) / free.late.rest
    behind = {
        "jump": ca.vertcat(θ, 0 * ν, ρ, ρ),
        "release": ca.vertcat(θ, ν, ρ, later),
        "flow": ca.SX(len(free.names), 1),
        "start": ca.vertcat(θ, ν, ρ, s),
    }

    def larger(name: str) -> ca.SX:
        own = ca.densify(getattr(traced, name)(t, x, given, known))
        if name == "flow" and free.late is not None:
            own = own * s
        return ca.vertcat(own[:n], behind[name])

    values = {name: larger(name) for name in STEPS} | {"out": measured}
    arguments = [t, ca.vertcat(x, θ, ν, ρ, s), w, c]
    found = {name: ca.Function(name, arguments, [value]) for name, value in values.items()}
    return found | {"prelude": ca.Function("prelude", [p], [prelude])}
