"""What an independent-metering circuit is made of: pump, and one valve section a cylinder or motor.

    pump Q ──┬── bleed u_b ── tank           each section, behind a check valve (P_c ≥ P):
             ├── relief P_M ── tank            u_ph: P_c → head     u_th: head → tank      relief P_hM, suction check
             └── check ── section 1 … N        u_pr: P_c → rod      u_tr: rod → tank       relief P_rM, suction check
                                               u_a:  rod → head, one way (regeneration)

    orifice   Q = c u R(Δp),  R(x) = sign(x) √|x|,  c = C a √(2/ρ)

Pressures are gauge, the tank's is 0. A rotary motor (`Motor`) has displacements (m³/rad) in place of areas, and rad, rad/s, N m in
place of m, m/s, N; nothing else changes.

Source: [Kikuuwe21] Fig. 1, 7, 11; (39), (91). Defaults are (66), with Q = 500 l/min exactly: the printed 0.00833 is 0.04 % low.
"""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, ClassVar, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, check_bounds, field_infos, fraction, positive

FLOW = Unit("m^3/(s*Pa^0.5)")
_c = 0.6 * 1e-4 * (2.0 / 850.0) ** 0.5  # C a √(2/ρ) of (66)


def orifice_coefficient(C: float, a: float, ρ: float) -> float:
    """c = C a √(2/ρ), m³/(s √Pa): discharge coefficient, largest opening area [m²], density [kg/m³]."""
    return C * a * (2.0 / ρ) ** 0.5


def _checked(part, where: str) -> None:
    try:
        check_bounds(part)
    except ValueError as why:
        key, _, rest = str(why).partition(": ")
        rest = rest.replace(" 1;", ";").replace(" in 1,", ",")  # an opening has no unit
        info = field_infos(type(part))[key]
        meaning = f", '{info.meaning}'" if info is not None else ""
        raise InputError(f"{rest} ({where})", key=key, mend=f"mend {key}{meaning}") from None


@final
@dataclass(frozen=True)
class Section:
    """One actuator and its valves: areas, reliefs (gauge), coefficients of the valves fully open.

    Raises InputError for an area, a coefficient or a relief that is not positive: a relief at or below the tank's pressure would
    never let a chamber hold any.
    """

    name: str = "1"
    A_h: Annotated[float, Unit("m^2"), "area of the head side", positive] = 0.024
    A_r: Annotated[float, Unit("m^2"), "area of the rod side", positive] = 0.012
    P_hM: Annotated[float, Unit("Pa"), "relief of the head side, above the tank", positive] = 42e6
    P_rM: Annotated[float, Unit("Pa"), "relief of the rod side, above the tank", positive] = 40e6
    c_ph: Annotated[float, FLOW, "pump to head", positive] = _c
    c_pr: Annotated[float, FLOW, "pump to rod", positive] = _c
    c_th: Annotated[float, FLOW, "head to tank", positive] = _c
    c_tr: Annotated[float, FLOW, "rod to tank", positive] = _c
    c_a: Annotated[float, FLOW, "regeneration, rod to head", positive] = _c

    turns: ClassVar[bool] = False  # rad/s and N m in place of m/s and N

    def __post_init__(self):
        _checked(self, f"section {self.name}")


@final
@dataclass(frozen=True)
class Motor:
    """A rotary motor in a cylinder's place, with its valves: oil into side h turns it forwards, into side r backwards.

    D_h and D_r differ in a motor of unequal sides only; drained leakage is not modelled. v is in rad/s, f in N m, β in N m s/rad.
    Raises InputError as `Section` does.
    """

    name: str = "1"
    D_h: Annotated[
        float, Unit("m^3/rad"), "displacement, side that turns it forwards", positive
    ] = 40e-6
    D_r: Annotated[
        float, Unit("m^3/rad"), "displacement, side that turns it backwards", positive
    ] = 40e-6
    P_hM: Annotated[float, Unit("Pa"), "relief of side h, above the tank", positive] = 42e6
    P_rM: Annotated[float, Unit("Pa"), "relief of side r, above the tank", positive] = 40e6
    c_ph: Annotated[float, FLOW, "pump to side h", positive] = _c
    c_pr: Annotated[float, FLOW, "pump to side r", positive] = _c
    c_th: Annotated[float, FLOW, "side h to tank", positive] = _c
    c_tr: Annotated[float, FLOW, "side r to tank", positive] = _c
    c_a: Annotated[float, FLOW, "regeneration, side r to side h", positive] = _c

    turns: ClassVar[bool] = True

    def __post_init__(self):
        _checked(self, f"motor {self.name}")

    @property
    def A_h(self):
        """What a cylinder has for D_h."""
        return self.D_h

    @property
    def A_r(self):
        """What a cylinder has for D_r."""
        return self.D_r


@final
@dataclass(frozen=True)
class Pump:
    """Constant flow Q with its relief (gauge) and bleed valve. Raises InputError for what is not positive."""

    Q: Annotated[float, Unit("m^3/s"), "flow", positive] = 500.0 / 60000.0
    P_M: Annotated[float, Unit("Pa"), "relief of the pump, above the tank", positive] = 36e6
    c_b: Annotated[float, FLOW, "bleed to tank", positive] = _c

    def __post_init__(self):
        _checked(self, "pump")


@final
@dataclass(frozen=True)
class Openings:
    """Openings of one section's valves, 0 shut to 1 fully open. Raises InputError outside of that.

    `direction` is +1 where pump to head or rod to tank is open (𝒰₊ of (38)), −1 where pump to rod or head to tank is (𝒰₋), 0 where
    all four are shut, None where both directions are open at once. [Kikuuwe21] leaves that out; the convex programme of
    `kernel` covers it, the closed forms do not.
    """

    u_ph: Annotated[float, Unit("1"), "pump to head", fraction] = 0.0
    u_pr: Annotated[float, Unit("1"), "pump to rod", fraction] = 0.0
    u_th: Annotated[float, Unit("1"), "head to tank", fraction] = 0.0
    u_tr: Annotated[float, Unit("1"), "rod to tank", fraction] = 0.0
    u_a: Annotated[float, Unit("1"), "regeneration, rod to head", fraction] = 0.0

    def __post_init__(self):
        _checked(self, "openings")

    @classmethod
    def command(cls, u_c: float, u_a: float = 0.0) -> Openings:
        """Openings under one command u_c ∈ [−1, 1]: u_ph = u_tr = max(u_c, 0), u_pr = u_th = max(−u_c, 0)  (67)."""
        if not -1.0 <= u_c <= 1.0:
            raise InputError(
                f"{u_c:g} is no command",
                key="u_c",
                mend="give a number from −1 (retract) to 1 (extend)",
            )
        out = max(u_c, 0.0)
        back = max(-u_c, 0.0)
        return cls(u_ph=out, u_tr=out, u_pr=back, u_th=back, u_a=u_a)

    @property
    def direction(self) -> int | None:
        out = self.u_ph > 0 or self.u_tr > 0
        back = self.u_pr > 0 or self.u_th > 0
        return None if out and back else int(out) - int(back)


@final
@dataclass(frozen=True)
class Circuit:
    """Sections on one pump. Raises InputError without a section, for what is none, or where two share a name."""

    sections: tuple[Section | Motor, ...] = (Section(),)
    pump: Any = Pump()  # or a user's own part, of which claims say that they do not know it

    def __post_init__(self):
        _checked(self, "circuit")
        if not is_dataclass(self.pump) or isinstance(self.pump, type):
            raise InputError(f"{self.pump!r:.60} is no pump", key="pump", mend="give a Pump")
        if not self.sections:
            raise InputError(
                "a circuit without a section drives nothing",
                key="sections",
                mend="give at least one Section",
            )
        names = [s.name for s in self.sections]
        if len(set(names)) < len(names):
            raise InputError(
                f"sections are called {', '.join(names)}",
                key="sections",
                mend="give each a name of its own",
            )

    def bears(self, j: int, u_b: float) -> tuple[float, float]:
        """Forces [N] (a motor's torques, N m) that section j can pull and push with: its sides at the highest pressure that the
        pump builds up against its relief and a bleed open by u_b, or at their own reliefs."""
        s, (Q, top, k_b) = self.sections[j], self.supply(u_b)
        if k_b > 0.0:
            top = min(top, (Q / k_b) ** 2)
        return float(-s.A_r * min(top, s.P_rM)), float(s.A_h * min(top, s.P_hM))

    def rows(self, openings) -> np.ndarray:
        """A_h, A_r, P_hM, P_rM, k_ph, k_pr, k_th, k_tr, k_a of each section, k = c u; shape (N, 9)."""
        openings = (openings,) if isinstance(openings, Openings | None) else tuple(openings)
        other = [o for o in openings if not isinstance(o, Openings)]
        if other:
            raise InputError(
                f"{other[0]!r} is no Openings",
                key="openings",
                mend="give one Openings for each section",
            )
        if len(openings) != len(self.sections):
            raise InputError(
                f"openings of {len(openings)} sections for a circuit of {len(self.sections)}",
                key="openings",
                mend="give one Openings for each section, in their order",
            )
        return np.array(
            [
                [
                    s.A_h,
                    s.A_r,
                    s.P_hM,
                    s.P_rM,
                    s.c_ph * o.u_ph,
                    s.c_pr * o.u_pr,
                    s.c_th * o.u_th,
                    s.c_tr * o.u_tr,
                    s.c_a * o.u_a,
                ]
                for s, o in zip(self.sections, openings)
            ]
        )

    def supply(self, u_b: float) -> np.ndarray:
        """Q, P_M, k_b = c_b u_b. Raises InputError for a bleed opening outside [0, 1]."""
        if not 0.0 <= u_b <= 1.0:
            raise InputError(
                f"{u_b:g} is no opening", key="u_b", mend="give a number from 0 (shut) to 1 (open)"
            )
        return np.array([self.pump.Q, self.pump.P_M, self.pump.c_b * u_b])
