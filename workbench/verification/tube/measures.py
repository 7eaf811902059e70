"""What a tube tells of its runs beside their states: functions of the state before a sample and of what is wanted there.

    e_y         y_d − y of every output y that has a reference of its name, in its unit
    tool_error  |x(q_d) − x(q)|, x(q) the tool's place, m: of a machine with a tool whose law follows its joints
    v           the accompanying function of the law, J

One that no text can be enclosed of, or that reads what no sample does, is left out, and why is kept.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import casadi as ca

from workbench.contract.errors import InputError
from workbench.contract.parameters import bind
from workbench.contract.system import names
from workbench.numerics.calculus import Traced
from workbench.numerics.expressions import column, symbols
from workbench.verification.ledger.balance import has_ledger, ledger_function
from workbench.verification.tube.programs import program

TOOL_ERROR = "tool_error"
STORED = "v"


@dataclass(frozen=True, eq=False)
class Measures:
    """values: a function of (t, x, w, p) with a row for each name. left: name → why it is not among them."""

    names: tuple[str, ...]
    values: ca.Function
    left: dict[str, str]


def named(loop: Any) -> dict[str, str]:
    """Names that a tube of this loop may tell, and their units; a name that a state of the loop has is that state's."""
    inputs = names(loop.inputs)
    own = followed(loop, inputs)
    found = {f"e_{s.name}": s.unit for s in loop.outputs if s.name in own}
    if wanted_joints(loop.plant, inputs):
        found[TOOL_ERROR] = "m"
    if has_ledger(loop):
        found[STORED] = "J"
    return {name: unit for name, unit in found.items() if name not in names(loop.states)}


def measures(loop: Any, traced: Traced, read: set[int]) -> Measures:
    """What can be told of runs of this loop. read: the states that a sample reads."""
    t = ca.SX.sym("t")
    x, xs = symbols("x", traced.n_states)
    w, ws = symbols("w", len(traced.live))
    p, ps = symbols("p", len(traced.paths))
    known = bind(loop, dict(zip(traced.paths, ps)))
    wanted = dict(zip(traced.live, ws))
    given = [t, x, w, p]
    found = {
        **errors(known, t, xs, wanted),
        **tool_error(known.plant, xs, wanted),
        **storage(loop, traced, given),
    }
    found = {name: e for name, e in found.items() if name in named(loop)}
    left = {name: why for name, e in found.items() if (why := unknown(e, loop, given, read))}
    kept = {name: e for name, e in found.items() if name not in left}
    return Measures(tuple(kept), ca.Function("told", given, [column(list(kept.values()))]), left)


def unknown(e: Any, loop: Any, given: list, read: set[int]) -> str:
    """Why nothing can be said of this expression; "" where something can."""
    one = ca.Function("one", given, [ca.SX(e)])
    unread = [i for i in map(int, one.jac_sparsity(0, 1).find()) if i not in read]
    if unread:
        return f"it depends on {loop.states[unread[0]].name}, which no sample reads"
    try:
        program(one)
    except InputError as why:
        return why.message
    return ""


def errors(loop: Any, t: Any, xs: list, wanted: dict) -> dict[str, Any]:
    """How far every output is from its reference."""
    measured = dict(zip(names(loop.outputs), loop.out(t, xs)))
    return {f"e_{y}": wanted[f"{y}_d"] - measured[y] for y in followed(loop, wanted)}


def followed(loop: Any, wanted: Collection[str]) -> list[str]:
    """Outputs that have a reference of their name; the rate of another output is not one to be followed."""
    measured = names(loop.outputs)
    rates = {f"d{name}" for name in measured}
    return [y for y in measured if f"{y}_d" in wanted and y not in rates]


def tool_error(plant: Any, xs: list, wanted: dict) -> dict[str, Any]:
    """How far the tool is from where the references of all joints would put it."""
    joints = wanted_joints(plant, wanted)
    if not joints:
        return {}
    at = dict(zip(names(plant.states), xs))
    place = plant.tool([at[name] for name in joints])
    goal = plant.tool([wanted[f"{name}_d"] for name in joints])
    return {TOOL_ERROR: ca.sqrt(sum((a - b) ** 2 for a, b in zip(goal, place)))}


def wanted_joints(plant: Any, wanted: Collection[str]) -> tuple[str, ...]:
    """The joints of a machine with a tool, where every one of them has a reference; none else."""
    joints = tuple(plant.joint_names) if plant.has_tool else ()
    return joints if all(f"{name}_d" in wanted for name in joints) else ()


def storage(loop: Any, traced: Traced, given: list) -> dict[str, Any]:
    """The accompanying function of a law that states one: max(v, 0), which shows that no v is below 0."""
    if not has_ledger(loop):
        return {}
    ledger = ledger_function(loop, traced.live)
    t, x, w, p = given
    own = ca.vertcat(*(p[traced.paths.index(path)] for path in ledger.paths))
    return {STORED: ca.fmax(ledger.alone(t, x, w, ledger.prelude(own)), 0.0)}
