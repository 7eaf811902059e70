"""What a law commands and remembers after a sample, and how a plant of the user's own moves then, as expressions."""

from __future__ import annotations

import casadi as ca

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.own_text import own
from workbench.contract.system import innermost, names
from workbench.numerics.calculus import Traced


def commands_and_memory(
    loop: ClosedLoop, traced: Traced, symbols: list[ca.SX], jump: ca.SX | None
) -> tuple[list, list]:
    """(commands, and what wrappers hold of them; what the law remembers) after a sample, or in continuous time at an instant."""
    n = len(loop.plant.states)
    remembered = set(names(innermost(loop.controller).states))
    kept = names(loop.states)[n:]
    if jump is None:
        log = traced.log(*symbols)
        listed = names(loop.monitors)
        commands = [log[listed.index(name)] for name in names(loop.controller.commands)]
        flow = traced.flow(*symbols)
        return commands, [flow[n + i] for i in range(len(kept))]
    rows = {name: jump[n + i] for i, name in enumerate(kept)}
    return (
        [row for name, row in rows.items() if name not in remembered],
        [row for name, row in rows.items() if name in remembered],
    )


def own_flow(loop: ClosedLoop, traced: Traced, symbols: list[ca.SX], jump: ca.SX | None) -> list:
    """Rates of the states of a plant of the user's own, under what the law commands there; none of a plant of this library."""
    if own(type(loop.plant)):
        return []
    t, x, w, c = symbols
    after = x if jump is None else jump[: len(loop.states)]
    return ca.vertsplit(traced.flow(t, after, w, c)[: len(loop.plant.states)])
