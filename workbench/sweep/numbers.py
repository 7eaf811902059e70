"""Numbers of a sweep file: values, ranges, counts, draws."""

from __future__ import annotations

from workbench.cases.edit import located
from workbench.cases.node import Node
from workbench.cases.refusals import unknown
from workbench.contract.errors import InputError
from workbench.contract.units import measured
from workbench.sweep.grid import KINDS, MOST, Draw, spaced

QUICK = 0.01  # s, what the quickest cases take


def _mapping(node: Node, key: str, like: str) -> dict[str, Node]:
    if not isinstance(node.value, dict):
        raise node.error(
            f"expected a mapping, got {node.words}",
            key=key,
            mend=f"write {like} below it, indented",
        )
    return node.value


def _whole(node: Node, key: str, least: int) -> int:
    if not isinstance(node.value, int) or isinstance(node.value, bool) or node.value < least:
        raise node.error(
            f"expected a whole number, {least} or more, got {node.words}",
            key=key,
            mend=f"write {max(least, 20)}",
        )
    return node.value


def _count(node: Node, key: str) -> int:
    """How many values or draws: refused before anything is made of them where they are more than a sweep can run."""
    count = _whole(node, key, 1)
    if count > MOST:
        days = count * QUICK / 86400
        raise node.error(
            f"{count} cases at least, expected at most {MOST}: at {1e3 * QUICK:g} ms each they take {days:.3g} days",
            key=key,
            mend="write a smaller count, such as 20",
        )
    return count


def _has_names(node: Node) -> bool:
    """Whether the values of an axis are a mapping name → value."""
    return (
        isinstance(node.value, dict)
        and bool(node.value)
        and not {"from", "to", "count"} & node.value.keys()
    )


def _values(node: Node, key: str) -> list:
    """The values of an axis: a list, {from, to, count, spacing}, or one value."""
    inside = node.value
    if isinstance(inside, dict) and {"from", "to", "count"} & inside.keys():
        for k, child in inside.items():
            if k not in ("from", "to", "count", "spacing"):
                raise unknown(child, k, ("from", "to", "count", "spacing"), key)
        for k in ("from", "to", "count"):
            if k not in inside:
                raise node.error(
                    f"{k} is missing", key=key, mend="write {from: 0 ms, to: 2 ms, count: 5}"
                )
        (low, unit), (high, other) = (
            _number(inside["from"], f"{key}.from"),
            _number(inside["to"], f"{key}.to"),
        )
        if unit != other:
            raise node.error(
                f"from and to are in different units ({unit or 'none'}, {other or 'none'})",
                key=key,
                mend="give both the same kind of unit",
            )
        word = inside["spacing"].value if "spacing" in inside else "even"
        if word not in ("even", "log"):
            raise unknown(
                inside["spacing"], str(word), ("even", "log"), f"{key}.spacing", "spacing"
            )
        with located(node, key):
            return spaced(low, high, _count(inside["count"], f"{key}.count"), unit, word == "log")
    if isinstance(inside, list) and inside:
        return [child.plain() for child in inside]
    raise node.error(
        f"expected a list of values, got {'an empty one' if inside == [] else node.words}",
        key=key,
        mend="write [0 kg, 25 kg], {from: 0 kg, to: 50 kg, count: 3}, or {light: 0 kg, heavy: 50 kg}",
    )


def _number(node: Node, key: str) -> tuple[float, str]:
    """(number in SI, unit) of a written quantity."""
    value = node.value
    found = measured(value) if isinstance(value, str) else None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        found = float(value), ""
    if found is None:
        raise node.error(
            f"expected a number or a quantity, got {node.words}",
            key=key,
            mend="write 0.5, or 0.5 ms",
        )
    return found


def _draw(node: Node, key: str) -> Draw:
    inside = _mapping(node, key, "'uniform: [0 kg, 50 kg]'")
    if len(inside) != 1:
        raise node.error(
            f"expected one distribution, got {len(inside)}",
            key=key,
            mend=f"choose one of {', '.join(KINDS)}",
        )
    ((kind, numbers),) = inside.items()
    if kind not in KINDS:
        raise unknown(numbers, kind, KINDS, key, "distribution")
    if not isinstance(numbers.value, list) or (kind != "choice" and len(numbers.value) != 2):
        what = "a list of values" if kind == "choice" else "two numbers"
        raise numbers.error(
            f"expected {what}, got {numbers.words}",
            key=f"{key}.{kind}",
            mend="write uniform: [0 kg, 50 kg], normal: [mean, deviation] or choice: [a, b, c]",
        )
    with located(numbers, f"{key}.{kind}"):
        if kind == "choice":
            return Draw(kind, among=tuple(child.plain() for child in numbers.value))
        (a, unit), (b, other) = (_number(child, f"{key}.{kind}") for child in numbers.value)
        if unit != other:
            raise InputError(
                f"the two numbers are in different units ({unit or 'none'}, {other or 'none'})",
                mend="give both the same kind of unit",
            )
        return Draw(kind, a, b, unit=unit)
