"""Test-bench inputs: pulse, step, chirp, multisine, PRBS, as References with one component (space "output").

They go where a scenario takes a disturbance, `Scenario(disturbances={"X": Chirp("output", 4e-4)})`, and
`values(signal, t)` gives the array. Amplitudes are in the SI unit of the input they drive. All are zero (or `offset`)
before they begin. Chirp and MultiSine jump in slope where they begin, Pulse, Step and PRBS jump in value unless a `rise`
time makes the edges quintic (rest to rest).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.run.reference import QUINTIC
from workbench.run.sampling import Space, check_space, component_names, merged_jumps, sample_times


def values(signal, t) -> np.ndarray:
    """(N,) values of a signal with one component at times t."""
    return signal.sample(t, 0)[0, :, 0]


class _One:
    """What all of them share: one component, nothing to resolve, no jerk jumps listed for edges in value or slope."""

    def names(self, n: int) -> tuple[str, ...]:
        """Names of the components."""
        return component_names(self.space, n)

    def resolve(self, start):
        """Itself: nothing begins at "start"."""
        return self

    def jerk_jumps(self):
        """None listed: the jumps are in lower derivatives."""
        return np.zeros(0), np.zeros((0, 1))


@final
@dataclass(frozen=True)
class Pulse(_One):
    """`amplitude` from t = begin for `width` s, `offset` otherwise; a Step when width is None.

    r(t) = offset + amplitude [s((t − begin)/rise) − s((t − begin − width)/rise)],  s a jump for rise = 0
    """

    space: Space
    amplitude: float
    begin: Annotated[float, Unit("s"), "beginning", nonnegative] = 0.1
    width: Annotated[float | None, Unit("s"), "width; None: it stays", positive] = 0.1
    rise: Annotated[float, Unit("s"), "time of an edge", nonnegative] = 0.0
    offset: float = 0.0

    def __post_init__(self):
        _check(self)

    @property
    def duration(self) -> float:
        """End of the last edge, s."""
        return self.begin + self.rise + (self.width or 0.0)

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, 1); edges that jump have no derivative, zero is given."""
        t, order = sample_times(t, order)
        edges = [(self.begin, self.amplitude)]
        if self.width is not None:
            edges.append((self.begin + self.width, -self.amplitude))
        result = np.zeros((order + 1, t.size, 1))
        result[0] += self.offset
        for at, size in edges:
            if self.rise == 0:
                result[0, :, 0] += size * (t >= at)
                continue
            τ = np.clip((t - at) / self.rise, 0.0, 1.0)
            inside = (t >= at) & (t < at + self.rise)
            result[0, :, 0] += size * QUINTIC(τ)
            for i in range(1, order + 1):
                result[i, :, 0] += size * inside * QUINTIC.deriv(i)(τ) / self.rise**i
        return result

    def jerk_jumps(self):
        """Ends of quintic edges: ±60 amplitude/rise³; none for edges that jump."""
        if self.rise == 0:
            return np.zeros(0), np.zeros((0, 1))
        begins = [self.begin] + ([self.begin + self.width] if self.width is not None else [])
        jerk = 60.0 * self.amplitude / self.rise**3
        times, sizes = [], []
        for at, sign in zip(begins, (1, -1)):
            times += [at, at + self.rise]
            sizes += [sign * jerk, -sign * jerk]
        return merged_jumps(np.array(times), np.array(sizes)[:, None])


def Step(
    space: Space, amplitude: float, begin: float = 0.1, rise: float = 0.0, offset: float = 0.0
) -> Pulse:
    """A Pulse that stays."""
    return Pulse(space, amplitude, begin, None, rise, offset)


@final
@dataclass(frozen=True)
class Chirp(_One):
    """Sine of rising frequency, from t = begin for `duration` s, then `offset` again.

    r = offset + amplitude sin(2π φ + phase),   linear: φ = f_0 τ + ½ k τ²,  k = (f_1 − f_0)/duration
                                                 log:    φ = f_0 (e^{κτ} − 1)/κ,  κ = ln(f_1/f_0)/duration
    """

    space: Space
    amplitude: float
    low: Annotated[float, Unit("Hz"), "first frequency f_0", positive] = 0.1
    high: Annotated[float, Unit("Hz"), "last frequency f_1", positive] = 10.0
    length: Annotated[float, Unit("s"), "length of the sweep", positive] = 10.0
    begin: Annotated[float, Unit("s"), "beginning", nonnegative] = 0.0
    logarithmic: bool = False
    offset: float = 0.0
    phase: Annotated[float, Unit("rad"), "phase at the beginning"] = 0.0

    def __post_init__(self):
        _check(self)

    @property
    def duration(self) -> float:
        """End of the sweep, s."""
        return self.begin + self.length

    def frequency(self, t) -> np.ndarray:
        """Instantaneous frequency, Hz."""
        τ = np.asarray(t, float) - self.begin
        if self.logarithmic:
            return self.low * np.exp(math.log(self.high / self.low) / self.length * τ)
        return self.low + (self.high - self.low) / self.length * τ

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, 1); exact derivatives inside the sweep, up to the second."""
        t, order = sample_times(t, order)
        if order > 2:
            raise InputError(
                f"a chirp gives two derivatives, not {order}", mend="smooth it with a Spline"
            )
        τ, inside = t - self.begin, (t >= self.begin) & (t <= self.begin + self.length)
        f = self.frequency(t)
        if self.logarithmic:
            κ = math.log(self.high / self.low) / self.length
            φ = self.low * τ if κ == 0 else self.low * np.expm1(κ * τ) / κ
            slope = κ * f
        else:
            slope = np.full_like(f, (self.high - self.low) / self.length)
            φ = self.low * τ + slope * τ**2 / 2
        angle, ω = 2 * math.pi * φ + self.phase, 2 * math.pi * f
        wave = (
            np.sin(angle),
            ω * np.cos(angle),
            2 * math.pi * slope * np.cos(angle) - ω**2 * np.sin(angle),
        )
        result = np.stack(wave[: order + 1])[:, :, None] * inside[:, None] * self.amplitude
        result[0] += self.offset
        return result


@final
@dataclass(frozen=True)
class MultiSine(_One):
    """Sum of harmonics of 1/period between two frequencies, flat in amplitude, Schroeder phases (low crest factor).

        r = offset + A Σ_k cos(2π k t/period + φ_k),   φ_k = −π k(k − 1)/n,   scaled so that the largest |r − offset|
                                                                             within a period is `amplitude`

    From t = begin for `periods` periods. Source: M. R. Schroeder, Synthesis of low-peak-factor signals, 1970.
    """

    space: Space
    amplitude: float
    low: Annotated[float, Unit("Hz"), "lowest frequency", positive] = 0.1
    high: Annotated[float, Unit("Hz"), "highest frequency", positive] = 10.0
    period: Annotated[float, Unit("s"), "period", positive] = 10.0
    periods: int = 1
    begin: Annotated[float, Unit("s"), "beginning", nonnegative] = 0.0
    offset: float = 0.0

    def __post_init__(self):
        _check(self)
        if not self.harmonics.size:
            raise InputError(
                f"no harmonic of 1/{self.period:g} s lies between {self.low:g} and {self.high:g} Hz",
                mend="lengthen the period",
            )

    @property
    def harmonics(self) -> np.ndarray:
        """Multiples of 1/period."""
        return np.arange(
            math.ceil(self.low * self.period - 1e-9), math.floor(self.high * self.period + 1e-9) + 1
        )

    @property
    def duration(self) -> float:
        """End of the last period, s."""
        return self.begin + self.periods * self.period

    @cached_property
    def _scale(self) -> float:
        fine = np.arange(256 * int(self.harmonics[-1])) * self.period / (256 * self.harmonics[-1])
        return 1.0 / np.abs(self._wave(fine, 0)).max()

    def _wave(self, τ, i: int) -> np.ndarray:
        k = self.harmonics
        order = np.arange(1, k.size + 1)
        angle = (
            2 * math.pi * np.outer(τ, k) / self.period
            - math.pi * order * (order - 1) / k.size
            + i * math.pi / 2
        )
        return (np.cos(angle) * (2 * math.pi * k / self.period) ** i).sum(1)

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, 1); exact derivatives inside."""
        t, order = sample_times(t, order)
        inside = (t >= self.begin) & (t < self.duration)
        result = np.zeros((order + 1, t.size, 1))
        for i in range(order + 1):
            result[i, inside, 0] = (
                self.amplitude * self._scale * self._wave(t[inside] - self.begin, i)
            )
        result[0] += self.offset
        return result


@final
@dataclass(frozen=True)
class PRBS(_One):
    """Pseudo-random binary sequence, offset ± amplitude, a new bit every `clock` s, for `length` s from t = begin.

    Maximum-length shift register of `bits` stages (period 2^bits − 1), started by `seed`.
    """

    space: Space
    amplitude: float
    clock: Annotated[float, Unit("s"), "time of a bit", positive] = 0.02
    length: Annotated[float, Unit("s"), "length", positive] = 10.0
    bits: int = 10
    seed: int = 1
    begin: Annotated[float, Unit("s"), "beginning", nonnegative] = 0.0
    offset: float = 0.0

    def __post_init__(self):
        if not isinstance(self.bits, int) or not 2 <= self.bits <= 20:
            raise InputError(f"bits: {self.bits!r}", mend="choose 2 to 20")
        if not isinstance(self.seed, int) or self.seed % ((1 << self.bits) - 1) == 0:
            raise InputError(
                f"seed: {self.seed!r}; a register full of zeros stays so",
                mend=f"choose a whole number that is no multiple of {(1 << self.bits) - 1}",
            )
        _check(self)

    @property
    def duration(self) -> float:
        """End of the sequence, s."""
        return self.begin + self.length

    @cached_property
    def sequence(self) -> np.ndarray:
        """±1, one period."""
        from scipy.signal import max_len_seq

        state = [int(c) for c in f"{self.seed % ((1 << self.bits) - 1):0{self.bits}b}"]
        return 2.0 * max_len_seq(self.bits, state=state)[0] - 1.0

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, 1); derivatives zero."""
        t, order = sample_times(t, order)
        inside = (t >= self.begin) & (t < self.begin + self.length)
        bit = (
            np.floor((t[inside] - self.begin) / self.clock + 1e-9).astype(int) % self.sequence.size
        )
        result = np.zeros((order + 1, t.size, 1))
        result[0, inside, 0] = self.amplitude * self.sequence[bit]
        result[0] += self.offset
        return result


def _check(signal) -> None:
    check_space(signal.space)
    for name in ("amplitude", "offset"):
        value = getattr(signal, name)
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not math.isfinite(value)
        ):
            raise InputError(f"{name}: expected a finite number in SI, got {value!r}")
    check_bounds(signal)
