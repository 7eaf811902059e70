"""Continuous-time transfer functions, one a channel, summed: what identification finds.

    Y(s) = Σ_i G_i(s) U_i(s),   G(s) = e^{−τ s} (K + b_1 s + … + b_m s^m) / (s^ν (1 + a_1 s + … + a_n s^n))

The denominator begins with 1, so that K is the gain (of the integrated input, for ν > 0) and a_1 = Σ λ_i is the sum of
the lags in Π (1 + λ_i s): the two numbers that slow signals determine. The single λ_i are roots of the same polynomial.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.identification.response import simulated

if TYPE_CHECKING:
    from workbench.identification.records import Record

LONGEST_DELAY = 1e6  # s
HIGHEST = 10  # order of a channel


@final
@dataclass(frozen=True)
class Shape:
    """Structure of one channel.

    input        name of the input
    order        all poles, integrators included
    zeros        degree m of the numerator
    integrators  ν, poles at the origin
    delay        None: none; True: estimated; a number: held at it (s)
    stable       refuse poles in the right half plane while searching

    Raises InputError for orders that are not proper, too high, or smaller than the integrators.
    """

    input: str
    order: int
    zeros: int = 0
    integrators: int = 0
    delay: float | bool | None = None
    stable: bool = True

    def __post_init__(self):
        for name, least in (("order", 1), ("zeros", 0), ("integrators", 0)):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
                raise InputError(
                    f"{name} of {self.input}: {value!r}",
                    mend=f"give a whole number, {least} or more",
                )
        if self.order > HIGHEST:
            raise InputError(
                f"order of {self.input}: {self.order} poles; data seldom determine more than four",
                mend=f"choose an order up to {HIGHEST}, or let it be selected (order auto)",
            )
        if self.zeros >= self.order:
            raise InputError(
                f"{self.input}: {self.zeros} zeros for order {self.order} is not strictly proper: "
                "the output would jump with the input",
                mend=f"choose at most {self.order - 1} zeros, or a higher order",
            )
        if self.integrators > min(self.order, 2):
            raise InputError(
                f"{self.input}: {self.integrators} integrators in order {self.order}",
                mend="the order counts the integrators too; choose 0, 1 or 2 of them",
            )
        if (
            self.delay is not None
            and not isinstance(self.delay, bool)
            and not 0 <= self.delay <= LONGEST_DELAY
        ):
            raise InputError(
                f"delay of {self.input}: {self.delay:g} s",
                mend="give a time from 0 s on, shorter than a record, or estimate it",
            )

    @property
    def lags(self) -> int:
        """n: poles that are not integrators."""
        return self.order - self.integrators

    @property
    def estimates_delay(self) -> bool:
        """Whether the delay is a parameter."""
        return self.delay is True

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.zeros + 1 + self.lags + self.estimates_delay

    def names(self) -> tuple[str, ...]:
        """Parameters in order: K_X, b_1_X …, a_1_X …, τ_X."""
        found = [
            f"K_{self.input}",
            *(f"b_{j}_{self.input}" for j in range(1, self.zeros + 1)),
            *(f"a_{j}_{self.input}" for j in range(1, self.lags + 1)),
        ]
        return (*found, f"τ_{self.input}") if self.estimates_delay else tuple(found)

    def units(self, of_input: str, of_output: str) -> tuple[str, ...]:
        """SI units of the parameters."""
        found = [
            _gain_unit(of_input, of_output, j - self.integrators) for j in range(self.zeros + 1)
        ]
        found += [_power("s", j) for j in range(1, self.lags + 1)]
        return (*found, "s") if self.estimates_delay else tuple(found)


def _power(unit: str, n: int) -> str:
    if n == 0:
        return "1"
    return unit if n == 1 else f"{unit}^{n}"


def _gain_unit(of_input: str, of_output: str, seconds: int) -> str:
    """of_output/of_input × s^seconds, cancelled and spelt: 'm/(N s)', '1/s'."""
    over = [of_output] if of_output not in (of_input, "1") else []
    under = [of_input] if of_input not in (of_output, "1") else []
    (over if seconds > 0 else under).extend([_power("s", abs(seconds))] if seconds else [])
    top = " ".join(over) or "1"
    if not under:
        return top
    return (
        f"{top}/{under[0]}"
        if len(under) == 1 and not set(" /") & set(under[0])
        else f"{top}/({' '.join(under)})"
    )


@final
@dataclass(frozen=True)
class Channel:
    """One transfer function with numbers: b (b_0 = K, rising powers), a (a_1 …), ν integrators, delay in s."""

    input: str
    b: tuple[float, ...]
    a: tuple[float, ...] = ()
    integrators: int = 0
    delay: float = 0.0

    def __post_init__(self):
        for name in ("b", "a"):
            values = tuple(float(v) for v in getattr(self, name))
            if not all(map(math.isfinite, values)):
                raise InputError(f"channel {self.input}: {name} = {values} is not finite")
            object.__setattr__(self, name, values)
        if len(self.b) > len(self.a) + self.integrators:
            raise InputError(
                f"channel {self.input}: not strictly proper", mend="give fewer zeros or more poles"
            )

    @classmethod
    def of_lags(
        cls, input: str, K: float, lags=(), integrators: int = 0, delay: float = 0.0
    ) -> Channel:
        """K e^{−τ s}/(s^ν Π (1 + λ_i s)): the form of the paper's (27), (28)."""
        polynomial = np.ones(1)
        for λ in lags:
            polynomial = np.convolve(polynomial, [1.0, λ])
        return cls(input, (K,), tuple(polynomial[1:]), integrators, delay)

    @property
    def K(self) -> float:
        """Gain."""
        return self.b[0]

    @property
    def lag(self) -> float:
        """Σλ = a_1, s."""
        return self.a[0] if self.a else 0.0

    @property
    def poles(self) -> np.ndarray:
        """Poles without the integrators, 1/s, slowest first."""
        found = np.roots([*reversed(self.a), 1.0]) if self.a else np.zeros(0)
        return found[np.argsort(np.abs(found), kind="stable")]

    @property
    def zeros(self) -> np.ndarray:
        """Zeros, 1/s."""
        return np.roots(self.b[::-1])

    @property
    def stable(self) -> bool:
        """Whether all poles other than the integrators lie in the left half plane."""
        return bool((self.poles.real < 0).all())

    def frequency_response(self, ω) -> np.ndarray:
        """G(jω), ω in rad/s."""
        s = 1j * np.asarray(ω, float)
        A = np.polynomial.polynomial.polyval(s, [1.0, *self.a])
        return (
            np.polynomial.polynomial.polyval(s, self.b)
            / (s**self.integrators * A)
            * np.exp(-s * self.delay)
        )

    def response(self, u: np.ndarray, T: float, hold: str = "zoh") -> np.ndarray:
        """(N,) output from rest for input samples T apart; see `response`."""
        return simulated(
            np.array(self.b), np.array(self.a), self.integrators, self.delay, u, T, hold
        )

    def parameters(self, shape: Shape) -> np.ndarray:
        """Numbers in the order of `shape.names()`."""
        return np.array([*self.b, *self.a, *([self.delay] if shape.estimates_delay else [])])


@final
@dataclass(frozen=True)
class LinearModel:
    """Sum of channels: output name, its unit, units of the inputs in order of the channels."""

    output: str
    channels: tuple[Channel, ...]
    output_unit: str = "1"
    input_units: tuple[str, ...] = ()

    def channel(self, name: str) -> Channel:
        """The channel of an input; InputError when there is none."""
        for c in self.channels:
            if c.input == name:
                return c
        raise InputError(
            f"the model has no input {name!r}",
            mend=f"choose from {', '.join(c.input for c in self.channels)}",
        )

    @property
    def stable(self) -> bool:
        """Whether no channel has a pole in the right half plane."""
        return all(c.stable for c in self.channels)

    def response(self, record: Record) -> np.ndarray:
        """(N,) simulated output from rest, without the record's offset. Inputs the record lacks are zero."""
        total = np.zeros(len(record))
        for c in self.channels:
            if c.input in record.input_names:
                total += c.response(record.input(c.input), record.T, record.hold_of(c.input))
        return total

    def to_control(self):
        """python-control TransferFunctions, one a channel by input name; delays as 4th-order Padé."""
        import control

        found = {}
        for c in self.channels:
            G = control.tf(list(reversed(c.b)), [*reversed(c.a), 1.0, *[0.0] * c.integrators])
            found[c.input] = G * control.tf(*control.pade(c.delay, 4)) if c.delay else G
        return found


def channel_of(shape: Shape, θ: np.ndarray) -> Channel:
    """The channel with parameters θ in the order of `shape.names()`."""
    m = shape.zeros + 1
    n = shape.lags
    fixed = (
        0.0
        if shape.delay is None or shape.delay is True or shape.delay is False
        else float(shape.delay)
    )
    return Channel(
        shape.input,
        tuple(θ[:m]),
        tuple(θ[m : m + n]),
        shape.integrators,
        float(θ[m + n]) if shape.estimates_delay else fixed,
    )
