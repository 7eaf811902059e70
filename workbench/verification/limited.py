"""A linear plant under a law with limits, taken apart: what is linear, and what the limits take off.

    x⁺ = M x − E ψ + o   or   ẋ = M x − E ψ + o,     v = K x + w,     ψ = v − min(max(v, low), high)

x is the plant's state, its commands on their way, the law's memory. The limits are found in the law's own text: every
min(max(v, low), high) with numbers for limits becomes v − ψ, and what is left must be linear. So back-calculation (whose ψ
enters the memory) is covered, and what switches in any other way is refused, not overlooked. The dead zone ψ as what is left
of a limit: [GomesTarbouriech05], section II.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import Plain, innermost, names
from workbench.contract.wrappers import Delayed
from workbench.numerics.calculus import column, symbols
from workbench.numerics.switches import _BINARY, _UNARY, jumps
from workbench.verification.linear_loop import Point, flat, point, refuse_turning
from workbench.verification.sampled_data import sampled
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
    results, which = [ca.SX(0)] * f.numel_out(0), [None] * f.numel_out(0)
    for k in range(f.n_instructions()):
        op, o, i = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
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


def _affine(expression: ca.SX, parts: Sequence[ca.SX], why: str) -> list[np.ndarray]:
    """Coefficients of an affine expression by each part, then its constant. Raises InputError where it is not affine."""
    whole = ca.vertcat(*parts)
    J = ca.jacobian(expression, whole)
    if ca.depends_on(J, whole) or jumps(whole, expression):
        raise InputError(
            why,
            mend="integral action with anti_windup: back or none; no filter, rounding or limit of its own kind",
        )
    f = ca.Function("affine", [whole], [ca.densify(J), ca.densify(expression)])
    J, at_0 = (np.array(v) for v in f(np.zeros(whole.numel())))
    cuts = np.cumsum([p.numel() for p in parts])[:-1]
    return [*np.split(J, cuts, axis=1), at_0.ravel()]


# ---- the loop -----------------------------------------------------------------------------------------------------------
def limited(loop, at: Point, r: Sequence[float] = ()) -> Limited:
    """The loop about `at` taken apart, references at the values r (0 where none are given).

    A command that the law does not limit is limited where the plant takes no more (`plant.limits()`). Raises InputError, with the
    reason, for laws that are not linear but for their limits.
    """
    refuse_turning(loop.plant)
    controller, delay = loop.controller, 0.0
    if isinstance(controller, Delayed):
        delay, controller = float(controller.delay), controller.inner
    if isinstance(innermost(controller), Plain):
        raise InputError(
            "a law called from Python may do anything at its limits", mend="ask this of PID or LQR"
        )
    if loop.no_derivative:
        raise InputError(loop.no_derivative, mend="verify the loop without it")
    T = None if loop.period is None else float(loop.period)
    A, B, C = flat(loop, at)
    own = sampled(A, B, C, np.zeros((len(C), B.shape[1])), T, delay) if T is not None else None
    A, B, C = (A, B, C) if own is None else (own.A, own.B, own.C)
    q = len(controller.references)
    r = np.asarray(r if len(r) else np.zeros(q), float)
    law, limits, beyond = _law(loop, controller, T)
    (Az, Bz, Rz, Ez, oz), (Cz, Dz, Ru, Fu, ou), (Hz, Hy, Hr, _, ov) = law
    n, k, m = len(A), len(Az), B.shape[1]
    found = Limited(
        np.block([[A + B @ Dz @ C, B @ Cz], [Bz @ C, Az]]),
        -np.vstack([B @ Fu, Ez]),
        np.hstack([Hy @ C, Hz]),
        np.concatenate([B @ (Ru @ r + ou), Rz @ r + oz]),
        Hr @ r + ov,
        np.array([e.low for e in limits]),
        np.array([e.high for e in limits]),
        np.vstack([B, np.zeros((k, m))]),
        np.hstack([Dz @ C, Cz]),
        (
            *names(loop.plant.states),
            *(f"command {i} on its way" for i in range(n - len(at.x))),
            *names(controller.states),
        ),
        _start(loop, controller, at.x, r, n),
        T,
        tuple(beyond),
    )
    return _needed(found, n)


def saturates(loop) -> bool:
    """Whether the loop can be taken apart, and its state drives commands into limits."""
    try:
        return bool(limited(loop, point(loop.plant, {})).K.any())
    except InputError:
        return False


def _start(loop, controller, x, r, n) -> np.ndarray:
    """The state a run begins with: nothing on its way, memory as the law makes it fit the first measurement."""
    out, own = loop.plant.out(0.0, list(x)), names(loop.plant.outputs)
    y = [out[own.index(s.name)] for s in controller.measured]
    z = controller.start(0.0, list(controller.initial()), y, list(r))
    return np.array([*x, *[0.0] * (n - len(x)), *z], float)


def _law(loop, controller, T):
    """Memory, commands and v as coefficients of (memory, measurement, reference, ψ) and constants; limits; who the plant limits."""
    k, p, q = (len(s) for s in (controller.states, controller.measured, controller.references))
    (z, zs), (y, ys), (r, rs) = symbols("z", k), symbols("y", p), symbols("r", q)
    if T is None:
        after, u = controller.rhs(0.0, zs, ys, rs), controller.command(0.0, zs, ys, rs)
    else:
        after = controller.update(0.0, zs, ys, rs)
        u = controller.command(0.0, after, ys, rs)
    known = ca.vertcat(z, y, r)
    taken, limits, which = unlimited(known, ca.vertcat(column(after), column(u)))
    memory, commands, beyond = taken[:k], [taken[k + i] for i in range(len(u))], []
    ends = loop.plant.limits()
    for i, (name, by) in enumerate(zip(names(controller.commands), which[k:])):
        low, high = ends.get(name, (-np.inf, np.inf))
        if by is None and np.isfinite([low, high]).all():
            limits.append(
                _Limit(commands[i], ca.SX.sym(f"ψ{len(limits)}"), float(low), float(high))
            )
            commands[i] = commands[i] - limits[-1].ψ
            beyond.append(name)
        elif by is not None and (limits[by].low < low or limits[by].high > high):
            raise InputError(
                f"the law allows itself {name} from {limits[by].low:g} to {limits[by].high:g}, the plant takes "
                f"{low:g} to {high:g}",
                mend="limit the law to what the plant takes",
            )
    ψ = ca.vertcat(*[e.ψ for e in limits]) if limits else ca.SX(0, 1)
    parts = [z, y, r, ψ]
    turned = "the law switches at its limits: it is not linear but for them"
    v = ca.vertcat(*[e.v for e in limits]) if limits else ca.SX(0, 1)
    if ca.depends_on(v, ψ) if limits else False:
        raise InputError("one limit behind another", mend="leave one of them out")
    law = [_affine(e, parts, turned) for e in (memory, ca.vertcat(*commands), v)]
    if not all(np.isfinite(M).all() for part in law for M in part):
        raise InputError("the law has no derivative at rest", mend="verify it by runs")
    return law, limits, beyond


def _needed(s: Limited, n: int) -> Limited:
    """Without memory that nothing changes (its value goes into o and w) and memory that fades and nothing reads."""
    while True:
        size = len(s.M)
        still = [
            (s.M[i] == np.eye(size)[i] * (s.T is not None)).all()
            and not s.E[i].any()
            and not s.o[i]
            for i in range(size)
        ]
        still = [i for i in range(n, size) if still[i]]
        idle = [
            i
            for i in range(n, size)
            if i not in still
            and not np.delete(s.M[:, i], i).any()
            and not s.K[:, i].any()
            and not s.command[:, i].any()
            and (abs(s.M[i, i]) < 1 if s.T is not None else s.M[i, i] < 0)
        ]
        if not still and not idle:
            return s
        held = s.start[still]
        keep = [i for i in range(size) if i not in still and i not in idle]
        own = tuple(s.states[i] for i in still)
        s = replace(
            s,
            M=s.M[np.ix_(keep, keep)],
            E=s.E[keep],
            K=s.K[:, keep],
            o=s.o[keep] + s.M[np.ix_(keep, still)] @ held,
            w=s.w + s.K[:, still] @ held,
            enter=s.enter[keep],
            command=s.command[:, keep],
            start=s.start[keep],
            states=tuple(s.states[i] for i in keep),
            constant=(*s.constant, *own),
        )
