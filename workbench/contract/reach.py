"""A key for everything that traced code depends on besides the numbers of its system: the code that
it can reach, and the values that this code reads.

An expression graph is valid as long as the code that it was traced from. In a running interpreter
that code may change while the system stays the same: a global gets another value, a method of a
class is replaced, a cell of a notebook runs again, a list that a function closes over grows.
`reached(things)` is a text that changes whenever one of these does; it is part of every key under
which something traced is kept.

Followed are functions (their code, defaults, what they close over, the globals and attributes of
modules that they name), classes (every attribute along the method resolution order), bound methods,
partials, properties, and the values found there, as deep as they go. The interpreter's own and
third-party modules are taken as they are. The text of this library is followed by identity only
(`own_version`): it does not change by itself, and a method that somebody replaces is seen.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from workbench.contract.own_text import OWN, home, own, own_version

LIBRARIES = sys.stdlib_module_names | {
    "numpy",
    "casadi",
    "scipy",
    "cvxpy",
    "pint",
    "matplotlib",
    "pandas",
    "h5py",
    "control",
    "pytest",
    "_pytest",
}
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_OF_EVERY_CLASS = {
    "__dict__",
    "__weakref__",
    "__doc__",
    "__module__",
    "__annotations__",
    "__abstractmethods__",
    "_abc_impl",
    "__dataclass_fields__",
    "__dataclass_params__",
    "__match_args__",
    "__init__",
    "__repr__",
    "__eq__",
    "__hash__",
    "__setattr__",
    "__delattr__",
    "__firstlineno__",
    "__static_attributes__",
}


_steady: ContextVar[dict[tuple[int, ...], tuple[tuple, str]] | None] = ContextVar(
    "steady", default=None
)


@contextmanager
def steady() -> Iterator[None]:
    """A block in which code is examined once only, as the block itself replaces no method and no global."""
    token = _steady.set({}) if _steady.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _steady.reset(token)


def reached(things: Iterable[Any]) -> str:
    """Text that is the same as long as the code reachable from `things`, and the values it reads,
    are the same.
    """
    asked = tuple(things)
    known = _steady.get()
    if known is None:
        return _reached(asked)
    key = tuple(map(id, asked))
    if key not in known:
        known[key] = asked, _reached(asked)
    return known[key][1]


def _reached(things: tuple) -> str:
    walk = _Walk()
    for thing in things:
        walk.take(thing)
    text = "\n".join(walk.parts)
    return (
        f"{own_version()}:{hashlib.sha256(text.encode()).hexdigest()[:24]}"
        if text
        else str(own_version())
    )


_numbers: dict[int, tuple[Any, int]] = {}


def number(thing: Any) -> int:
    """A number for an object that has nothing but its identity. The object is kept, so that no
    other gets its number.
    """
    return _numbers.setdefault(id(thing), (thing, len(_numbers)))[1]


_codes: dict[CodeType, tuple[int, tuple[str, ...], tuple[str, ...]]] = {}


def _read(code: CodeType) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """(number of this code, globals it names, attributes it names), functions written inside it
    included.
    """
    if code in _codes:
        return _codes[code]
    globals_: dict[str, None] = {}
    attributes: dict[str, None] = {}
    waiting = [code]
    while waiting:
        one = waiting.pop()
        waiting += [constant for constant in one.co_consts if isinstance(constant, CodeType)]
        for step in dis.get_instructions(one):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "IMPORT_NAME"):
                globals_[step.argval] = None
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
                attributes[step.argval] = None
    _codes[code] = len(_codes), tuple(globals_), tuple(attributes)
    return _codes[code]


class _Walk:
    """Collects the text of `reached`."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.met: dict[Any, int] = {}
        self.kept: list = []  # what was met lives as long as the walk: its address stays its own

    def take(self, thing: Any) -> None:
        """Add what `thing` is worth."""
        if isinstance(thing, _PLAIN):
            self.parts.append(repr(thing))
        elif isinstance(thing, np.generic):
            self.parts.append(f"{thing.dtype} {thing!r}")
        elif self._again(thing):
            return
        elif isinstance(thing, (tuple, list, set, frozenset)):
            self.parts.append(f"{type(thing).__name__} of {len(thing)}")
            for entry in thing:
                self.take(entry)
        elif isinstance(thing, (dict, MappingProxyType)):
            self.parts.append(f"mapping of {len(thing)}")
            for key, value in thing.items():
                self.take(key)
                self.take(value)
        elif isinstance(thing, np.ndarray):
            self._array(thing)
        elif isinstance(thing, FunctionType):
            self._function(thing)
        elif isinstance(thing, type):
            self._class(thing)
        elif isinstance(thing, ModuleType):
            self._module(thing, tuple(name for name in vars(thing) if not name.startswith("__")))
        else:
            self._object(thing)

    def _again(self, thing: Any) -> bool:
        """Whether `thing` was met before on this walk; then its number stands for it."""
        before = self.met.get(id(thing))
        if before is not None:
            self.parts.append(f"@{before}")
            return True
        self.met[id(thing)] = len(self.met)
        self.kept.append(thing)
        return False

    def _array(self, array: np.ndarray) -> None:
        if array.dtype == object:
            self.take(array.tolist())
            return
        self.parts.append(
            f"array {array.shape} {array.dtype} {hashlib.sha256(array.tobytes()).hexdigest()}"
        )

    def _function(self, function: FunctionType) -> None:
        if own(function) or home(function) in LIBRARIES:
            self.parts.append(f"{function.__module__}.{function.__qualname__}")
            return
        code, globals_, attributes = _read(function.__code__)
        self.parts.append(f"function {code}")
        self.take(function.__defaults__)
        self.take(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:
                self.parts.append("empty")
                continue
            self._value(held, attributes)
        if function.__dict__:
            self.take(function.__dict__)
        for name in globals_:
            self._named(name, function.__globals__, attributes)

    def _named(self, name: str, where: dict, attributes: tuple[str, ...]) -> None:
        """A global that a function names; of a module, what the function may take from it."""
        if name in where:
            value = where[name]
        elif hasattr(builtins, name):
            return
        else:
            value = sys.modules.get(name)
        self.parts.append(name)
        self._value(value, attributes)

    def _value(self, value: Any, attributes: tuple[str, ...]) -> None:
        """What a function holds or names; of a module, only what the function may take from it."""
        if isinstance(value, ModuleType):
            self._module(value, attributes)
        else:
            self.take(value)

    def _module(self, module: ModuleType, attributes: tuple[str, ...]) -> None:
        self.parts.append(f"module {module.__name__}")
        outermost = module.__name__.split(".")[0]
        if outermost in OWN or outermost in LIBRARIES or (module, attributes) in self.met:
            return
        self.met[module, attributes] = len(self.met)
        for name in attributes:
            if name in vars(module):
                self.parts.append(name)
                self._value(vars(module)[name], attributes)

    def _class(self, cls: type) -> None:
        for base in cls.__mro__:
            self.parts.append(f"{base.__module__}.{base.__qualname__}")
            if own(base) or home(base) in LIBRARIES or home(base) == "builtins":
                continue
            for name, value in vars(base).items():
                if name not in _OF_EVERY_CLASS:
                    self.parts.append(name)
                    self.take(value)

    def _object(self, thing: Any) -> None:
        """Any other object: what it wraps, or its class and its attributes, or, where it shows
        none, its identity.
        """
        if isinstance(thing, property):
            self.take((thing.fget,))
        elif isinstance(thing, (staticmethod, classmethod, MethodType)):
            self.take(thing.__func__)
            self.take(getattr(thing, "__self__", None))
        elif isinstance(thing, functools.partial):
            self.take((thing.func, thing.args, thing.keywords))
        elif isinstance(thing, functools.cached_property):
            self.take(thing.func)
        elif isinstance(thing, BuiltinFunctionType) or not self._attributes(thing):
            self.parts.append(f"{type(thing).__qualname__} #{number(thing)}")

    def _attributes(self, thing: Any) -> bool:
        """Add class and attributes of an instance; False where it has none that can be seen."""
        slots = [
            name
            for base in type(thing).__mro__
            for name in vars(base).get("__slots__", ())
            if hasattr(thing, name)
        ]
        if not hasattr(thing, "__dict__") and not slots:
            return False
        if home(type(thing)) in LIBRARIES and not slots and not vars(thing):
            return False
        self.take(type(thing))
        self.take([(name, getattr(thing, name)) for name in slots])
        self.take(getattr(thing, "__dict__", {}))
        return True
