"""PID control of every actuator's position: the industrial baseline, with velocity feed-forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, final

import numpy as np

from controllers.pid.hydraulic import feed_forward, overlap_made_up_for, pressure_feedback
from controllers.pid.signals import ActuatorSignals, check_actuators
from controllers.pid.suited import linear_settings, says_nothing, suited
from controllers.pid.units import gain_units_on
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.system import System
from workbench.verification.linear.loop import is_linear


@final
@dataclass(frozen=True)
class PID(ActuatorSignals):
    """One PID loop per actuator, on the error of its position, with feed-forward of the wanted velocity.

        e = x_d − x,   ė_f = (e − e_f)/τ,   v = K_p e + I + K_d (e − e_f)/τ + u_v − u_p
        u = sat(v + o_d(v))                        limits ±u_max;  o_d: overlap compensation
        İ = K_i e + sgn(K_i) (u − v − o_d)/T_t     anti_windup "back": where there is an integral; "clamp": K_i e unless it
                                                   drives u further past the limit; "none": K_i e
        u_v = K_v ẋ_d                              feed "gain"
        u_v = o(ẋ_d, p̄_a, p̄_b)                     feed "flow": opening at which the valve passes the steady flow of ẋ_d
                                                   at the filtered pressures, (89) with u_f = h ẋ_d + ℓ and ḟ_p = 0
        u_p = K_f (A_a (p_a − p̄_a) − A_b (p_b − p̄_b))     damping "pressure": dynamic pressure feedback
        τ_p d/dt p̄ = p − p̄
        o_d(v) = δ u_d clip(v/w, −1, 1)            δ: share of the valve's overlap u_d

    Sampled: backward Euler for e_f and p̄ (stable at every T_s), forward Euler for I. The damping of the hydraulic resonance
    limits a position loop without pressure feedback; feed-forward at unfiltered pressures reduces that damping. Where dry
    friction holds a cylinder, the oil's spring K relaxes at K/b, b the slope of friction at rest; faster integral action,
    K_i/K_p > K/b, leads to a limit cycle (hunting). The default gains suit the HIAB XS 031, whose extension has K/b = 0.3 1/s.

    model      the plant as the controller knows it. Of a manipulator it takes the pistons (x_1, x_t2, …), overlap and
               flows; of any other plant the first outputs, one per command, or those named in `signals`
    states     I and e_f per actuator, p̄_a and p̄_b where they are used
    references positions and velocities, "x_1_d", "dx_1_d"
    K_p, K_i, K_d, K_v and K_f have one entry for all actuators or one for each, in the units of the plant's commands and
    positions (`units`; V and m for valves and pistons). `controllers.tuned` finds gains. Raises ValueError for counts, bounds
    and words that do not fit, InputError for unknown signals.

    Source: [Astrom06] PID with filtered derivative and back-calculation; [Petrovic22] (89), (92) for the flow.
    """

    model: System
    K_p: Annotated[tuple[float, ...], Unit("V/m"), "proportional gains", nonnegative] = (40.0,)
    K_i: Annotated[tuple[float, ...], Unit("V/(m s)"), "integral gains", nonnegative] = (5.0,)
    K_d: Annotated[tuple[float, ...], Unit("V s/m"), "derivative gains", nonnegative] = (0.0,)
    τ: Annotated[float, Unit("s"), "time constant of the derivative's filter", positive] = 0.02
    feed: Annotated[Literal["none", "gain", "flow"], "feed-forward of the wanted velocity"] = "flow"
    K_v: Annotated[
        tuple[float, ...], Unit("V s/m"), "feed-forward gains, feed 'gain'", nonnegative
    ] = (40.0,)
    damping: Annotated[Literal["none", "pressure"], "dynamic pressure feedback, or none"] = (
        "pressure"
    )
    K_f: Annotated[
        tuple[float, ...], Unit("V/N"), "dynamic pressure feedback, per force", nonnegative
    ] = (1.2e-5,)
    τ_p: Annotated[float, Unit("s"), "time constant of the pressure filters", positive] = 0.33
    u_max: Annotated[float, Unit("V"), "limit of every command, both ways", positive] = 10.0
    anti_windup: Annotated[
        Literal["back", "clamp", "none"], "what keeps the integral from winding up at a limit"
    ] = "back"
    T_t: Annotated[float, Unit("s"), "tracking time of the back-calculation", positive] = 0.2
    δ: Annotated[
        float, Unit("1"), "share of the valves' overlap that is compensated", nonnegative
    ] = 0.0
    w: Annotated[float, Unit("V"), "command over which that compensation builds up", positive] = 0.2
    signals: tuple[str, ...] = ()

    def __post_init__(self):
        check_bounds(self)
        check_actuators(self)

    suited = staticmethod(suited)

    @classmethod
    def design(cls, model: Any, **values: Any) -> PID:
        """The law with settings that suit the model, but for those given by name.

        A linear plant that says nothing of itself (`from_control`) gets the fastest simple gains with a disk margin of 0.75 at
        every command, sampled every 1 ms. Raises InputError where there are none, and as the class.
        """
        known = suited(model)
        gains = {"K_p", "K_i", "K_d"}
        if says_nothing(model) and not gains & values.keys() and is_linear(model):
            known = linear_settings(cls, model)
        return cls(model, **(known | values))

    @staticmethod
    def tunings() -> dict[str, type]:
        """Ways to find the gains, as a file calls them → class with its options and `tune(loop)`."""
        from controllers.pid_tuning import METHODS

        return METHODS

    # ---- units ------------------------------------------------------------------------------------------------------
    units_on = staticmethod(gain_units_on)

    def units(self) -> dict[str, str]:
        """Units of this law's numbers where they follow those of the plant."""
        return self.units_on(self.model, self.signals)

    # ---- the law ----------------------------------------------------------------------------------------------------
    def _law(self, e, z, y, r):
        """(u, u before the limits, ė_f) with memory z."""
        n = self.n
        slow = z[2 * self.n :]
        slope = [(ei - s) / self.τ for ei, s in zip(e, z[n : 2 * n])]
        fed = [
            f - p
            for f, p in zip(
                feed_forward(self, r[n : 2 * n], y, slow), pressure_feedback(self, y[n:], slow)
            )
        ]
        v = [
            K_p * ei + I + K_d * s + f
            for K_p, K_d, ei, I, s, f in zip(
                self.each(self.K_p), self.each(self.K_d), e, z, slope, fed
            )
        ]
        raw = [vi + o for vi, o in zip(v, overlap_made_up_for(self, v))]
        return [np.clip(a, -self.u_max, self.u_max) for a in raw], raw, slope

    def _wound(self, e, u, raw, shortest=0.0):
        """İ; `shortest` bounds T_t from below (a sample time, for the recursion to stay stable)."""
        kind = self.anti_windup
        T_t = np.maximum(self.T_t, shortest)
        return [wound(kind, *of, T_t) for of in zip(self.each(self.K_i), e, u, raw)]

    def command(self, t, z, y, r):
        return self._law(self.errors(y, r), z, y, r)[0]

    def rhs(self, t, z, y, r):
        e = self.errors(y, r)
        u, raw, slope = self._law(e, z, y, r)
        return [
            *self._wound(e, u, raw),
            *slope,
            *((p - s) / self.τ_p for p, s in zip(y[self.n :], z[2 * self.n :])),
        ]

    def step_at(self, T_s, t, z, y, r):
        n = self.n
        e = self.errors(y, r)
        slow = [
            (τ * s + T_s * now) / (τ + T_s)
            for τ, s, now in zip([self.τ] * n + [self.τ_p] * 2 * n, z[n:], [*e, *y[n:]])
        ]
        u, raw, _ = self._law(e, [*z[:n], *slow], y, r)
        return [*(I + T_s * g for I, g in zip(z, self._wound(e, u, raw, T_s))), *slow], u

    def start(self, t, z, y, r):
        return [*z[: self.n], *self.errors(y, r), *y[self.n :]]

    def monitor(self, t, z, y, r):
        return self.errors(y, r)


def wound(anti_windup: str, K_i, e, u, raw, T_t):
    """İ of one actuator: how its integral goes on, with the command before the limits `raw` and after them u."""
    if anti_windup == "back":
        return K_i * e + np.sign(K_i) * (u - raw) / T_t
    if anti_windup == "clamp":
        return np.where((raw - u) * K_i * e > 0, 0.0, K_i * e)
    return K_i * e
