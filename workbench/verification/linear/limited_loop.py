"""A loop as a linear one with limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.plain import Plain
from workbench.contract.system import innermost, names
from workbench.contract.wrappers import Delayed
from workbench.numerics.expressions import column, quick, symbols
from workbench.numerics.switches import jumps
from workbench.verification.linear.limited import Limited, _Limit, unlimited
from workbench.verification.linear.loop import TURNS, Point, flat, point, refuse_turning
from workbench.verification.linear.sampled_data import sampled


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
    """The loop linearised about `at`, as a linear part and its limits; references stand at r (0 where none are given).

    A command that the law does not limit is limited where the plant takes no more (`plant.limits()`). Raises InputError, with the
    reason, for laws that have another nonlinearity than their limits.
    """
    refuse_turning(loop.plant)
    controller, delay = _undelayed(loop.controller)
    if isinstance(innermost(controller), Plain):
        raise InputError(
            "a law called from Python may do anything at its limits", mend="ask this of PID or LQR"
        )
    if loop.no_derivative:
        raise InputError(loop.no_derivative, mend="verify the loop without it")
    T = None if loop.period is None else float(loop.period)
    A, B, C = flat(loop, at)
    m = B.shape[1]
    if T is not None:
        own = sampled(A, B, C, np.zeros((len(C), m)), T, delay)
        A = own.A
        B = own.B
        C = own.C
    r = np.asarray(r if len(r) else np.zeros(len(controller.references)), float)
    law = _law(loop, controller, T)
    u = law.command
    z = law.memory
    v = law.limited
    n = len(A)
    found = Limited(
        M=np.block([[A + B @ u.y @ C, B @ u.z], [z.y @ C, z.z]]),
        E=-np.vstack([B @ u.ψ, z.ψ]),
        K=np.hstack([v.y @ C, v.z]),
        o=np.concatenate([B @ (u.r @ r + u.constant), z.r @ r + z.constant]),
        w=v.r @ r + v.constant,
        low=np.array([e.low for e in law.limits]),
        high=np.array([e.high for e in law.limits]),
        enter=np.vstack([B, np.zeros((len(z.z), m))]),
        command=np.hstack([u.y @ C, u.z]),
        states=(
            *names(loop.plant.states),
            *(f"command {i} on its way" for i in range(n - len(at.x))),
            *names(controller.states),
        ),
        start=_start(loop, controller, at.x, r, n),
        T=T,
        beyond=tuple(law.beyond),
    )
    return _needed(found, n)


def _undelayed(controller: Any) -> tuple[Any, float]:
    """(the controller without its dead time, the dead time, s)."""
    if isinstance(controller, Delayed):
        return controller.inner, float(controller.delay)
    return controller, 0.0


def saturates(loop) -> bool:
    """Whether the loop can be taken apart, and its state drives commands into limits."""
    try:
        return bool(limited(loop, point(loop.plant, {})).K.any())
    except InputError:
        return False


def _start(loop, controller, x, r, n) -> np.ndarray:
    """The state a run begins with: nothing on its way, memory as the law makes it fit the first measurement."""
    out = loop.plant.out(0.0, list(x))
    own = names(loop.plant.outputs)
    y = [out[own.index(s.name)] for s in controller.measured]
    z = controller.start(0.0, list(controller.initial()), y, list(r))
    return np.array([*x, *[0.0] * (n - len(x)), *z], float)


def _limit_by_plant(
    ends: Mapping, commands: dict[str, ca.SX], limits: list[_Limit], which: Sequence
) -> list[str]:
    """Limits every command that the law leaves free where the plant takes no more; the names of these commands.

    ends: command → (lowest, highest) that the plant takes. which: the number of the law's own limit of every command, or None.
    commands and limits are changed in place. Raises InputError where the law allows itself more than the plant takes.
    """
    beyond = []
    for name, by in zip(commands, which):
        low, high = ends.get(name, (-np.inf, np.inf))
        if by is None and np.isfinite([low, high]).all():
            ψ = ca.SX.sym(f"ψ{len(limits)}")
            limits.append(_Limit(commands[name], ψ, float(low), float(high)))
            commands[name] = commands[name] - ψ
            beyond.append(name)
        elif by is not None and (limits[by].low < low or limits[by].high > high):
            raise InputError(
                f"the law allows itself {name} from {limits[by].low:g} to {limits[by].high:g}, the plant takes "
                f"{low:g} to {high:g}",
                mend="limit the law to what the plant takes",
            )
    return beyond


class _Affine(NamedTuple):
    """Coefficients of memory z, measurement y, reference r and of what limits cut off, ψ; and what is left at zero."""

    z: np.ndarray
    y: np.ndarray
    r: np.ndarray
    ψ: np.ndarray
    constant: np.ndarray


class _Law(NamedTuple):
    """A law between its limits.

    memory, command, limited   the next memory, what is commanded, and what the limits act on
    limits, beyond             the limits; names of the commands that the plant limits, not the law
    """

    memory: _Affine
    command: _Affine
    limited: _Affine
    limits: list[_Limit]
    beyond: list[str]


def _law(loop, controller, T) -> _Law:
    """The law as coefficients; T: sample time, None of a law without samples. InputError where it is not affine."""
    k = len(controller.states)
    z, zs = symbols("z", k)
    y, ys = symbols("y", len(controller.measured))
    r, rs = symbols("r", len(controller.references))
    t = quick(ca.SX.sym("t"))
    after = controller.rhs(t, zs, ys, rs) if T is None else controller.update(t, zs, ys, rs)
    u = controller.command(t, zs if T is None else after, ys, rs)
    text = ca.vertcat(column(after), column(u))
    if ca.depends_on(text, t):
        raise InputError(f"the law {TURNS}", mend="verify it by runs")
    taken, limits, which = unlimited(ca.vertcat(z, y, r), text)
    memory = taken[:k]
    commands = {name: taken[k + i] for i, name in enumerate(names(controller.commands))}
    beyond = _limit_by_plant(loop.plant.limits(), commands, limits, which[k:])
    ψ = v = ca.SX(0, 1)
    if limits:
        ψ = ca.vertcat(*[e.ψ for e in limits])
        v = ca.vertcat(*[e.v for e in limits])
        if ca.depends_on(v, ψ):
            raise InputError("one limit behind another", mend="leave one of them out")
    parts = [z, y, r, ψ]
    turned = "the law switches at its limits: it is not linear but for them"
    affine = [
        _Affine(*_affine(e, parts, turned)) for e in (memory, ca.vertcat(*commands.values()), v)
    ]
    if not all(np.isfinite(M).all() for part in affine for M in part):
        raise InputError("the law has no derivative at rest", mend="verify it by runs")
    return _Law(*affine, limits, beyond)


def _stays(s: Limited, i: int) -> bool:
    """Whether nothing changes state i."""
    row = np.zeros(len(s.M))
    if s.T is not None:
        row[i] = 1.0
    return (s.M[i] == row).all() and not s.E[i].any() and not s.o[i]


def _fades_unread(s: Limited, i: int) -> bool:
    """Whether state i goes to zero by itself, and neither another state nor a limit or command reads it."""
    read = np.delete(s.M[:, i], i).any() or s.K[:, i].any() or s.command[:, i].any()
    own = s.M[i, i]
    return not read and (abs(own) < 1 if s.T is not None else own < 0)


def _needed(s: Limited, n: int) -> Limited:
    """Without memory that nothing changes (its value goes into o and w) and memory that fades and nothing reads."""
    while True:
        size = len(s.M)
        still = [i for i in range(n, size) if _stays(s, i)]
        idle = [i for i in range(n, size) if i not in still and _fades_unread(s, i)]
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
