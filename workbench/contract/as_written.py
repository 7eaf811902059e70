"""Whether the library's code in this process is that of its files, and a digest of those files.

A file kept on disk for a system, such as an expression graph, is valid for the code that it was traced from. In a running
interpreter the code may differ from the files, where a method was replaced or a constant changed. Then nothing is written to disk,
and nothing is read from there. For every traced module that is loaded, the code of all functions and classes, and all constants
written as a number or a text, are compared with what Python compiles from the file.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from abc import ABCMeta
from collections import Counter, namedtuple
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from itertools import pairwise
from opcode import opmap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol

from workbench.contract.once import once
from workbench.contract.own_text import OWN, TRACED, home, own, own_version
from workbench.contract.reach import LIBRARIES

PACKAGES = ("workbench", "plants", "controllers")
TRACING = (  # modules beside the traced ones whose text goes into a graph
    "workbench.contract.annotations",
    "workbench.contract.capabilities",
    "workbench.contract.described",
    "workbench.contract.parameters",
    "workbench.interop.linear_plant",
    "workbench.numerics.adaptive",
    "workbench.numerics.tangents",
    "workbench.run.steps",
    "workbench.run.targets",
    "workbench.verification.ledger.balance",
    "workbench.verification.ledger.rates",
    "workbench.verification.scales",
)
GENERATED = "<string>"  # the file that functions have which `dataclass` writes
LOAD = opmap["LOAD_CONST"]
STORE = opmap["STORE_NAME"]
EXTENDED = opmap["EXTENDED_ARG"]
CHANGES = (STORE, opmap["DELETE_NAME"], opmap["STORE_GLOBAL"])
NAMED_TUPLE = "namedtuple_"  # begins the module that the maker of a named tuple has
# What stands for a default in the class of a named tuple.
FIELD = type(vars(namedtuple("_", "a"))["a"])
REMEMBERING = type(cache(len))  # what `functools.cache` makes of a function
SHARED = once(len).__code__  # of every function that is marked `once`
# Kinds of classes that leave their attributes as they are written.
PLAIN = (
    type,
    ABCMeta,
    type(Protocol),
)

_files: dict[tuple, str] = {}
_checked: dict[str, bool] = {}


def text_digest(*systems: object) -> str | None:
    """Digest of the text that systems are made of; None where it is not this library's, or not as its files have it."""
    kinds = {kind for system in systems for kind in classes(system)}
    if not all(own(kind) and _as_named(kind) for kind in kinds):
        return None
    if own_version() != 0:  # something was replaced since the first look
        return None
    loaded = [(n, m) for n, m in tuple(sys.modules.items()) if n.startswith((*TRACED, *TRACING))]
    return files_digest() if all(_is_as_written(n, m) for n, m in loaded) else None


def classes(obj: object) -> Iterator[type]:
    """The classes of every part of a system."""
    if is_dataclass(obj) and not isinstance(obj, type):
        yield type(obj)
        for field in fields(obj):
            yield from classes(getattr(obj, field.name))
    elif isinstance(obj, tuple):
        for item in obj:
            yield from classes(item)
    elif not isinstance(obj, (type(None), bool, int, float, complex, str, bytes)):
        yield type(obj)


def _as_named(kind: type) -> bool:
    """Whether a class is what its module has under its name."""
    held: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        held = getattr(held, part, None)
    return held is kind


def files_digest() -> str:
    """Digest of every file of the packages; they are read again where one has changed."""
    roots = [Path(path) for name in PACKAGES for path in importlib.import_module(name).__path__]
    found = sorted(path for root in roots for path in root.rglob("*.py"))
    stats = [path.stat() for path in found]
    state = tuple((path, s.st_mtime_ns, s.st_size) for path, s in zip(found, stats))
    if state not in _files:
        whole = hashlib.sha256()
        for path in found:
            whole.update(hashlib.sha256(path.read_bytes()).digest())
        _files[state] = whole.hexdigest()
    return _files[state]


# ---- modules -----------------------------------------------------------------------------------------------------------
def _is_as_written(name: str, module: ModuleType) -> bool:
    """Whether a module holds what its file says. Traced ones are looked at once: what changes later is another `own_version`."""
    if not name.startswith(TRACED):
        return as_written(module)
    if name not in _checked:
        _checked[name] = as_written(module)
    return _checked[name]


def as_written(module: ModuleType) -> bool:
    """Whether functions, classes and plain constants of a module are those of its file."""
    code = _compiled(module)
    if code is None:
        return False
    written = set(_nested(code))
    bodies = {one.co_qualname: one for one in written}
    values = vars(module)
    kinds = [v for v in values.values() if type(v) in PLAIN and v.__module__ == module.__name__]
    spaces: list[tuple[CodeType, Mapping[str, Any]]] = [(code, values)]
    spaces += [(bodies[k.__qualname__], vars(k)) for k in kinds if k.__qualname__ in bodies]
    return all(_agree(body, space, module.__name__, written) for body, space in spaces)


def _compiled(module: ModuleType) -> CodeType | None:
    """The code of a module's file, as Python keeps it or compiles it anew; None for a module without a file."""
    find = getattr(getattr(module.__spec__, "loader", None), "get_code", None)
    return None if find is None else find(module.__name__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _agree(body: CodeType, space: Mapping[str, Any], module: str, written: set[CodeType]) -> bool:
    """Whether a namespace holds the functions and constants that its text writes down, under their names."""
    functions = {name: _function(value) for name, value in tuple(space.items())}
    known = {name: f for name, f in functions.items() if f is not None}
    if not all(_is_written(function, module, written) for function in known.values()):
        return False
    defined: dict[str, list[CodeType]] = {}
    for one in body.co_consts:
        if isinstance(one, CodeType):
            defined.setdefault(one.co_name, []).append(one)
    if not all(f.__code__ in defined.get(name, [f.__code__]) for name, f in known.items()):
        return False
    return all(_held(space, name, value) for name, value in _constants(body))


def _held(space: Mapping[str, Any], name: str, value: Any) -> bool:
    held = space.get(name)
    return type(held) is type(value) and held == value or type(held) is FIELD


def _is_written(function: FunctionType, module: str, written: set[CodeType]) -> bool:
    """Whether a function is of this text; one of another module is looked at there."""
    where = home(function)
    if where not in OWN:
        return where in LIBRARIES or where.startswith(NAMED_TUPLE)
    if function.__module__ != module or function.__name__ == "__repr__":
        return True
    return function.__code__.co_filename == GENERATED or function.__code__ in written


def _function(value: Any) -> FunctionType | None:
    """The function behind a name: itself, or inside a property, a class method, a cache, what is built once in a trace."""
    if isinstance(value, FunctionType):
        return _function(value.__closure__[0].cell_contents) if value.__code__ == SHARED else value  # type: ignore[index]
    if isinstance(value, (staticmethod, classmethod)):
        return _function(value.__func__)
    if isinstance(value, property):
        return _function(value.fget)
    if isinstance(value, cached_property):
        return _function(value.func)
    return _function(value.__wrapped__) if isinstance(value, REMEMBERING) else None


def _constants(body: CodeType) -> list[tuple[str, Any]]:
    """Names that a text sets once, to a number or a text that it writes down, with that value."""
    steps = list(_steps(body.co_code))
    times = Counter(place for operation, place in steps if operation in CHANGES)
    pairs = [
        (body.co_names[place], body.co_consts[constant])
        for (loads, constant), (stores, place) in pairwise(steps)
        if (loads, stores) == (LOAD, STORE) and times[place] == 1
    ]
    return [(name, value) for name, value in pairs if not name.startswith("__")]


def _steps(operations: bytes) -> Iterator[tuple[int, int]]:
    """(operation, its argument) of a text's code."""
    argument = 0
    for operation, low in zip(operations[::2], operations[1::2]):
        argument = argument << 8 | low
        if operation == EXTENDED:
            continue
        yield operation, argument
        argument = 0
