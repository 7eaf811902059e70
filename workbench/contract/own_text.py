"""A version number of this library's code in a running interpreter, so that a replaced method is noticed.

Every value of the traced modules and of their classes, and the code object of every function, is
compared by identity with those at the last look.
"""

from __future__ import annotations

import operator
import sys
import threading
from collections.abc import Iterator, Mapping
from itertools import chain
from types import CodeType, FunctionType, ModuleType
from typing import Any

OWN = ("workbench", "plants", "controllers", "reports")
# Modules whose text is traced: what stands in them is part of a loop's equations.
TRACED = (
    "plants.",
    "controllers.",
    "workbench.contract.closed_loop",
    "workbench.contract.wrappers",
    "workbench.contract.system",
    "workbench.numerics.calculus",
)

# What the interpreter itself writes into a namespace; the last one when somebody asks for it.
NOTED = ("__warningregistry__", "__builtins__", "__annotations__")


def home(thing: Any) -> str:
    """Name of the outermost package that a class or function was defined in."""
    module = getattr(thing, "__module__", None)
    return module.split(".")[0] if isinstance(module, str) else ""


def own(thing: Any) -> bool:
    """Whether a class or function is this library's."""
    return home(thing) in OWN


class _Version:
    """The values of all namespaces and the code of all functions at the last look.

    states: identities of all values and codes → version number, for every state seen so far. The
    values themselves are kept, so that no identity is used again. A module that is imported later
    does not change the version.
    """

    def __init__(self) -> None:
        self.modules = 0
        self.spaces: list[Mapping] = []
        self.sizes: list[int] = []
        self.values: list = []
        self.functions: list[FunctionType] = []
        self.codes: list[CodeType] = []
        self.named: dict[str, list] = {}
        self.current = 0
        self.states: dict[tuple[int, ...], int] = {}
        self.kept: list = []

    def unchanged(self) -> bool:
        """Whether every name still means what it meant, and every function still has its code."""
        if self.modules != len(sys.modules):
            return False
        if list(map(len, self.spaces)) != self.sizes:
            return False
        if not all(map(operator.is_, _values_of(self.spaces), self.values)):
            return False
        return all(map(operator.is_, map(_code_of, self.functions), self.codes))

    def look(self) -> None:
        """Record all namespaces again; the version changes if a value or a code known before has changed."""
        self.modules = len(sys.modules)
        traced = [(n, m) for n, m in tuple(sys.modules.items()) if n.startswith(TRACED)]
        half = {name for name, module in traced if _half_imported(module)}
        if half:  # by another thread: they are taken down at the next look
            self.modules = 0
        modules = sorted((name, vars(module)) for name, module in traced if name not in half)
        spaces: dict[str, Mapping[str, Any]] = dict(modules)
        for name, space in modules:
            classes = [
                value
                for value in tuple(space.values())
                if isinstance(value, type) and value.__module__ == name
            ]
            spaces |= {f"{name}:{cls.__qualname__}": vars(cls) for cls in classes}
        standing = [tuple(space.values()) for space in spaces.values()]
        self.spaces = list(spaces.values())
        self.sizes = list(map(len, standing))
        self.values = list(chain.from_iterable(standing))
        before = self.named
        self.named = {name: _told(space) for name, space in spaces.items()}
        flat = [value for values in self.named.values() for value in values]
        self.functions = [value for value in flat if isinstance(value, FunctionType)]
        self.codes = [function.__code__ for function in self.functions]
        self.kept += [flat, self.codes]
        state = tuple(map(id, [*flat, *self.codes]))
        same = all(
            len(values) == len(self.named.get(name, ()))
            and all(map(operator.is_, values, self.named[name]))
            for name, values in before.items()
        )
        if same:
            self.states[state] = self.current
        self.current = self.states.setdefault(state, len(self.states) + 1)


def _half_imported(module: ModuleType) -> bool:
    """Whether a thread is still working through the module's text."""
    return module.__spec__ is not None and module.__spec__._initializing  # type: ignore[attr-defined]


def _told(space: Mapping) -> list:
    """The values in a namespace and the code of its functions, without modules and the interpreter's
    own entries.
    """
    values = [
        value
        for name, value in tuple(space.items())
        if not isinstance(value, ModuleType) and name not in NOTED
    ]
    return values + [value.__code__ for value in values if isinstance(value, FunctionType)]


def _values_of(spaces: list[Mapping]) -> Iterator:
    """All values of the namespaces, one after the other."""
    return chain.from_iterable(map(operator.methodcaller("values"), spaces))


_code_of = operator.attrgetter("__code__")
_version = _Version()
_looking = threading.Lock()


def own_version() -> int:
    """The version of the traced modules of this library; it changes when a method is replaced.
    Threads that trace at the same time get the same number.
    """
    with _looking:
        if not _version.unchanged():
            _version.look()
        return _version.current
