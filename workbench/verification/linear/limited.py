"""A linear plant under a law with limits, taken apart: what is linear, and what the limits take off.

    x⁺ = M x − E ψ + o   or   ẋ = M x − E ψ + o,     v = K x + w,     ψ = v − min(max(v, low), high)

x is the plant's state, its commands on their way, the law's memory. The limits are found in the law's own text: every
min(max(v, low), high) with numbers for limits becomes v − ψ, and what is left must be linear. So back-calculation (whose ψ
enters the memory) is covered, and what switches in any other way is refused, not overlooked. The dead zone ψ as what is left
of a limit: [GomesTarbouriech05], section II.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.numerics.switches import _BINARY, _UNARY
from workbench.verification.verdict import Assumption


@final
@dataclass(frozen=True, eq=False)
class Limited:
    """The loop of the module's docstring; ψ has one entry a limit.

    enter, command: where a signal added to each command enters, and the commands themselves, away from every limit.
    states: names; commands on their way and memory after the plant's. start: x where a run with the references `r` begins.
    beyond: names of commands whose limit is the plant's and not in the law; constant: memory left out because it stays.
    """

    M: np.ndarray
    E: np.ndarray
    K: np.ndarray
    o: np.ndarray
    w: np.ndarray
    low: np.ndarray
    high: np.ndarray
    enter: np.ndarray
    command: np.ndarray
    states: tuple[str, ...]
    start: np.ndarray
    T: float | None
    beyond: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()

    def rest(self) -> tuple[np.ndarray, np.ndarray]:
        """(x_0, room): where the loop stands still away from its limits, and how far v may move there before one acts.

        Raises InputError where there is no such point.
        """
        turn = np.eye(len(self.M)) - self.M if self.T is not None else -self.M
        x = np.linalg.lstsq(turn, self.o, rcond=None)[0]
        if np.abs(turn @ x - self.o).max(initial=0.0) > 1e-9 * np.abs([self.o, turn @ x]).max(
            initial=0.0
        ):
            raise InputError(
                "the loop does not come to rest at this reference", mend="hold the reference still"
            )
        v = self.K @ x + self.w
        room = np.minimum(self.high - v, v - self.low)
        if not (room > 0).all():
            raise InputError(
                "at rest a command is at its limit already",
                mend="a reference, or a limit, that leaves room",
            )
        return x, room

    def assumptions(self) -> tuple[Assumption, ...]:
        """What the matrices leave unsaid: limits that are the plant's own, memory that stays."""
        cut = tuple(
            Assumption(
                f"of {n} the plant takes what its limits say; the run's model takes all", None
            )
            for n in self.beyond
        )
        return (
            *cut,
            *(Assumption(f"{n} stays what it is: nothing changes it", True) for n in self.constant),
        )

    def next(self, x: np.ndarray) -> np.ndarray:
        """x⁺ (or ẋ), limits and all."""
        v = self.K @ x + self.w
        return self.M @ x - self.E @ (v - np.clip(v, self.low, self.high)) + self.o


# ---- the law's text -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class _Limit:
    v: ca.SX
    ψ: ca.SX
    low: float
    high: float


def unlimited(x: ca.SX, expression: ca.SX) -> tuple[ca.SX, list[_Limit], list[int | None]]:
    """(the expression over x with v − ψ for every limit, the limits, which limit each result is the outcome of)."""
    f = ca.Function("f", [x], [ca.densify(ca.cse(expression))])
    value, number, half, outcome, limits = {}, {}, {}, {}, []
    results = [ca.SX(0)] * f.numel_out(0)
    which = [None] * f.numel_out(0)
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        o = f.instruction_output(k)
        i = f.instruction_input(k)
        if op == ca.OP_OUTPUT:
            results[o[1]], which[o[1]] = value[i[0]], outcome.get(i[0])
            continue
        here = {"value": None}
        if op == ca.OP_INPUT:
            here["value"] = x[i[1]]
        elif op == ca.OP_CONST:
            here = {"value": ca.SX(f.instruction_constant(k)), "number": f.instruction_constant(k)}
        elif op in (ca.OP_FMIN, ca.OP_FMAX):
            here = _bounded(
                op,
                *(
                    (
                        {
                            "value": value[j],
                            "number": number.get(j),
                            "half": half.get(j),
                            "outcome": outcome.get(j),
                        }
                    )
                    for j in i
                ),
                limits,
            )
        elif op in (table := _BINARY if op in _BINARY else _UNARY):
            here["value"] = table[op](*(value[j] for j in i))
        else:
            raise InputError(
                "the law uses an operation that is not known here", mend="ask this of PID or LQR"
            )
        for store, key in (
            (value, "value"),
            (number, "number"),
            (half, "half"),
            (outcome, "outcome"),
        ):
            store.pop(o[0], None)
            if here.get(key) is not None:
                store[o[0]] = here[key]
    return ca.vertcat(*results), limits, which


def _bounded(op, a: dict, b: dict, limits: list[_Limit]) -> dict:
    """min or max: the second of a pair with numbers makes a limit, one outside a limit passed already changes nothing."""
    plain = {"value": (ca.fmin if op == ca.OP_FMIN else ca.fmax)(a["value"], b["value"])}
    if (a["number"] is None) == (b["number"] is None):
        return plain
    v, bound = (b, a["number"]) if b["number"] is None else (a, b["number"])
    if v["outcome"] is not None:
        own = limits[v["outcome"]]
        return v if (bound <= own.low if op == ca.OP_FMAX else bound >= own.high) else plain
    if v["half"] is None or v["half"][0] == op:
        return {**plain, "half": (op, v["value"], bound)}
    _, inner, other = v["half"]
    low, high = (other, bound) if op == ca.OP_FMIN else (bound, other)
    if not low < high:
        return plain
    ψ = ca.SX.sym(f"ψ{len(limits)}")
    limits.append(_Limit(inner, ψ, low, high))
    return {"value": inner - ψ, "outcome": len(limits) - 1}
