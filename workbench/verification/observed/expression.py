"""A user's formula over named signals: a whitelist of arithmetic, read as a syntax tree, never executed as code.

+ − * /   ** with a whole number   sqrt sin cos tanh exp abs   numbers   the names given
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.contract.errors import InputError, short

FUNCTIONS: Mapping[str, Callable] = {
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "exp": np.exp,
    "abs": np.abs,
}


def _divided(a, b):
    """a/b; of plain numbers as IEEE says: 1/0 is ∞, 0/0 no number."""
    try:
        return a / b
    except ZeroDivisionError:
        return (
            math.nan
            if a == 0 or math.isnan(a)
            else math.copysign(math.inf, a) * math.copysign(1.0, b)
        )


def _raised(a, n: int):
    """aⁿ; ∞ where that is too large for a plain number."""
    try:
        return a**n
    except OverflowError:
        return math.inf if a > 0 or n % 2 == 0 else -math.inf


_BINARY = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: _divided,
}
_LONGEST = 4000
_DEEPEST = 100
_POWER = 16


def formula(text: str, names: Sequence[str]) -> Callable[[Sequence], Any]:
    """The formula as a function of the values of `names`, in order: floats or expressions.

    Raises InputError, with the place, for anything outside the whitelist.
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(
            "expected a formula such as 'x**2 + 0.5*v**2'",
            key=str(text)[:40],
            mend="write it as text",
        )
    if len(text) > _LONGEST:
        raise InputError(
            f"formula of {len(text)} characters, at most {_LONGEST}", mend="shorten it"
        )
    try:
        tree = _parsed(text)
        _check(tree, text, set(names), 0)
    except SyntaxError as e:
        raise InputError(
            f"cannot read the formula {short(text)!r}, near column {e.offset}",
            mend="check its brackets",
        ) from e
    except (RecursionError, MemoryError, ValueError) as e:
        if isinstance(e, InputError):
            raise
        raise InputError(
            f"formula too deeply nested, at most {_DEEPEST} levels", mend="write it flatter"
        ) from e
    _check_constants(tree, text)
    return lambda values: _value(tree, dict(zip(names, values, strict=True)))


def _check_constants(tree, text: str) -> None:
    """Raise InputError where a constant part of the expression has no finite value, such as 0/0 or exp(1e9)."""
    with np.errstate(all="ignore"):
        for part in _constant_parts(tree):
            if not np.isfinite(_value(part, {})):
                _refuse(part, text, "no finite value", "check the numbers of this part")
        for node in ast.walk(tree):
            divides = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
            if divides and not _has_signal(node.right) and _value(node.right, {}) == 0:
                _refuse(node.right, text, "division by zero", "check what stands below the line")


def _constant_parts(tree) -> list:
    """The largest parts that hold no signal; sums and products lean to the left, however long."""
    if not _has_signal(tree):
        return [tree]
    parts: list = []
    while isinstance(tree, ast.BinOp) and _has_signal(tree):
        parts += _constant_parts(tree.right)
        tree = tree.left
    if not _has_signal(tree):
        return [*parts, tree]
    return parts + [part for child in _below(tree) for part in _constant_parts(child)]


def _below(tree: ast.expr) -> list[ast.expr]:
    """What a call or a sign is applied to."""
    if isinstance(tree, ast.Call):
        return tree.args
    return [tree.operand] if isinstance(tree, ast.UnaryOp) else []


def _has_signal(tree) -> bool:
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.Name):
            return True
        left += node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    return False


def _parsed(text: str) -> ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of code that is never run
        return ast.parse(text.strip(), mode="eval").body


def used(text: str, names: Sequence[str]) -> set[str]:
    """Names that occur in the formula."""
    formula(text, names)
    return {n.id for n in ast.walk(_parsed(text)) if isinstance(n, ast.Name)} & set(names)


def _check(node, text: str, names: set[str], depth: int) -> None:
    """Everything allowed, or InputError; sums and products lean to the left, so only the right side counts as deeper."""
    while isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        _check(node.right, text, names, depth + 1)
        node = node.left
    if depth > _DEEPEST:
        raise InputError(
            f"formula too deeply nested, at most {_DEEPEST} levels", mend="write it flatter"
        )
    number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    if number and abs(node.value) < 1e300:
        return
    if isinstance(node, ast.Name):
        _check_name(node, text, names)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        _check(node.operand, text, names, depth + 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        _check_power(node, text)
        _check(node.left, text, names, depth + 1)
    elif isinstance(node, ast.Call):
        _check_call(node, text)
        _check(node.args[0], text, names, depth + 1)
    else:
        allowed = f"use + − * / **, numbers, signals and {', '.join(FUNCTIONS)}"
        powers = "; powers are written **" if "^" in text else ""
        _refuse(node, text, "something a formula cannot have", allowed + powers)


def _check_name(node: ast.Name, text: str, names: set[str]) -> None:
    if node.id not in names:
        known = f"choose from {', '.join(sorted(names)) or 'none'}"
        _refuse(node, text, f"unknown signal {node.id!r}", known)


def _check_power(node: ast.BinOp, text: str) -> None:
    whole = isinstance(node.right, ast.Constant) and type(node.right.value) is int
    if not (whole and 0 <= node.right.value <= _POWER):
        mend = f"x**2, up to x**{_POWER}; sqrt(x) for roots, 1/x for inverses"
        _refuse(node, text, "a power that is not a whole number", mend)


def _check_call(node: ast.Call, text: str) -> None:
    known = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
    if not known or len(node.args) != 1 or node.keywords:
        mend = f"functions of one value: {', '.join(FUNCTIONS)}"
        _refuse(node, text, "a call that is not allowed", mend)


def _refuse(node, text, what, mend):
    piece = ast.get_source_segment(text.strip(), node) or ""
    column = getattr(node, "col_offset", 0) + 1
    raise InputError(
        f"formula {short(text.strip(), 200)!r}: {what}: {short(piece)!r} (column {column})",
        mend=mend,
    )


def _value(node, at: Mapping):
    if isinstance(node, ast.Constant):
        return float(node.value)
    if isinstance(node, ast.Name):
        return at[node.id]
    if isinstance(node, ast.UnaryOp):
        value = _value(node.operand, at)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Call):
        return FUNCTIONS[node.func.id](_value(node.args[0], at))
    if isinstance(node.op, ast.Pow):
        return _raised(_value(node.left, at), node.right.value)
    chain = []  # left-leaning sums and products, without recursion
    while isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        chain.append(node)
        node = node.left
    value = _value(node, at)
    for step in reversed(chain):
        value = _BINARY[type(step.op)](value, _value(step.right, at))
    return value
