"""The requirements of a case file: sentences by name or in a list, each checked against the signals that the loop will log."""

from __future__ import annotations

from typing import Any

from workbench.cases.build import build
from workbench.cases.edit import located
from workbench.cases.node import Node
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.run.scenario import Scenario
from workbench.verification.observed.requirement_claims import Requirement
from workbench.verification.temporal.sentence import read
from workbench.verification.temporal.signals import table_before

EXAMPLE = "write 'reach: always[2 s, end] (tool_error < 5 mm)' below it, indented"


def read_requirements(
    node: Node, key: str, loop: ClosedLoop, scenario: Scenario
) -> dict[tuple[type, str], Requirement]:
    """(class, name) → requirement. Raises InputError with the line of the sentence and the column in it."""
    table = table_before(loop, scenario)
    found: dict[tuple[type, str], Requirement] = {}
    for name, child in _named(node, key):
        where = f"{key}.{name}" if name else key
        with located(child, where):
            claim = _requirement(child, name, where)
            read(claim.sentence, table)
        found[Requirement, claim.name] = claim
    return found


def _named(node: Node, key: str) -> list[tuple[str, Node]]:
    value: Any = node.value
    if isinstance(value, str):
        return [("", node)]
    entries: list[tuple[str, Node]] = []
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list):
        entries = [(str(i), child) for i, child in enumerate(value, 1)]
    if not entries:
        raise node.error(f"expected sentences by name, got {node.words}", key=key, mend=EXAMPLE)
    return entries


def _requirement(node: Node, name: str, where: str) -> Requirement:
    """One requirement: a sentence, or a mapping with it and whether it counts."""
    if isinstance(node.value, str):
        return Requirement(node.value, name)
    if not isinstance(node.value, dict):
        raise InputError(f"expected a sentence, got {node.words}", mend=EXAMPLE)
    if "name" in node.value:
        raise node.value["name"].error(
            f"the name is given already: {name}", key=f"{where}.name", mend="remove this line"
        )
    named = Node({**node.value, "name": Node(name, node.line)}, node.line, node.column, node.file)
    return build(Requirement, named, where)
