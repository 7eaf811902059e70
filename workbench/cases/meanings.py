"""What a key of a file means, in words: for editors, `workbench explain` and the documentation.

The class that a key belongs to says it, in the annotation of the field or in its docstring ("at: where it is linearised.");
a few keys mean the same in every class, and a key that holds a part means what the part is.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache

from workbench.cases import shape

ROOM = 160  # letters of a brief meaning
ALIKE = {
    "name": "name in signals and paths",
    "counted": "counts for the exit code",
    "signals": "names of signals, p for every p_…; none named: all of them",
    "seed": "seed of the random draws",
    "space": "joint, piston or cartesian: where the path is given",
    "oil": "the oil between valve and piston",
    "friction": "friction law, by name or with numbers",
    "valve": "the valve that feeds it",
    "cylinder": "the cylinder",
    "section": "cylinder, oil and four valves",
    "regeneration": "the valve that leads oil of the rod's side to the other one",
    "change": "numbers that differ, by their path: payload.mass: 50 kg; all. stands for every part",
    "model": "what the law believes: changes to the plant, or another one",
    "method": "which of the methods",
    "at": "where it is linearised: states and inputs by name; what is not named is as at the start",
    "over": "what may vary, and how",
    "uniform": "drawn evenly between these two values",
    "log_uniform": "drawn between these two values, evenly in its logarithm",
    "normal": "drawn normally, with this mean and this standard deviation",
    "body": "the body that it belongs to, by name; the ground is a body, too",
    "supply": "what feeds the drives; without one every drive has a constant pressure of its own",
    "drive": "what acts: a cylinder with its valve, a metered section, an electro-hydraulic actuator, a force",
    "arms": "the arms, each a mass on a cylinder or motor behind its valves",
    "points": "points of the path, from rest to rest; start is where the machine begins",
    "branch": "on which side of the line between its pins the four-bar is assembled",
    "tracked": "outputs that follow references, one a command",
    "lag": "how the spool follows its command: at once, as a first-order or a second-order lag",
    "hold": "whether the assembly keeps the start of this joint exactly",
    "file": "a file beside the case file",
    "detail": "how finely the pump is described",
    "circuit": "closed circuit, or open with a tank",
    "joint": "kind of the joint",
    "derivative": "how the law knows the derivative of the velocities that it wants",
}


def meaning(cls: type, key: str) -> str:
    """Meaning of a key of a class in a file, "" where nothing says it."""
    entry = shape.entries(cls)[key]
    wanted = shape.hint(entry.declared)
    parts = _parts(wanted)
    return (
        wanted.meaning
        or _in_docstring(cls, key)
        or ALIKE.get(key, "")
        or (_first_sentence(parts[0]) if len(parts) == 1 else "")
    )


def brief(words: str) -> str:
    """The first sentence of a meaning, for where there is little room; its first part where that is long."""
    sentence = re.split(r"(?<!Fig)[.;] (?=\S)", words)[0]
    return sentence if len(sentence) <= ROOM else sentence.split(": ")[0][:ROOM]


def _parts(wanted: shape.Hint) -> list[type]:
    """Classes that may stand for a hint, alone or in a list."""
    within = [item for option in wanted.options for item in shape.items(option) or ()]
    return [*wanted.classes, *(c for item in within for c in shape.hint(item).classes)]


@cache
def _said(cls: type) -> dict[str, str]:
    """Key → what the docstring says of it: as a row "key   words", or as words behind "key: "."""
    name = "|".join(re.escape(key) for key in sorted(shape.entries(cls), key=len, reverse=True))
    said: dict[str, str] = {}
    for row, text in _rows(inspect.cleandoc(cls.__doc__ or "")) if name else ():
        before, *pieces = re.split(rf"(?:^|(?<=[.;] ))((?:{name})(?:, (?:{name}))*): ", text)
        for names, words in zip([row, *pieces[0::2]], [before, *pieces[1::2]], strict=True):
            for key in names.split(", "):
                said.setdefault(key, words.strip().rstrip(".;"))
    return said


def _rows(docstring: str) -> Iterator[tuple[str, str]]:
    """(names, words) of the docstring's rows "names   words", continued on lines that stand further in; ("", text) of the rest."""
    names, words = "", ""
    for line in docstring.splitlines():
        row = re.match(r"(\S+(?:, \S+)*) {2,}(\S.*)", line)
        if row or not line.strip() or (names and not line.startswith(" ")):
            yield names, words
            names, words = ("", line) if row is None else (row[1], row[2])
        else:
            words = f"{words} {line.strip()}".strip()
    yield names, words


def _in_docstring(cls: type, key: str) -> str:
    return _said(cls).get(key, "")


def _first_sentence(cls: type) -> str:
    """First sentence of a class's docstring; a dataclass without one has only what Python writes for it."""
    text = " ".join((cls.__doc__ or "").split("\n\n")[0].split())
    return "" if text.startswith(f"{cls.__name__}(") else brief(text).rstrip(".")
