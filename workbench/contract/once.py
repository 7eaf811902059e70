"""Shared expressions: while a system is traced, an expression that several of its functions need is built once.

A plant's flow, outputs, powers and energy all need its kinematics, and the loop's flow, log and energy all need the law's commands.
A function marked `once` is called once for the same arguments inside a `traced` block, and its result is used again; called with
numbers, outside such a block, it runs every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Built:
    """What a trace has built: (function, identity of its arguments) → result.

    held: the arguments and results themselves: an id belongs to an object only as long as the object lives.
    """

    def __init__(self) -> None:
        self.results: dict[tuple, Any] = {}
        self.held: dict[int, Any] = {}

    def identity(self, value: Any) -> object:
        """Equal for two arguments if they are the same: numbers by value, lists by their members, other objects themselves.

        A result of an earlier function is known by its own identity; its members are not compared.
        """
        if isinstance(value, (list, tuple)) and id(value) not in self.held:
            return (type(value), *map(self.identity, value))
        if isinstance(value, (float, int, str, type(None))):
            # 0.0 and −0.0 are two numbers.
            return (
                type(value),
                value,
                str(value) if value == 0 else "",
            )
        self.held[id(value)] = value
        return id(value)


_built: ContextVar[Built | None] = ContextVar("built", default=None)


@contextmanager
def traced() -> Iterator[None]:
    """Expressions that are built in this block are shared among the functions marked `once`."""
    token = _built.set(Built())
    try:
        yield
    finally:
        _built.reset(token)


def once(function: Function) -> Function:
    """A pure function of expressions and frozen objects that need not build the same expressions twice in a trace."""

    @wraps(function)
    def shared(*arguments: Any, **named: Any) -> Any:
        built = _built.get()
        if built is None:
            return function(*arguments, **named)
        key = (function, built.identity((*arguments, *named.items())))
        if key not in built.results:
            result = function(*arguments, **named)
            built.results[key] = result
            built.held[id(result)] = result
        result = built.results[key]
        return list(result) if type(result) is list else result

    return shared  # type: ignore[return-value]
