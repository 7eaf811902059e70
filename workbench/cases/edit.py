"""Some numbers and parts of a frozen object exchanged by name: {"lift.cylinder.stroke": 0.5, "all.valve.lag": "ideal"}.

A name is a dotted path such as `structures.lift.revolute.cylinder.stroke`, of which all but the last element may be
left out while it stays clear which is meant: `lift.stroke`. Parts may be called by their own name (`extension.stroke`),
Greek letters spelled out, shorthands used (`lift.valve.nominal`). `all.` in front means every part that fits.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Annotated, Any

from workbench.cases import shape
from workbench.cases.build import build
from workbench.cases.node import Node
from workbench.cases.provenance import Provenance
from workbench.cases.shorthand import Shorthand
from workbench.contract.capabilities import Named
from workbench.contract.errors import InputError, in_words
from workbench.contract.parameters import Unit, field_infos, label

SHOWN = 12  # names that a refusal tells of a part


@dataclass(frozen=True)
class Place:
    """Something that can be exchanged: its path, the other words for each element, its type hint, its owner."""

    path: tuple[str, ...]
    words: tuple[frozenset[str], ...]
    declared: Any
    owner: Any
    shorthand: Shorthand | None = None

    @property
    def text(self) -> str:
        return ".".join(self.path)

    @property
    def names(self) -> set[str]:
        """The name of the innermost part on the path that has one."""
        return next((set(w) for w in reversed(self.words[:-1]) if len(w) > 1), set())


def places(obj: Any, path: tuple = (), words: tuple = ()) -> Iterator[Place]:
    """Everything below `obj` that `edited` can exchange."""
    if isinstance(obj, tuple):
        for i, item in enumerate(obj):
            if is_dataclass(item):
                name = label(item, i)
                yield from places(item, (*path, name), (*words, frozenset({plain(name), f"[{i}]"})))
        return
    infos = field_infos(type(obj))
    for key, entry in shape.entries(type(obj)).items():
        if key == "name" and path:
            continue  # a part's name is its address
        at = (*path, key)
        said = (*words, frozenset({plain(key)}))
        yield Place(at, said, entry.declared, obj, entry.shorthand)
        value = None if entry.shorthand else getattr(obj, key)
        if is_dataclass(value) and infos[key] is None:
            own = value.name if isinstance(value, Named) else None
            yield from places(
                value, at, (*words, said[-1] | {plain(own)}) if isinstance(own, str) else said
            )
        elif isinstance(value, tuple) and infos[key] is None:
            yield from places(value, at, said)
        elif isinstance(value, tuple):
            info = infos[key]
            one = Annotated[float, Unit(info.unit), info.meaning, info.bound]
            for i in range(len(value)):
                yield Place((*at, str(i)), (*said, frozenset({str(i)})), one, obj)


def plain(word: str) -> str:
    """A word in the form in which words are compared: Greek letters spelled out, one spelling of each letter."""
    return shape.spelled(unicodedata.normalize("NFKC", word)).strip("_")


def find(obj: Any, written: str, node: Node, key: str) -> list[Place]:
    """The places a written name means; InputError with the nearest ones when there is none, or too many."""
    everywhere = written.startswith("all.")
    wanted = [plain(w) for w in written.removeprefix("all.").split(".")]
    known = list(places(obj))
    exact = [p for p in known if [plain(e) for e in p.path] == wanted]
    found = exact or [p for p in known if _meant(wanted, p.words)]
    if not everywhere and len(found) > 1:
        found = [p for p in found if wanted[0] in p.names] or found
    if not found:
        raise node.error(
            f"there is nothing called {written[:80]!r} to change",
            key=key,
            mend=_mend(written, wanted, known),
        )
    if len(found) > 1 and not everywhere:
        shown = ", ".join(p.text for p in found[:3]) + (" …" if len(found) > 3 else "")
        raise node.error(
            f"{written!r} can be {len(found)} things: {shown}",
            key=key,
            mend=f"write more of the path, or 'all.{written}' to change all of them",
        )
    return found


def _mend(written: str, wanted: list[str], known: list[Place]) -> str:
    """How to mend a name that fits nothing: with what the part that it names has, else with what is written alike."""
    part, _, last = written.rpartition(".")
    inside = wanted[:-1]
    below = [p for p in known if inside and _in_order(inside, p.words[:-1])]
    ends = {p.path[-1].lower(): p.path[-1] for p in below}
    alike = difflib.get_close_matches(last.lower(), ends, 2)
    if alike:
        return _meaning(f"{part}.{ends[end]}" for end in alike)
    beside = [p.path[-1] for p in below if _meant(inside, p.words[:-1])]
    if beside:
        few = list(dict.fromkeys(beside))
        more = " …" if len(few) > SHOWN else ""
        return f"{part[:80]} has {', '.join(few[:SHOWN])}{more}"
    near = _alike(written, known)
    return _meaning(near) if near else "write the path as in the machine's own file"


def _meaning(names: Iterable[str]) -> str:
    return f"did you mean {' or '.join(names)}?"


def _alike(written: str, known: list[Place]) -> list[str]:
    """Paths that are written alike; else those that end in the same word, or in one like it."""
    texts = {p.text.lower(): p.text for p in known}
    alike = difflib.get_close_matches(written.lower(), texts, 3, 0.5)
    if alike:
        return [texts[text] for text in alike]
    last = written.split(".")[-1].lower()
    same = [p.text for p in known if p.path[-1].lower() == last]
    if same:
        return same[:3]
    ends = {p.path[-1].lower(): p.text for p in known}
    return [ends[end] for end in difflib.get_close_matches(last, ends, 2)]


def _meant(wanted: list[str], words: tuple[frozenset[str], ...]) -> bool:
    """Whether the wanted words occur in this order, the last one last."""
    return wanted[-1] in words[-1] and _in_order(wanted[:-1], words[:-1])


def _in_order(wanted: list[str], words: tuple[frozenset[str], ...]) -> bool:
    """Whether the wanted words occur in this order."""
    left = iter(words)
    return all(any(w in each for each in left) for w in wanted)


def changed(obj: Any, changes: Mapping[str, Any]) -> Any:
    """A copy of a machine or law `obj` with numbers and parts exchanged by name, checked as in a file.

    changes: name, as the module says → number in SI, quantity as text, or part as a mapping:
        fp.changed(crane, {"all.valve.lag": "ideal", "payload.mass": "50 kg", "lift.friction": {"law": "LuGre"}})

    Raises InputError for names that fit nothing, and for values the object refuses.
    """
    nodes = {name: _node(value) for name, value in changes.items()}
    new, _ = edited(obj, nodes, lambda name: name)
    return new


def exchanged(obj: Any, numbers: Mapping[str, float]) -> Any:
    """`obj` with numbers exchanged by their whole path (`parameters.leaves`), every part of it checked again.

    Raises InputError with the path of a number that its part refuses.
    """
    edits = {
        tuple(path.split(".")): (value, Node(value, 0), path) for path, value in numbers.items()
    }
    return _rebuilt(obj, edits)


def _node(value: Any) -> Node:
    if isinstance(value, Mapping):
        return Node({k: _node(v) for k, v in value.items()}, 0)
    return Node([_node(v) for v in value] if isinstance(value, (list, tuple)) else value, 0)


def edited(
    obj: Any, changes: Mapping[str, Node], key: Callable[[str], str]
) -> tuple[Any, dict[str, Provenance]]:
    """`obj` with the changes made, all at once, and where the new numbers come from (path → Provenance).

    key: name of a change → where it stands in the file. Raises InputError at the line of the change that is at fault.
    """
    edits: dict[tuple, tuple[Any, Node, str]] = {}
    origins: dict[str, Provenance] = {}
    for written, node, at in _where_held(obj, changes, key):
        for place in find(obj, written, node, at):
            told: dict[str, Provenance] = {}
            value = build(place.declared, node, at, told)
            origin = next(iter(told.values()), Provenance("", node.file, at, node.line))
            for path, new in _assigned(place, value):
                if any(path[: len(other)] == other[: len(path)] for other in edits):
                    raise node.error(
                        f"{'.'.join(path)} is changed twice", key=at, mend="keep one of them"
                    )
                edits[path] = new, node, at
                origins[".".join(path)] = origin
    return _rebuilt(obj, edits), origins


def _where_held(
    obj: Any, changes: Mapping[str, Node], key: Callable[[str], str]
) -> Iterator[tuple[str, Node, str]]:
    """(name, value, key in the file) of every change, at the path where the object holds what a file writes elsewhere.

    A table of such numbers, `pins: {foot: [0, 1.2]}`, is as many changes as it has entries.
    """
    held = shape.held_at(obj)
    tables = {plain(path.rpartition(".")[0]) for path in held}
    for written, node in changes.items():
        table = isinstance(node.value, dict) and plain(written) in tables
        entries = node.value if table else {"": node}
        for name, inner in entries.items():
            whole = f"{written}.{name}" if table else written
            at = f"{key(written)}.{name}" if table else key(written)
            paths = next((p for path, p in held.items() if plain(path) == plain(whole)), ())
            if table and not paths:
                known = [path for path in held if plain(path).startswith(f"{plain(written)}.")]
                mend = f"choose from {', '.join(known)}"
                raise inner.error(f"there is no {whole} to change", key=at, mend=mend)
            yield from ((path, inner, at) for path in paths or (whole,))


def _assigned(place: Place, value: Any) -> Iterator[tuple[tuple, Any]]:
    """(path, value) of the fields a place stands for."""
    if place.shorthand is None:
        yield place.path, value
        return
    others = {f.name: getattr(place.owner, f.name) for f in fields(place.owner)}
    for name, new in place.shorthand.expand(value, others).items():
        yield (*place.path[:-1], name), new


def _rebuilt(obj: Any, edits: Mapping[tuple, tuple[Any, Node, str]]) -> Any:
    if not edits:
        return obj
    if () in edits:
        return edits[()][0]
    groups: dict[str, dict] = {}
    for (first, *rest), edit in edits.items():
        groups.setdefault(first, {})[tuple(rest)] = edit
    if isinstance(obj, tuple):
        return tuple(_rebuilt(item, groups.get(label(item, i), {})) for i, item in enumerate(obj))
    new = {name: _rebuilt(getattr(obj, name), inner) for name, inner in groups.items()}
    blamed = {name: next(iter(inner.values()))[1:] for name, inner in groups.items()}
    try:
        return replace(obj, **new)
    except (ValueError, ArithmeticError) as why:
        named = re.match(r"\w+", str(why))
        node, key = blamed.get(named[0] if named else "", next(iter(blamed.values())))
        raise placed(why, node, key) from None


def placed(why: Exception, node: Node, key: str) -> InputError:
    """A refusal that has no line yet, "field: message" or not, at `node` or at the key of that name below it."""
    message, mend = (why.message, why.mend) if isinstance(why, InputError) else (in_words(why), "")
    if isinstance(why, InputError) and why.line:
        return why
    match = re.match(r"([\w.\-]+): +(.*)", message, re.DOTALL)
    steps = match[1].split(".") if match else []
    if steps and steps[0] == key.rsplit(".", 1)[-1]:
        steps = steps[1:]
        message = match[2]
    for step in steps:
        inside = node.value if isinstance(node.value, dict) else {}
        near = next((k for k in inside if plain(k) == plain(step)), None)
        if near is None:
            break
        node = inside[near]
        key = f"{key}.{near}"
        message = match[2]
    # a file that is named here.
    if isinstance(why, InputError) and why.file and why.file != node.file:
        message = f"{why.file}: {message}"
    return InputError(
        message,
        file=node.file or None,
        line=node.line,
        key=key,
        mend=mend or "change this value or the one it is compared with",
    )


@contextmanager
def located(node: Node, key: str):
    """Refusals inside the block get the place of `node`, or of the key below it that they begin with."""
    try:
        yield
    except (ValueError, ArithmeticError) as why:
        raise placed(why, node, key) from None
