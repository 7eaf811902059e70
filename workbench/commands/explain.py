"""`workbench explain plant.actuators.lift.drive.valve`: what a key of a case file means.

The words are looked up in the classes that case files are read by, level by level. Levels may be left out
(`valve.dead_band`), and words that are no keys are taken as names of parts (`lift`). A key that several classes have is
explained once for each meaning.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench.cases import form, shape
from workbench.cases.meanings import brief, meaning
from workbench.commands.starter import written
from workbench.contract.errors import InputError
from workbench.contract.units import example

# Levels below a section: a machine, its actuators, their drives, those's cylinders, valves ….
DEEPEST = 8

ENDINGS = ("yaml", "yml")  # of case files
NEXT = "to go on: workbench explain plant, workbench explain controller.VDC, workbench explain cylinder.bore"


@dataclass(frozen=True)
class Key:
    """A key of a class in a case file; trail: the classes and keys above it, from the section on."""

    owner: type
    name: str
    trail: tuple[str, ...]

    @property
    def entry(self) -> shape.Entry:
        """What the class declares of it."""
        return shape.entries(self.owner)[self.name]

    @property
    def below(self) -> tuple[type, ...]:
        """The classes that may stand at it, alone, in a list or by name."""
        return behind(self.entry.declared)


def behind(declared: object) -> tuple[type, ...]:
    """The dataclasses that may stand for a hint, alone, in a list or as values of a mapping."""
    wanted = shape.hint(declared)
    found = list(wanted.classes)
    for option in wanted.options:
        inner = shape.items(option) or ((shape.table(option),) if shape.table(option) else ())
        for item in inner:
            if item is not ...:
                found += behind(item)
    return tuple(dict.fromkeys(found))


def sections(
    plants: object, laws: Mapping[str, type], claims: object
) -> dict[str, dict[str, type]]:
    """Section → the classes that it may hold, by the names that files call them."""

    def called(classes: Iterable[type]) -> dict[str, type]:
        return {shape.called(cls): cls for cls in classes}

    laws_in_files = [form.law_form(cls, tuple(cls.units_on().items())) for cls in laws.values()]
    return {
        "plant": called([form.Shipped, *behind(plants)]),
        "controller": called([*laws_in_files, form.Compiled]),
        "loop": called([form.Loop]),
        "scenario": called([form.Run]),
        "claims": dict(form.claim_names(claims)),
    }


def find(words: list[str], known: Mapping[str, Mapping[str, type]]) -> list[Key | type]:
    """The keys and classes that the words lead to: a section's classes, and parts such as a drive, by their names.

    Raises InputError where the last word is neither, with the nearest ones.
    """
    *way, last = words
    section = way.pop(0) if way and way[0] in known else ""
    parts = {section: known[section]} if section else known
    roots = (
        known[section] if section else {k: v for part in known.values() for k, v in part.items()}
    )
    start = [((part,), cls) for part, classes in parts.items() for cls in classes.values()]
    whole = everything = list(_below(start))
    for word in way:
        everything = _narrowed(everything, word, roots)
    named = [cls for name, cls in roots.items() if name == last and not way]
    named = named or list(dict.fromkeys(_called(last, whole)))
    keys = [key for key in everything if last in _ways(key)]
    if not (named or keys):
        raise _unknown(last, words, everything, roots)
    return [*named, *_nearest(keys)]


def _called(name: str, keys: Iterable[Key]) -> Iterator[type]:
    """The classes of that name that may stand at one of the keys: a drive, a supply, a friction law."""
    return (cls for key in keys for cls in key.below if shape.called(cls) == name)


def _below(level: list[tuple[tuple[str, ...], type]]) -> Iterator[Key]:
    """Every key below some classes, those above first; a class that contains itself is entered once."""
    entered: set[tuple[type, tuple[str, ...]]] = set()
    for _ in range(DEEPEST):
        following = []
        for trail, cls in level:
            here = (*trail, shape.called(cls))
            if trail.count(shape.called(cls)) or (cls, trail) in entered:
                continue
            entered.add((cls, trail))
            for name in shape.entries(cls):
                key = Key(cls, name, here)
                yield key
                following += [((*here, name), inner) for inner in key.below]
        level = following


def _narrowed(keys: list[Key], word: str, roots: Mapping[str, type]) -> list[Key]:
    """The keys below the one (or the class, or the claim) that the word names; all of them, where it is the name of a part."""
    spelled = {word, shape.spelled(word)}
    claim = roots.get(word)
    within = [
        key
        for key in keys
        if spelled & {spelling for step in key.trail for spelling in (step, shape.spelled(step))}
        or (claim is not None and shape.called(claim) in key.trail)
    ]
    return within or keys


def _ways(key: Key) -> tuple[str, ...]:
    return key.name, shape.spelled(key.name)


def _nearest(keys: list[Key]) -> list[Key]:
    """Once for each owner, where it lies highest; those above first."""
    highest: dict[type, Key] = {}
    for key in sorted(keys, key=lambda key: len(key.trail)):
        highest.setdefault(key.owner, key)
    return list(highest.values())


def _unknown(last: str, words: list[str], keys: list[Key], roots: Mapping[str, type]) -> InputError:
    parts = [shape.called(cls) for key in keys for cls in key.below]
    known = list(dict.fromkeys([*roots, *(way for key in keys for way in _ways(key)), *parts]))
    near = difflib.get_close_matches(last, known, 3)
    if last in ENDINGS:
        return InputError(
            f"{'.'.join(words)} is called as a case file is, and explain takes a key",
            mend="write the key, such as controller.VDC.λ; verify-stability reads the file",
        )
    return InputError(
        f"there is no key {last!r}" + (f" in {'.'.join(words[:-1])}" if words[1:] else ""),
        key=".".join(words),
        mend=f"did you mean {' or '.join(near)}?"
        if near
        else f"begin with a section: {', '.join(form.SECTIONS)}",
    )


def told(path: str | None, known: Mapping[str, Mapping[str, type]]) -> str:
    """What `workbench explain PATH` prints; without a path, the sections of a case file.

    Raises InputError for a path that is empty or leads nowhere.
    """
    if path is None:
        listed = [f"{section}: {words}" for section, words in form.SECTIONS.items()]
        return "\n".join(["a case file has the sections", *(f"  {line}" for line in listed), NEXT])
    words = [word for word in path.split(".") if word]
    if not words:
        raise InputError("the path is empty", mend="name a key, like controller.λ")
    if len(words) == 1 and words[0] in form.SECTIONS:
        return section_in_words(words[0], known.get(words[0], {}))
    return in_words(find(words, known))


# ---- in words -----------------------------------------------------------------------------------------------------
def in_words(found: Iterable[Key | type]) -> str:
    """Keys and classes, each explained over several lines; those that mean the same stand over one explanation."""
    heads: dict[str, list[str]] = {}
    for one in found:
        if isinstance(one, type):
            heads.setdefault(_class_in_words(one), [])
        else:
            heads.setdefault(_key_in_words(one), []).append(
                f"{one.name}   ({' · '.join(one.trail)})"
            )
    return "\n\n".join("\n".join([*lines, text]) for text, lines in heads.items())


def section_in_words(section: str, holds: Mapping[str, type]) -> str:
    """A section of a case file, and what it may hold."""
    head = f"{section}: {form.SECTIONS[section]}"
    if len(holds) == 1:
        return "\n".join([head, "", *map(_class_in_words, holds.values())])
    return f"{head}\n  holds: {', '.join(holds) or 'text'}"


def _key_in_words(key: Key) -> str:
    wanted = shape.hint(key.entry.declared)
    said = meaning(key.owner, key.name)
    lines = [f"  {said}."]
    if wanted.info:
        range_words = shape.bound_words(wanted.info.bound)
        unit = "no unit" if wanted.info.unit in ("", "1") else f"in {wanted.info.unit}"
        lines.append(f"  {unit}" + (f", {range_words}" if range_words else ""))
    chosen = [choice for option in wanted.options for choice in shape.choices(option) or ()]
    if chosen:
        lines.append(f"  one of: {', '.join(map(str, chosen))}")
    if key.below:
        lines.append(f"  holds: {', '.join(map(shape.called, key.below))}")
    lines.append(f"  default: {default(key.entry, said)}")
    if value := sample(key.entry):
        lines.append(f"  example: {key.name}: {value}")
    if len(key.below) == 1:
        lines += ["", _class_in_words(key.below[0])]
    return "\n".join(lines)


def _class_in_words(cls: type) -> str:
    """A class with a line for each of its keys."""
    head = brief(" ".join((cls.__doc__ or "").split("\n\n")[0].split()))
    entries = shape.entries(cls)
    room = max((len(key) for key in entries), default=0)
    lines = []
    for key, entry in entries.items():
        said = meaning(cls, key)
        words = f"{brief(said)}{_in_unit(entry)}; default: {default(entry, said)}"
        lines.append(f"  {key:<{room}}  {words}")
    return "\n".join([f"{shape.called(cls)}: {head}", *lines])


def _in_unit(entry: shape.Entry) -> str:
    info = shape.hint(entry.declared).info
    return "" if info is None or info.unit in ("", "1") else f", {info.unit}"


def default(entry: shape.Entry, said: str = "") -> str:
    """What holds where the key is left out, as one would write it, or as its meaning says: "…; left out: this"."""
    if entry.required:
        return "none, it is required"
    if entry.shorthand:
        return f"none; it stands for {', '.join(entry.shorthand.gives)}"
    value = entry.default
    if value is None or value in ((), {}, ""):
        _, _, without = said.partition("left out: ")
        return without or "nothing"
    if isinstance(value, (bool, int, float, str, tuple)):
        return _as_written(value, shape.hint(entry.declared)) if _plain(value) else "see its keys"
    return shape.called(type(value))


def _as_written(value: object, wanted: shape.Hint) -> str:
    """A default with its unit; without one where the unit is that of the signal it is about."""
    if wanted.info is None and isinstance(value, float):
        return f"{value:g}"
    return written(value, wanted)


def _plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_plain, value))
    return isinstance(value, (bool, int, float, str))


def sample(entry: shape.Entry) -> str:
    """A value that may stand at the key: its default, or one in its unit; "" where none is known."""
    shown = None if entry.required or entry.shorthand else default(entry)
    wanted = shape.hint(entry.declared)
    if [shown] == [shape.called(cls) for cls in wanted.classes]:
        return (
            ""  # the name of the only part that may stand there says nothing; its keys are listed
        )
    if shown not in (None, "nothing", "see its keys"):
        return str(shown)
    for option in wanted.options:
        if chosen := shape.choices(option):
            return str(chosen[0])
    if wanted.info is not None:
        value = example(wanted.info.unit)
        many = any(shape.items(option) for option in wanted.options)
        return f"[{value}, {value}]" if many else value
    if wanted.classes:
        return shape.filled_in(wanted.classes[0])
    if bool in wanted.options:
        return "true"
    return ""
