"""Gains of a sampled PID loop under a disk margin: every actuator in turn, the others closed, all of them re-checked.

One loop at a time: the margin holds for changes at one command while the others are as they are; `Tuning.together` is the
(smaller) disk margin for changes at all of them at once. Linearised at rest inside the limits: nothing is claimed far from there.
Smooth Coulomb friction is a stiff damper at rest and none in motion: gains for a machine that moves are found on a model without it
(`PID.model`, in a file `model: {friction: {law: Frictionless}}`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, final

import numpy as np

from controllers.pid.law import PID
from controllers.pid_tuning.experiment import RelayExperiment, relay
from controllers.pid_tuning.linear import GAINS, with_gains
from controllers.pid_tuning.record import Tuning, record
from controllers.pid_tuning.rules import Rule, Structure
from controllers.pid_tuning.rules import gains as rule_gains
from controllers.pid_tuning.search import best_gains
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.parameters import Bound, Unit, check_bounds, positive
from workbench.contract.system import innermost, names, rewrapped
from workbench.contract.units import format_quantity, quantity
from workbench.contract.wrappers import Sampled

SPARE = 5e-4  # relative: designed for a little more than asked, so that rounded gains keep it
FILTERS = 4  # rounds in which the derivative's filter follows the gains
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

    disk_margin: Annotated[
        float, Unit("1"), "disk margin to keep", Bound(0.0, 2.0, True, "between 0 and 2")
    ] = 0.75
    free: tuple[Literal["K_p", "K_i", "K_d"], ...] = ("K_p", "K_i")
    N: Annotated[float, Unit("1"), "derivative time over its filter's", positive] = 10.0
    noise_gain: Annotated[
        float | None, Unit("1"), "largest gain from measurement noise to command, SI", positive
    ] = None
    at: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        check_bounds(self)
        if (
            not self.free
            or len(set(self.free)) < len(self.free)
            or not set(self.free) <= set(GAINS)
        ):
            raise InputError(
                f"free: {list(self.free)}; expected some of {', '.join(GAINS)}, each once"
            )
        object.__setattr__(self, "free", tuple(n for n in GAINS if n in self.free))

    @property
    def finds(self) -> tuple[str, ...]:
        """Fields of the PID that are found."""
        return (*self.free, "τ") if "K_d" in self.free else self.free

    def tune(self, loop: ClosedLoop, tell: Tell = lambda share: None) -> Tuning:
        """Gains for `loop`. Raises InputError where there is nothing to tune or no first gains are found."""
        checked(loop)
        return _by_disk_margin(loop, self, tell)


def checked(loop: ClosedLoop) -> None:
    """Raise InputError for a loop that is no sampled PID loop."""
    law = innermost(loop.controller)
    if not law.tunings():
        raise InputError(
            f"tuning is for PID loops, this one has {type(law).__name__}", mend="choose 'law: PID'"
        )
    if loop.period is None:
        raise InputError(
            "the law is continuous: it has no samples", mend="give the loop a sample_time"
        )


def _by_disk_margin(loop, wish: ByDiskMargin, tell: Tell) -> Tuning:
    goal = min(wish.disk_margin * (1 + SPARE), 0.5 * (wish.disk_margin + 2))
    rounds = FILTERS if "K_d" in wish.free else 1
    base = loop
    for k in range(rounds):
        found = best_gains(
            base,
            wish.free,
            goal,
            wish.at,
            wish.noise_gain,
            lambda share, done=k: tell((done + share) / rounds),
        )
        τ = _filter(found, wish.N)
        if rounds == 1 or abs(τ / innermost(found.controller).τ - 1) < 0.05:
            break
        base = _with_filter(loop, τ)
    tuning = record(rounded(found, wish.free), wish.disk_margin, wish.at, wish.finds)
    return tuning if tuning.met else record(found, wish.disk_margin, wish.at, wish.finds)


def _filter(loop, N: float) -> float:
    """τ = T_d/N of the quickest actuator, two digits, a sample or more."""
    law = innermost(loop.controller)
    T_d = [d / p for d, p in zip(law.each(law.K_d), law.each(law.K_p)) if d > 0 and p > 0]
    return max(float(f"{min(T_d) / N:.2g}"), float(loop.period)) if T_d else law.τ


def _with_filter(loop, τ: float) -> ClosedLoop:
    return ClosedLoop(
        loop.plant, rewrapped(loop.controller, replace(innermost(loop.controller), τ=τ))
    )


def rounded(loop: ClosedLoop, free: Sequence[str]) -> ClosedLoop:
    """The free gains at four digits."""
    law = innermost(loop.controller)
    neat = {name: tuple(float(f"{k:.4g}") for k in law.each(getattr(law, name))) for name in free}
    neat = {name: values[:1] if len(set(values)) == 1 else values for name, values in neat.items()}
    return ClosedLoop(loop.plant, rewrapped(loop.controller, replace(law, **neat)))


# ---- by rule ---------------------------------------------------------------------------------------------------------------
@final
@dataclass(frozen=True)
class ByRelay:
    """Gains by a tuning rule. A relay experiment runs on one actuator after the other, while the present law drives the others.

    rule, structure  tuning rule and form (`rules`); N: derivative time over its filter's
    amplitude        of the relay, in the commands' unit; by default a tenth of their limit
    hysteresis       hysteresis of the relay, above the noise. bias: added to the command
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

    @property
    def finds(self) -> tuple[str, ...]:
        """Fields of the PID that tuning sets: every gain, since a rule without derivative action sets that one to 0."""
        return (*GAINS, "τ") if self.structure == "PID" else GAINS

    def tune(self, loop: ClosedLoop, tell: Tell = lambda share: None) -> Tuning:
        """Gains for `loop`. Raises InputError where an experiment shows no limit cycle."""
        checked(loop)
        law = innermost(loop.controller)
        seen = []
        rows = []
        for i, u in enumerate(law.commands):
            tell(i / law.n)
            seen.append(self._experiment(loop, u, law.measured[i]))
            rows.append(rule_gains(seen[-1].K_u, seen[-1].T_u, self.rule, self.structure, self.N))
        if self.structure == "PID":
            loop = _with_filter(
                loop, max(float(f"{min(row.τ for row in rows):.2g}"), float(loop.period))
            )
        made = rounded(with_gains(loop, GAINS, np.array([row[:3] for row in rows])), GAINS)
        words = f"{self.rule} {self.structure} by relay: " + "; ".join(
            f"{e.command} K_u = {e.K_u:.4g}, T_u = {format_quantity(e.T_u, 's')} ({e.T_u / e.T_s:.3g} samples)"
            for e in seen
        )
        return record(made, None, self.at, self.finds, words, tuple(seen))

    def _experiment(self, loop, u, y) -> RelayExperiment:
        d = None if self.amplitude is None else _si("amplitude", self.amplitude, u.unit)
        found = relay(
            loop,
            d,
            _si("hysteresis", self.hysteresis, y.unit),
            _si("bias", self.bias, u.unit),
            command=u.name,
            at={name: value for name, value in self.at.items() if name in names(loop.plant.states)},
        )
        if not found.settled:
            raise InputError(
                f"relay on {u.name}: {found.why}",
                mend="change amplitude, hysteresis or bias, or choose method: disk-margin",
            )
        return found


def _si(key: str, value: str | float, unit: str) -> float:
    try:
        return quantity(value, unit)
    except InputError as why:
        raise InputError(f"{key}: {why.message}", mend=why.mend) from None


METHODS = {"disk-margin": ByDiskMargin, "relay": ByRelay}


def tuned(
    what: ClosedLoop | PID, disk_margin: float = 0.75, *, T_s: float = 1e-3, **options
) -> PID:
    """A PID with the most integral action that keeps the disk margin at every command.

    what         a sampled loop with a PID, or a PID alone, which is tuned on its own model
    disk_margin  the margin kept, 0 … 2
    T_s          sample time of a PID alone, s
    options      those of `ByDiskMargin`

        law = fp.tuned(fp.PID.design(plant), disk_margin=0.6)

    Raises InputError for what is no PID, and where the margin is not reached; `ByDiskMargin(…).tune(loop)` gives what was
    reached instead, with all margins.
    """
    if not isinstance(what, (ClosedLoop, PID)):
        raise InputError(
            f"tuned: expected a sampled loop or a PID, got {type(what).__name__}",
            mend="write tuned(PID.design(plant))",
        )
    loop = what if isinstance(what, ClosedLoop) else ClosedLoop(what.model, Sampled(what, T_s))
    found = ByDiskMargin(disk_margin, **options).tune(loop)
    if not found.met:
        raise InputError(
            f"a disk margin of {disk_margin:g} is not reached; the largest found is {found.disk:.3g}",
            mend="ask for less, let K_d be found (free), sample faster, or change the damping",
        )
    return found.law
