"""Four-way servo valve: orifices (82)–(85), overlap, saturation, spool, and the inverse (89), (91).

With the opening o(u) (spool position u [V], saturated at ±u_max, less the overlap ±u_d) and v of (85):

    Q_a =  c_p1 v(p_s − p_a) max(o, 0) + c_n1 v(p_a − p_r) min(o, 0)                  (82)
    Q_b = −c_n2 v(p_b − p_r) max(o, 0) − c_p2 v(p_s − p_b) min(o, 0)                  (83)
    u_f = g_a Q_a − g_b Q_b = D₊ max(o, 0) + D₋ min(o, 0)
    D₊  = g_a c_p1 v(p_s − p_a) + g_b c_n2 v(p_b − p_r)                               denominators of (89)
    D₋  = g_b c_p2 v(p_s − p_b) + g_a c_n1 v(p_a − p_r)
    o   = max(u_f, 0)/D₊ + min(u_f, 0)/D₋,   u = o + u_d sign(o)                      (89), (91)

Indices: p1 supply to a, n1 a to return, p2 supply to b, n2 b to return.

Spool s (field `lag`) with ω = 2π frequency and the command saturated at ±u_max:

    ideal    s = u
    first    ṡ = sat(ω(u − s))                              sat to ±slew
    second   ṡ = sat(w),  ẇ = ω²(u − s) − 2ζω w

Source: [Petrovic22] eqs (82)–(86), (89), (91) with a static valve; overlap, saturation and spool go beyond the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt
from typing import Annotated, ClassVar, Literal, final

import numpy as np

from plants.components.orifice import root
from workbench.cases.shorthand import Shorthand
from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.system import Signal

D_MIN = 1e-12  # m²/(V s), floor of the denominators of (89); a working crane has about 1e-4
_C = Unit("m^3/(s V Pa^0.5)")


def nominal(Q_N: float, dp_N: float, u_max: float = 10.0) -> float:
    """Flow coefficient c = Q_N/(√Δp_N u_max), m³/(s V √Pa).

    Q_N: flow [m³/s] of one notch at the drop dp_N [Pa] across it and the opening u_max [V]. A drop given for both
    notches together is twice dp_N. A valve with overlap opens only by u_max − dead_band: give that as u_max.
    Raises InputError unless all three are positive.
    """
    if not (Q_N > 0 and dp_N > 0 and u_max > 0):
        raise InputError(
            f"nominal flow {Q_N:g} m³/s, drop {dp_N:g} Pa, opening {u_max:g} V: all must be positive",
            mend="give the rated flow of one notch at its rated drop, e.g. 40 l/min at 35 bar",
        )
    return Q_N / (sqrt(dp_N) * u_max)


@final
@dataclass(frozen=True)
class Nominal:
    """A data sheet's rating for the four coefficients: each is its ratio × nominal(flow, drop, u_max − dead_band)."""

    flow: Annotated[float, Unit("m^3/s"), "rated flow of one notch, fully open", positive]
    drop: Annotated[float, Unit("Pa"), "pressure drop over that notch", positive]
    ratios: Annotated[
        tuple[float, ...], Unit("1"), "c_p1, c_n1, c_p2, c_n2 against that", positive
    ] = (1.0,) * 4

    def __post_init__(self):
        check_bounds(self)
        if len(self.ratios) != 4:
            raise InputError(
                f"ratios: expected four, for c_p1, c_n1, c_p2, c_n2, got {len(self.ratios)}"
            )

    def coefficients(self, others) -> dict:
        """c_p1, c_n1, c_p2, c_n2 of a valve whose other fields are `others`."""
        c = nominal(self.flow, self.drop, others["u_max"] - others["dead_band"])
        return dict(zip(("c_p1", "c_n1", "c_p2", "c_n2"), (ratio * c for ratio in self.ratios)))


_AS_RATED = nominal(40 / 60e3, 35e5)  # of 40 l/min at 35 bar per notch


@final
@dataclass(frozen=True)
class Valve:
    """One four-way valve; equations in `plants.components.valve`. The default is 40 l/min at 35 bar per notch, ±10 V."""

    c_p1: Annotated[float, _C, "flow coefficient, supply to chamber a", positive] = _AS_RATED
    c_n1: Annotated[float, _C, "flow coefficient, chamber a to return", positive] = _AS_RATED
    c_p2: Annotated[float, _C, "flow coefficient, supply to chamber b", positive] = _AS_RATED
    c_n2: Annotated[float, _C, "flow coefficient, chamber b to return", positive] = _AS_RATED
    u_max: Annotated[
        float, Unit("V"), "largest command and spool position, both ways", positive
    ] = 10.0
    dead_band: Annotated[
        float, Unit("V"), "overlap: spool travel that opens nothing, both ways", nonnegative
    ] = 0.0
    lag: Literal["ideal", "first", "second"] = "ideal"
    frequency: Annotated[float, Unit("Hz"), "natural frequency of the spool", positive] = 30.0
    damping: Annotated[float, Unit("1"), "damping ratio of the spool", positive] = 0.707
    slew: Annotated[float, Unit("V/s"), "largest speed of the spool", positive] = 1e9
    width: Annotated[
        float, Unit("Pa"), "pressure drop over which the root is regularised", nonnegative
    ] = 1e3

    shorthand: ClassVar[tuple[Shorthand, ...]] = (
        Shorthand("nominal", Nominal, ("c_p1", "c_n1", "c_p2", "c_n2"), Nominal.coefficients),
    )

    def __post_init__(self):
        check_bounds(self)
        if self.dead_band >= self.u_max:
            raise InputError(
                f"dead_band: {self.dead_band:g} V never opens; it must be below u_max = {self.u_max:g} V"
            )

    @classmethod
    def from_nominal(
        cls, Q_N: float, dp_N: float, u_max: float = 10.0, ratios=(1.0, 1.0, 1.0, 1.0), **rest
    ) -> Valve:
        """Valve with c_p1, c_n1, c_p2, c_n2 = ratios × `nominal(Q_N, dp_N, u_max)`; `rest` are the other fields."""
        c_p1, c_n1, c_p2, c_n2 = (r * nominal(Q_N, dp_N, u_max) for r in ratios)
        return cls(c_p1, c_n1, c_p2, c_n2, u_max, **rest)

    def opening(self, u):
        """Opening o [V] at spool position u [V]: saturated at ±u_max, less the overlap on either side."""
        u = self._saturated(u)
        return u - np.clip(u, -self.dead_band, self.dead_band)

    def _notches(self, u, p_a, p_b, p_s, p_r):
        """Flows supply→a, a→return, supply→b, b→return, m³/s, each with the sign of its pressure drop."""
        o = self.opening(u)
        out = np.maximum(o, 0.0)
        back = -np.minimum(o, 0.0)
        return (
            self.c_p1 * root(p_s - p_a, self.width) * out,
            self.c_n1 * root(p_a - p_r, self.width) * back,
            self.c_p2 * root(p_s - p_b, self.width) * back,
            self.c_n2 * root(p_b - p_r, self.width) * out,
        )

    def flows(self, u, p_a, p_b, p_s, p_r):
        """Q_a, Q_b (82), (83): flows into the chambers, m³/s, at spool position u [V] and pressures in Pa."""
        s_a, a_r, s_b, b_r = self._notches(u, p_a, p_b, p_s, p_r)
        return s_a - a_r, s_b - b_r

    def supply_flow(self, u, p_a, p_b, p_s, p_r):
        """Flow drawn from the supply, m³/s (negative only where a chamber is above p_s)."""
        s_a, _, s_b, _ = self._notches(u, p_a, p_b, p_s, p_r)
        return s_a + s_b

    def tank_flow(self, u, p_a, p_b, p_s, p_r):
        """Flow into the return line, m³/s; supply_flow − tank_flow = Q_a + Q_b."""
        _, a_r, _, b_r = self._notches(u, p_a, p_b, p_s, p_r)
        return a_r + b_r

    def port(self, u, p_a, p_b, p_r, w):
        """Pressure of the chamber that is open to the supply; p_r where the valve is shut, blended over an opening of w [V].

        p_r + (p_a − p_r) sat(o/w) + (p_b − p_r) sat(−o/w), sat in 0 … 1
        """
        o = self.opening(u) / w
        return p_r + (p_a - p_r) * np.clip(o, 0.0, 1.0) + (p_b - p_r) * np.clip(-o, 0.0, 1.0)

    def denominators(self, g_a, g_b, p_a, p_b, p_s, p_r):
        """D₊, D₋ of (89), m²/(V s), for g_a, g_b [1/m]: u_f per volt of opening, to either side.

        Both are positive under Assumption 5 (p_r < p_a, p_b < p_s), sufficient, not necessary: the sums decide.
        """
        return (
            g_a * self.c_p1 * root(p_s - p_a, self.width)
            + g_b * self.c_n2 * root(p_b - p_r, self.width),
            g_b * self.c_p2 * root(p_s - p_b, self.width)
            + g_a * self.c_n1 * root(p_a - p_r, self.width),
        )

    def invert(self, u_f, D_plus, D_minus):
        """Voltage u whose opening gives u_f [m²/s] (89), (91), overlap added back; 0 for u_f = 0.

        Not saturated, so that what is lacking can be seen; the valve saturates. Denominators below D_MIN, where (89)
        has no solution, count as D_MIN: the voltage is then far beyond u_max, the valve opens fully to the side of u_f.
        """
        o = np.maximum(u_f, 0.0) / np.maximum(D_plus, D_MIN) + np.minimum(u_f, 0.0) / np.maximum(
            D_minus, D_MIN
        )
        return o + self.dead_band * np.sign(u_f)

    def spool_states(self, name: str) -> tuple[Signal, ...]:
        """Spool position and, for "second", its unsaturated speed; none for "ideal"."""
        position = Signal(f"u_s_{name}", "V", f"spool position, {name}")
        speed = Signal(f"du_s_{name}", "V/s", f"spool speed, {name}")
        return {"ideal": (), "first": (position,), "second": (position, speed)}[self.lag]

    def spool_rhs(self, states, u) -> list:
        """Rates of the spool's states at command u [V]."""
        if self.lag == "ideal":
            return []
        ω = 2 * pi * self.frequency
        error = self._saturated(u) - states[0]
        if self.lag == "first":
            return [np.clip(ω * error, -self.slew, self.slew)]
        return [
            np.clip(states[1], -self.slew, self.slew),
            ω * ω * error - 2 * self.damping * ω * states[1],
        ]

    def guards(self, states, u) -> list:
        """What changes its sign where the flows or the spool's rates have a kink: edges of the overlap, limits, slew [V, V/s]."""
        at = u if self.lag == "ideal" else states[0]
        found = [at - self.dead_band, at + self.dead_band, np.abs(at) - self.u_max]
        if self.lag != "ideal":
            ω = 2 * pi * self.frequency
            speed = ω * (self._saturated(u) - at) if self.lag == "first" else states[1]
            found += [np.abs(u) - self.u_max, np.abs(speed) - self.slew]
        return found

    def spool(self, states, u):
        """Spool position [V]: the first state, or the saturated command of an ideal spool."""
        return self._saturated(u) if self.lag == "ideal" else states[0]

    def _saturated(self, u):
        return np.clip(u, -self.u_max, self.u_max)
