"""A number of a file in the unit and the range of its field."""

from __future__ import annotations

from workbench.cases import shape
from workbench.cases.node import Node
from workbench.contract.errors import InputError
from workbench.contract.parameters import Info
from workbench.contract.units import example, stated


def number(info: Info, node: Node, path: str) -> float:
    """The number in SI that is written there, with or without a unit; InputError at its line where it is none."""
    try:
        size = stated(node.value, info.unit)
    except InputError as why:
        raise why.at(file=node.file or None, line=node.line, key=path or None) from None
    return bounded(size, info, node, path)


def bounded(number, info: Info | None, node: Node, path: str):
    """The number, where it lies in the range of its field; InputError where it does not."""
    if info is not None and not info.bound.admits(number):
        words = shape.bound_words(info.bound)
        raise node.error(
            f"{info.meaning or 'this'} must be {words}, got {node.value}",
            key=path,
            mend=f"give a value {words}{_unit_hint(info, node)}",
        )
    return number


def _unit_hint(info: Info, node: Node) -> str:
    """What to say of a number that was written without its unit."""
    if info.unit == "1" or isinstance(node.value, str):
        return ""
    return f"; without a unit it is in {info.unit}: write it as in {example(info.unit)}"
