"""`tuning:` of a controller section: gains that are found when the file is read, instead of given.

    tuning: disk-margin                          # or {method: disk-margin, disk_margin: 0.6, free: [K_p, K_i, K_d]}
    tuning: {method: relay, rule: tyreus-luyben, amplitude: 0.5 V}

What methods and options there are the law says (`tunings`). Gains are found on what the controller believes (`model`), with the
sampling, delay and filters of the loop section.
"""

from __future__ import annotations

from typing import Any

from workbench.cases.build import build
from workbench.cases.edit import located
from workbench.cases.loop import wrapped
from workbench.cases.node import Node
from workbench.cases.provenance import Provenance
from workbench.cases.refusals import unknown
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.parameters import described
from workbench.contract.units import format_quantity

KEY = "controller.tuning"
FOUND = "found by tuning"


def read_tuning(cls: type, node: Node) -> Any:
    """The method and its options: an object with `tune(loop)`."""
    if not cls.tunings():
        raise node.error(
            f"{cls.__name__} has no tuning: its gains are given",
            key=KEY,
            mend="choose 'law: PID', or remove this line",
        )
    methods = cls.tunings()
    inside = {"method": node} if isinstance(node.value, str) else node.value
    if not isinstance(inside, dict) or "method" not in inside:
        raise node.error(
            "expected the method that finds the gains",
            key=KEY,
            mend=f"write 'tuning: {next(iter(methods))}'",
        )
    method = inside["method"]
    if not isinstance(method.value, str) or method.value not in methods:
        raise unknown(method, str(method.plain()), methods, f"{KEY}.method", "method")
    rest = {key: child for key, child in inside.items() if key != "method"}
    return build(methods[method.value], Node(rest, node.line, node.column, node.file), KEY)


def tuned_law(
    law: Any, node: Node, loop: Node | None, given: set, provenance: dict[str, Provenance]
) -> Any:
    """The law with its gains found. Raises InputError where they are given as well, and where what is asked is not reached."""
    wish = read_tuning(type(law), node)
    for name in wish.finds:
        if name in given:
            raise node.error(
                f"{name} is given, and the tuning finds it",
                key=KEY,
                mend=f"remove {name}, or take it out of 'free'",
            )
    around = wrapped(law, loop, {})
    with located(node, KEY):
        found = wish.tune(ClosedLoop(law.model, around))
        if found.asked is not None and not found.met:
            raise InputError(
                f"disk_margin: {found.asked:g} is not reached; the largest found is {found.disk:.3g}",
                mend="ask for less, let K_d be found (free), sample faster, or change the damping",
            )
    provenance |= {
        f"controller.{name}": Provenance("D", note=f"{FOUND}: {found.words}", line=node.line)
        for name in found.found
    }
    return found.law


def found_line(case: Any) -> str:
    """'tuned: K_p = 1.114, K_i = 49.05 1/s (disk margin ≥ 0.75 kept)'; empty where nothing was."""
    from workbench.contract.system import innermost

    law = innermost(case.controller)
    notes = {
        name: case.provenance[f"controller.{name}"].note
        for name in vars(law)
        if f"controller.{name}" in case.provenance
    }
    found = {name: note for name, note in notes.items() if note.startswith(FOUND)}
    if not found:
        return ""
    units = {name: info.unit for name, info in described(law).items() if info is not None}
    values = {
        name: value if isinstance(value := getattr(law, name), tuple) else (value,)
        for name in found
    }
    shown = (
        f"{name} = {', '.join(format_quantity(v, units[name]) for v in each)}"
        for name, each in values.items()
    )
    return f"tuned: {'; '.join(shown)} ({next(iter(found.values())).removeprefix(FOUND + ': ')})"
