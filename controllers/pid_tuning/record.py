"""What a tuning has found, with the margins its loop has: computed anew from the loop with the gains in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from controllers.pid_tuning.linear import GAINS, Matrices, matrices
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.system import innermost, names
from workbench.verification.linear.margin_verdicts import margin_verdicts
from workbench.verification.linear.margins import disk_margin, gain_crossovers, loop_margins
from workbench.verification.linear.norms import hinf_norm
from workbench.verification.linear.systems import LinearSystem, break_loop, feedback


@final
@dataclass(frozen=True)
class Actuator:
    """One actuator: its gains, and the margins of its loop with the others closed, worst over the sides of the valves.

    disk 0: not known to be stable. crossover: the highest ω with |L| = 1, bandwidth: the first with |T| = 1/√2, rad/s;
    M_s, M_t: largest |S|, |T|; noise: K_p + 2 K_d/(2τ + T_s).
    """

    command: str
    gains: Mapping[str, float]
    disk: float
    gain_down: float
    gain_up: float
    phase: float
    delay: float
    crossover: float
    bandwidth: float
    M_s: float
    M_t: float
    noise: float


@final
@dataclass(frozen=True, eq=False)
class Tuning:
    """A tuned loop.

    law, loop   with the gains in them;  found: names of the fields that were found
    asked       disk margin required, None for a tuning rule, which promises none
    met         whether every command has it, re-checked by closed-loop eigenvalues (`margin_verdicts.margin_verdicts`)
    together    disk margin for simultaneous changes at all commands
    settling    time constant of the slowest mode, s
    words       how they were found;  experiments: the relay experiments, one an actuator
    """

    loop: ClosedLoop
    actuators: tuple[Actuator, ...]
    found: tuple[str, ...]
    asked: float | None
    met: bool
    together: float
    settling: float
    words: str = ""
    experiments: tuple[Any, ...] = ()

    @property
    def law(self):
        """The PID with its new gains."""
        return innermost(self.loop.controller)

    @property
    def disk(self) -> float:
        """The smallest of the actuators' disk margins."""
        return min(a.disk for a in self.actuators)


def record(
    loop: ClosedLoop,
    asked: float | None,
    at: Mapping[str, Any],
    found: Sequence[str],
    words: str = "",
    experiments: tuple = (),
) -> Tuning:
    """The Tuning of a loop that has its gains."""
    every = matrices(loop, at)
    law = innermost(loop.controller)
    commands = names(law.commands)
    cuts = [[break_loop(b.M, b.B, b.C, i, b.T) for b in every] for i in range(len(commands))]
    actuators = tuple(_actuator(loop, i, name, cuts[i]) for i, name in enumerate(commands))
    met = asked is not None and all(_kept(L, asked) for Ls in cuts for L in Ls)
    together = min(_together(b) for b in every)
    λ = max(float(np.abs(np.linalg.eigvals(b.M)).max()) for b in every)
    settling = float(-loop.period / np.log(λ)) if 0 < λ < 1 else np.inf
    if not words and asked is not None:
        words = f"disk margin ≥ {asked:g} " + (
            "kept" if met else f"NOT met: {min(a.disk for a in actuators):.3g}"
        )
    return Tuning(
        loop=loop,
        actuators=actuators,
        found=tuple(found),
        asked=asked,
        met=met,
        together=together,
        settling=settling,
        words=words,
        experiments=experiments,
    )


def _kept(L: LinearSystem, asked: float) -> bool:
    found = margin_verdicts(L, "loop", gain_up=None, gain_down=None, phase=None, disk=asked)
    return all(v.holds is True for v in found)


def _together(b: Matrices) -> float:
    m = b.B.shape[1]
    return disk_margin(LinearSystem(b.M - b.B @ b.C, b.B, -b.C, np.zeros((m, m)), b.T)).α


def _actuator(loop, i: int, name: str, Ls) -> Actuator:
    law = innermost(loop.controller)
    gains = {key: float(law.each(getattr(law, key))[i]) for key in GAINS}
    noise = gains["K_p"] + 2 * gains["K_d"] / (2 * law.τ + float(loop.period))
    margins = [loop_margins(L) for L in Ls]
    disks = [disk_margin(L).α for L in Ls]
    if not all(disk > 0 for disk in disks):
        return Actuator(
            command=name,
            gains=gains,
            disk=0.0,
            gain_down=1.0,
            gain_up=1.0,
            phase=0.0,
            delay=0.0,
            crossover=np.nan,
            bandwidth=np.nan,
            M_s=np.inf,
            M_t=np.inf,
            noise=noise,
        )
    peaks = [_peaks(L) for L in Ls]
    return Actuator(
        command=name,
        gains=gains,
        disk=min(disks),
        gain_down=max(m.gain_down for m in margins),
        gain_up=min(m.gain_up for m in margins),
        phase=min(m.phase_margin for m in margins),
        delay=min(m.delay_margin for m in margins),
        crossover=max(max(gain_crossovers(L), default=0.0) for L in Ls),
        bandwidth=min(peak.bandwidth for peak in peaks),
        M_s=max(peak.M_s for peak in peaks),
        M_t=max(peak.M_t for peak in peaks),
        noise=noise,
    )


class _Peaks(NamedTuple):
    """Peaks of sensitivity and complementary sensitivity, and where the latter falls below 1/√2, rad/s."""

    M_s: float
    M_t: float
    bandwidth: float


def _peaks(L: LinearSystem) -> _Peaks:
    T = feedback(L)
    S = LinearSystem(T.A, T.B, -T.C, 1 - T.D, T.T)
    wide = LinearSystem(T.A, T.B, np.sqrt(2) * T.C, np.sqrt(2) * T.D, T.T)
    M_s, _ = hinf_norm(S)
    M_t, _ = hinf_norm(T)
    return _Peaks(M_s, M_t, bandwidth=min(gain_crossovers(wide), default=0.0))
