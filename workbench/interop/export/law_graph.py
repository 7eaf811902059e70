"""A sampled law as graphs of its own: what it does at the start, at a sample, and between samples where it is delayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.once import traced
from workbench.contract.own_text import own
from workbench.contract.parameters import Leaf, bind, leaves
from workbench.contract.plain import Plain
from workbench.contract.system import Controller, Signal, innermost
from workbench.numerics.calculus import check_constants, hoist
from workbench.numerics.expressions import column, symbols

ARGUMENTS = ("t", "memory", "measured", "references", "constants")


@dataclass(frozen=True, eq=False)
class LawGraph:
    """A law as functions of (t, memory z, measured y, references r, constants c), with c = prepare(parameters p).

    start: z that fits the first measurement. step, release: (z⁺, u) at a sample, and `lag` after it; release is None without lag.
    parameters: numbers of the law, in order of p; `values` are theirs, `constants` the c that follow.
    """

    controller: Controller
    parameters: tuple[Leaf, ...]
    prepare: ca.Function
    start: ca.Function
    step: ca.Function
    release: ca.Function | None

    @property
    def memory(self) -> tuple[Signal, ...]:
        return self.controller.states

    @property
    def measured(self) -> tuple[Signal, ...]:
        return self.controller.measured

    @property
    def references(self) -> tuple[Signal, ...]:
        return self.controller.references

    @property
    def commands(self) -> tuple[Signal, ...]:
        return self.controller.commands

    @property
    def values(self) -> np.ndarray:
        return np.array([leaf.value for leaf in self.parameters], float)

    @property
    def constants(self) -> np.ndarray:
        return np.array(self.prepare(self.values)).ravel()

    @property
    def initial(self) -> np.ndarray:
        """The memory before the first measurement."""
        return np.array(self.controller.initial(), float)

    @property
    def functions(self) -> dict[str, ca.Function]:
        """Name → function, those there are."""
        given = {"start": self.start, "step": self.step, "release": self.release}
        return {name: f for name, f in given.items() if f is not None}


def law_graph(controller: Any) -> LawGraph:
    """The graphs of a sampled law, as `export_law` takes them; controller: the law in its wrappers.

    Raises InputError for a law that is Python, and for one without samples.
    """
    _check(controller)
    free = tuple(leaf for leaf in leaves(controller) if not leaf.constant)
    p, entries = symbols("p", len(free))
    bound = bind(controller, {leaf.path: e for leaf, e in zip(free, entries)})
    t = ca.SX.sym("t")
    z, zs = symbols("z", len(controller.states))
    y, ys = symbols("y", len(controller.measured))
    r, rs = symbols("r", len(controller.references))
    with traced():
        after = bound.update(t, zs, ys, rs)
        parts = {
            "start": [bound.start(t, zs, ys, rs)],
            "step": [after, bound.command(t, after, ys, rs)],
        }
        if controller.lag:
            later = bound.release(t, zs, ys, rs)
            parts["release"] = [later, bound.command(t, later, ys, rs)]
    flat = [column(e) for pair in parts.values() for e in pair]
    expressions, c, prelude = hoist(flat, p)
    free, prepare = _needed(free, p, prelude)
    left = iter(expressions)
    made = {}
    for name, pair in parts.items():
        results = [next(left) for _ in pair]
        made[name] = ca.Function(
            name, [t, z, y, r, c], results, list(ARGUMENTS), ["z", "u"][: len(pair)]
        )
        check_constants(made[name], f"{type(controller).__name__}.{name}")
    return LawGraph(
        controller,
        free,
        prepare,
        made["start"],
        made["step"],
        made.get("release"),
    )


def _needed(
    free: tuple[Leaf, ...], p: ca.SX, prelude: ca.SX
) -> tuple[tuple[Leaf, ...], ca.Function]:
    """The parameters that the law's constants follow from, and c as a function of these alone."""
    whole = ca.Function("prepare", [p], [ca.densify(prelude)])
    places = sorted({j for _, j in zip(*whole.jac_sparsity(0, 0).get_triplet())})
    kept = ca.SX.sym("p", len(places))
    given = ca.SX.zeros(p.numel())
    for i, place in enumerate(places):
        given[place] = kept[i]
    return tuple(free[i] for i in places), ca.Function("prepare", [kept], [whole(given)])


def _check(controller: Any) -> None:
    law = innermost(controller)
    if isinstance(law, Plain):
        raise InputError(
            f"{law.name} is called from Python and has no equations to export",
            key="controller",
            mend="export VDC, PID, LQR or ForcePosition"
            if own(type(law.law))
            else "write it as equations: a class derived from Controller, with step_at",
        )
    if controller.period is None:
        raise InputError(
            f"{type(law).__name__} has no samples; a controller on a machine needs its sample time",
            key="loop.sample_time",
            mend="give loop: {sample_time: 1 ms}, in Python Sampled(law, T_s=1e-3)",
        )


def short(path: str) -> str:
    """Path of a parameter without the wrappers it is in."""
    while path.startswith("inner."):
        path = path.removeprefix("inner.")
    return path
