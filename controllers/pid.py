"""PID control of every actuator's position: the industrial baseline, with velocity feed-forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, nonnegative, positive
from workbench.contract.system import Controller, Signal, System, controls, find
from workbench.run.targets import target_name


@final
@dataclass(frozen=True)
class PID(Controller):
    """One PID loop per actuator, on the error of its position, with feed-forward of the wanted velocity.

        e = x_d − x,   ė_f = (e − e_f)/τ,   v = K_p e + I + K_d (e − e_f)/τ + u_v − u_p
        u = sat(v + o_d(v))                        limits ±u_max;  o_d: overlap compensation
        İ = K_i e + (u − v − o_d)/T_t              anti_windup "back"; "clamp": K_i e unless it drives u further past
                                                   the limit; "none": K_i e
        u_v = K_v ẋ_d                              feed "gain"
        u_v = o(ẋ_d, p̄_a, p̄_b)                     feed "flow": opening at which the valve passes the steady flow of ẋ_d
                                                   at the filtered pressures, (89) with u_f = h ẋ_d + ℓ and ḟ_p = 0
        u_p = K_f (A_a (p_a − p̄_a) − A_b (p_b − p̄_b))     damping "pressure": dynamic pressure feedback
        τ_p d/dt p̄ = p − p̄
        o_d(v) = δ u_d clip(v/w, −1, 1)            δ: share of the valve's overlap u_d

    Sampled: backward Euler for e_f and p̄ (stable at every T_s), forward Euler for I. A position loop without pressure
    feedback can be no faster than the hydraulic resonance is damped; feed-forward at unfiltered pressures takes damping
    away. Where dry friction holds a cylinder, the oil's spring K relaxes only at K/b, b the slope of friction at rest; integral
    action that is not slower than that, K_i/K_p > K/b, hunts for ever. The default gains suit the HIAB XS 031, whose extension
    has K/b = 0.3 1/s.

    model      the plant as the controller knows it. Of a manipulator it takes the pistons (x_1, x_t2, …), overlap and
               flows; of any other plant the first outputs, one per command, or those named in `signals`
    states     I and e_f per actuator, p̄_a and p̄_b where they are used
    references positions and velocities, "x_1_d", "dx_1_d"
    One entry of K_p, K_i, K_d, K_v, K_f serves all actuators, else one per actuator; their units follow the plant's (`units`; V
    and m is what they are for valves and pistons). `controllers.tuned` finds gains. Raises ValueError for counts, bounds and
    words that do not fit, InputError for unknown signals.

    Source: [Astrom06] PID with filtered derivative and back-calculation; [Petrovic22] (89), (92) for the flow.
    """

    model: System
    K_p: Annotated[tuple[float, ...], Unit("V/m"), "proportional gains", nonnegative] = (40.0,)
    K_i: Annotated[tuple[float, ...], Unit("V/(m s)"), "integral gains", nonnegative] = (5.0,)
    K_d: Annotated[tuple[float, ...], Unit("V s/m"), "derivative gains", nonnegative] = (0.0,)
    τ: Annotated[float, Unit("s"), "time constant of the derivative's filter", positive] = 0.02
    feed: Literal["none", "gain", "flow"] = "flow"
    K_v: Annotated[
        tuple[float, ...], Unit("V s/m"), "feed-forward gains, feed 'gain'", nonnegative
    ] = (40.0,)
    damping: Literal["none", "pressure"] = "pressure"
    K_f: Annotated[
        tuple[float, ...], Unit("V/N"), "dynamic pressure feedback, per force", nonnegative
    ] = (1.2e-5,)
    τ_p: Annotated[float, Unit("s"), "time constant of the pressure filters", positive] = 0.33
    u_max: Annotated[float, Unit("V"), "limit of every command, both ways", positive] = 10.0
    anti_windup: Literal["back", "clamp", "none"] = "back"
    T_t: Annotated[float, Unit("s"), "tracking time of the back-calculation", positive] = 0.2
    δ: Annotated[
        float, Unit("1"), "share of the valves' overlap that is compensated", nonnegative
    ] = 0.0
    w: Annotated[float, Unit("V"), "command over which that compensation builds up", positive] = 0.2
    signals: tuple[str, ...] = ()

    def __post_init__(self):
        check_bounds(self)
        for field in ("K_p", "K_i", "K_d", "K_v", "K_f"):
            count = len(getattr(self, field))
            if count not in (1, self.n):
                raise InputError(
                    f"{field}: expected 1 or {self.n} numbers, one per actuator, got {count}"
                )
        if len(self._positions) != self.n:
            raise InputError(
                f"signals: expected {self.n} measured positions, one per command "
                f"({', '.join(s.name for s in self.commands)}), got {len(self._positions)}"
            )
        if (self._pressures or self.δ > 0) and not self._hydraulic:
            raise InputError(
                f"PID: {type(self.model).__name__} has no valves and cylinders (pressures, overlap)",
                mend="choose feed='gain' or 'none', damping='none' and δ=0",
            )

    @staticmethod
    def suited(plant) -> dict[str, Any]:
        """Settings for a plant the defaults are not made for: one without valves, whose command sets a velocity.

        With velocity gain k (`plant.velocity_gain`): K_p = 45 s⁻¹/k, K_i = 5 s⁻¹ K_p, feed-forward 1/k; its own limit. A plant
        may name a rate of its own (`plant.loop_rate`, 1/s) in place of 45 s⁻¹, then K_i is a ninth of that times K_p, or
        `plant.integral_rate` (1/s) times K_p; and a gain for each actuator (`plant.velocity_gains`).
        """
        gains = plant.velocity_gains
        if plant.cylinders and not gains:
            return {}
        found: dict[str, Any] = {"feed": "gain", "damping": "none"}
        if gains or plant.velocity_gain is not None:
            gains, rate = (
                gains or (float(plant.velocity_gain),),
                float(plant.loop_rate),
            )
            own = plant.integral_rate
            integral = rate / 9.0 if own is None else float(own)
            found |= {
                "K_p": tuple(rate / k for k in gains),
                "K_i": tuple(integral * rate / k for k in gains),
                "K_v": tuple(1.0 / k for k in gains),
            }
        ends = [max(abs(low), abs(high)) for low, high in plant.limits().values()]
        return found | ({"u_max": min(ends)} if ends else {})

    @staticmethod
    def tunings() -> dict[str, type]:
        """Ways to find the gains, as a file calls them → class with its options and `tune(loop)`."""
        from controllers.pid_tuning import METHODS

        return METHODS

    # ---- units ------------------------------------------------------------------------------------------------------
    @classmethod
    def units_on(cls, model=None, signals=()) -> dict[str, str]:
        """Units of the gains for the commands and positions of `model`: K_p in u/y, K_i in u/(y s), …

        Plain numbers ("1", SI) where the actuators differ in them; {} where the signals are not the model's; words without a model.
        """
        if model is None:
            return _gain_units("command", "position")
        commands = controls(model)
        try:
            positions = _positions(model, signals, len(commands))
        except InputError:
            return {}
        us, ys = {s.unit for s in commands}, {s.unit for s in positions}
        if len(us) != 1 or len(ys) != 1:
            return dict.fromkeys(("K_p", "K_i", "K_d", "K_v", "K_f", "u_max", "w"), "1")
        return _gain_units(us.pop(), ys.pop())

    def units(self) -> dict[str, str]:
        """Units of this law's numbers where they follow those of the plant."""
        return self.units_on(self.model, self.signals)

    # ---- signals ----------------------------------------------------------------------------------------------------
    @property
    def _hydraulic(self):
        return bool(self.model.cylinders)

    @property
    def commands(self):
        return controls(self.model)

    @property
    def n(self) -> int:
        """Number of actuators."""
        return len(self.commands)

    @property
    def _positions(self):
        return _positions(self.model, self.signals, self.n)

    @property
    def _pressures(self):
        return self.feed == "flow" or self.damping == "pressure"

    @property
    def measured(self):
        if not self._pressures:
            return self._positions
        return (
            *self._positions,
            *(
                find(self.model.outputs, f"p_{side}{label}", "PID, measurement")
                for label in self.model.labels
                for side in "ab"
            ),
        )

    @property
    def references(self):
        return tuple(
            Signal(
                target_name(s.name, k),
                s.unit + rate,
                f"desired {s.meaning or s.name}, derivative {k}",
                "reference",
            )
            for k, rate in ((0, ""), (1, "/s"))
            for s in self._positions
        )

    @property
    def states(self):
        unit = [(s.name, s.unit, u.unit) for s, u in zip(self._positions, self.commands)]
        return (
            *(Signal(f"I_{name}", u, f"integral action of {name}") for name, _, u in unit),
            *(
                Signal(f"e_{name}_slow", x, f"error of {name} behind its derivative")
                for name, x, _ in unit
            ),
            *(
                Signal(f"{s.name}_slow", s.unit, f"filtered {s.meaning}")
                for s in self.measured[self.n :]
            ),
        )

    @property
    def monitors(self):
        return tuple(
            Signal(f"e_{s.name}", s.unit, f"tracking error of {s.name}") for s in self._positions
        )

    def _each(self, values):
        return list(values) * self.n if len(values) == 1 else list(values)

    def errors(self, y, r) -> list:
        """e = x_d − x."""
        return [r[i] - y[i] for i in range(self.n)]

    # ---- what the plant's pressures are good for ---------------------------------------------------------------------
    def feed_forward(self, y, r, slow) -> list:
        """u_v per actuator: what the wanted velocity needs, without overlap; slow: p̄."""
        wanted = r[self.n : 2 * self.n]
        if self.feed == "flow":
            supplies = self.model.supplies if self.model.supplies else [self.model.p_s] * self.n
            return [
                self._opening(c, x, v, *p, p_s)
                for c, x, v, p, p_s in zip(self.model.cylinders, y, wanted, _pairs(slow), supplies)
            ]
        return (
            [K * v for K, v in zip(self._each(self.K_v), wanted)]
            if self.feed == "gain"
            else [0.0] * self.n
        )

    def _opening(self, c, x, v, p_a, p_b, p_s):
        m = self.model
        u_f = c.drift(m.oil, x, v, p_a, p_b)
        D = c.valve.denominators(*c.gains(m.oil, x, p_a, p_b), p_a, p_b, p_s, m.p_r)
        o = c.valve.invert(u_f, *D) - c.valve.dead_band * np.sign(u_f)
        return np.clip(
            o, -c.valve.u_max, c.valve.u_max
        )  # where the supply is too low for it, no opening gives the flow

    def pressure_feedback(self, y, slow) -> list:
        """u_p per actuator."""
        if self.damping == "none":
            return [0.0] * self.n
        return [
            K * (c.force(*p) - c.force(*s))
            for K, c, p, s in zip(
                self._each(self.K_f), self.model.cylinders, _pairs(y[self.n :]), _pairs(slow)
            )
        ]

    def _overlap(self, v) -> list:
        if not self._hydraulic:
            return [0.0] * self.n
        return [
            self.δ * c.valve.dead_band * np.clip(vi / self.w, -1.0, 1.0)
            for c, vi in zip(self.model.cylinders, v)
        ]

    # ---- the law ----------------------------------------------------------------------------------------------------
    def _law(self, e, z, y, r):
        """(u, u before the limits, ė_f) with memory z."""
        n, slow = self.n, z[2 * self.n :]
        slope = [(ei - s) / self.τ for ei, s in zip(e, z[n : 2 * n])]
        fed = [
            f - p for f, p in zip(self.feed_forward(y, r, slow), self.pressure_feedback(y, slow))
        ]
        v = [
            K_p * ei + I + K_d * s + f
            for K_p, K_d, ei, I, s, f in zip(
                self._each(self.K_p), self._each(self.K_d), e, z, slope, fed
            )
        ]
        raw = [vi + o for vi, o in zip(v, self._overlap(v))]
        return [np.clip(a, -self.u_max, self.u_max) for a in raw], raw, slope

    def _wound(self, e, u, raw, shortest=0.0):
        """İ; `shortest` bounds T_t from below (a sample time, for the recursion to stay stable)."""
        grow = [K * ei for K, ei in zip(self._each(self.K_i), e)]
        if self.anti_windup == "back":
            return [g + (a - b) / np.maximum(self.T_t, shortest) for g, a, b in zip(grow, u, raw)]
        if self.anti_windup == "clamp":
            return [np.where((b - a) * g > 0, 0.0, g) for g, a, b in zip(grow, u, raw)]
        return grow

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
        n, e = self.n, self.errors(y, r)
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


def _positions(model, names, n: int) -> tuple[Signal, ...]:
    """The measured position of every actuator."""
    if not names and "piston" in model.spaces:
        names = model.task_names("piston")
    return (
        tuple(find(model.outputs, name, "PID, measurement") for name in names) or model.outputs[:n]
    )


def _gain_units(u: str, y: str) -> dict[str, str]:
    return {
        "K_p": _ratio(u, y),
        "K_i": _ratio(u, y, -1),
        "K_d": _ratio(u, y, 1),
        "K_v": _ratio(u, y, 1),
        "K_f": _ratio(u, "N"),
        "u_max": u,
        "w": u,
    }


def _ratio(u: str, y: str, seconds: int = 0) -> str:
    """Unit of u/y, times seconds (1) or by them (−1): "V/(m s)", "1/s" where both are metres."""
    top, bottom = (
        [f"({x})" if set(" /") & set(x) else x for x in (one,) if x != "1" and u != y]
        for one in (u, y)
    )
    if seconds:
        (top if seconds > 0 else bottom).append("s")
    over = bottom[0] if len(bottom) == 1 else f"({' '.join(bottom)})"
    return (" ".join(top) or "1") + (f"/{over}" if bottom else "")


def _pairs(p):
    """(p_a, p_b) per cylinder."""
    return list(zip(p[::2], p[1::2]))
