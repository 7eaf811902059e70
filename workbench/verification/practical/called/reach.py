"""What a law called from Python reaches: its functions, the objects that it keeps, and what these name, close over and stand on."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from itertools import islice
from types import FunctionType, MethodType, ModuleType
from typing import Any

from workbench.contract.own_text import home, own

FUNCTIONS = 60  # of a law that are looked at, at most
OBJECTS = 1000  # that a law keeps and that are looked at, at most
ENTRIES = 100_000  # of something without attributes that are looked at, at most
METHODS = ("step", "command", "__call__")
GROUPS = list | tuple | deque | set | frozenset


def attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    """Attributes of an object."""
    try:
        yield from vars(thing).items()
    except TypeError:  # it has slots only
        return


def slots_of(thing: Any) -> Iterator[tuple[str, Any]]:
    """What stands in the slots of an object."""
    for cls in type(thing).__mro__:
        listed = vars(cls).get("__slots__", ())
        for name in (listed,) if isinstance(listed, str) else listed:
            try:
                yield name, object.__getattribute__(thing, name)
            except AttributeError:  # not set, or the slot of a dictionary
                continue


def taken_apart(thing: Any) -> Iterator[Any]:
    """What an object without attributes is made of, as it is copied; nothing where it says nothing of itself."""
    try:
        parts = thing.__reduce_ex__(4)
    except Exception:  # noqa: BLE001 - whatever a thing that cannot be copied raises
        return
    if isinstance(parts, tuple):
        for part in parts[1:]:
            listed = isinstance(part, Iterator)
            yield list(islice(part, ENTRIES)) if listed else part


def is_plain(kind: type) -> bool:
    """Whether an object of this class is its attributes and slots, and nothing beside them."""
    copies = [kind.__reduce_ex__, kind.__reduce__]
    return copies == [object.__reduce_ex__, object.__reduce__]


def kept_by(function: FunctionType, path: str = "") -> Iterator[tuple[str, Any]]:
    """What a function keeps of its own: default values, attributes, what it closes over."""
    start = path or function.__qualname__
    yield f"{start} default", function.__defaults__
    yield f"{start} named default", function.__kwdefaults__
    for name, thing in vars(function).items():
        yield f"{start}.{name}", thing
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield f"{start} {name}", cell.cell_contents
        except ValueError:  # empty as yet
            continue


def named_by(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Globals that a function names, and variables of the modules among them."""
    space = function.__globals__
    asked = function.__code__.co_names
    for name in asked:
        thing = space.get(name)
        yield name, thing
        if isinstance(thing, ModuleType):
            yield from ((f"{name}.{n}", vars(thing)[n]) for n in asked if n in vars(thing))
        elif isinstance(thing, type) and not own(thing):
            yield from of_class(thing)


def reached(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Globals that a function names and what it closes over, with their names."""
    yield from named_by(function)
    yield from kept_by(function)


def of_class(kind: type) -> Iterator[tuple[str, Any]]:
    """Variables of a class and of those that it stands on; functions in them are none."""
    for cls in kind.__mro__:
        if cls.__module__ == "builtins" or own(cls):
            continue
        for name, thing in vars(cls).items():
            if not isinstance(thing, FunctionType) and not name.startswith("__"):
                yield f"{cls.__name__}.{name}", thing


def functions_of(law: Any) -> list[FunctionType]:
    """The functions of a law that are called at a sample: its own, those that these name, and methods of what it keeps."""
    calls = _Calls()
    calls.look(law)
    return calls.functions


class _Calls:
    """Functions of the user's, objects whose methods they may be, and every name that they call something by."""

    def __init__(self) -> None:
        self.functions: list[FunctionType] = []
        self.objects: dict[int, Any] = {}
        self.names = set(METHODS)

    def look(self, law: Any) -> None:
        """Take the law and all that it reaches."""
        waiting = deque([law])
        while waiting and len(self.functions) < FUNCTIONS and len(self.objects) < OBJECTS:
            waiting += self._behind(waiting.popleft())

    def _behind(self, thing: Any) -> list[Any]:
        """What is to be looked at because of this."""
        if isinstance(thing, MethodType):
            return [thing.__self__, thing.__func__]
        if isinstance(thing, FunctionType):
            return self._of_function(thing)
        if isinstance(thing, type | ModuleType) or id(thing) in self.objects:
            return []
        if isinstance(thing, GROUPS):
            self.objects[id(thing)] = None
            return list(thing)
        if isinstance(thing, dict):
            return list(thing.values())
        return self._of_object(thing)

    def _of_function(self, function: FunctionType) -> list[Any]:
        """Everything that it names, and methods of these names of all objects so far."""
        if function in self.functions or own(function):
            return []
        self.functions.append(function)
        new = set(function.__code__.co_names) - self.names
        self.names |= new
        found = [thing for _, thing in reached(function)]
        return found + [_method(one, name) for one in self.objects.values() for name in new]

    def _of_object(self, thing: Any) -> list[Any]:
        """What it keeps, and its methods that something calls; what a function with some arguments given is made of."""
        if callable(thing) and not is_plain(type(thing)):
            return list(taken_apart(thing))
        if own(type(thing)) or home(type(thing)) in sys.stdlib_module_names:
            return []
        self.objects[id(thing)] = thing
        kept = [part for _, part in (*attributes(thing), *slots_of(thing))]
        return kept + [_method(thing, name) for name in self.names]


def _method(thing: Any, name: str) -> Any:
    """What is called under this name of an object: a function in it, else one of its classes."""
    attribute = dict(attributes(thing)).get(name)
    if isinstance(attribute, FunctionType | MethodType):
        return attribute
    found = next((vars(cls)[name] for cls in type(thing).__mro__ if name in vars(cls)), None)
    if isinstance(found, property):
        return found.fget
    return found.__func__ if isinstance(found, staticmethod | classmethod) else found
