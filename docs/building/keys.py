"""The keys of a class in a case file, as a table: meaning, unit, range and default, from the class itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from docs.building.words import cell, table
from workbench.cases import shape
from workbench.cases.meanings import meaning
from workbench.commands.explain import behind, default

HEADS = ["key", "what it is", "unit, range", "default"]


def keys_table(cls: type, pages: Mapping[type, str]) -> str:
    """Rows of every key. pages: label of the page of each class that has one."""
    return table(HEADS, [_row(cls, key, pages) for key in shape.entries(cls)])


def _row(cls: type, key: str, pages: Mapping[type, str]) -> list[str]:
    entry = shape.entries(cls)[key]
    below = [_linked(inner, pages) for inner in behind(entry.declared)]
    words = cell(meaning(cls, key) or "")
    if below:
        words += f": {', '.join(below)}" if words else ", ".join(below)
    return [f"`{key}`", words, _unit(entry), _default(entry)]


def _linked(cls: type, pages: Mapping[type, str]) -> str:
    name = shape.called(cls)
    return f"[{name}](#{pages[cls]})" if cls in pages else f"`{name}`"


def _unit(entry: shape.Entry) -> str:
    wanted = shape.hint(entry.declared)
    chosen = [str(c) for option in wanted.options for c in shape.choices(option) or ()]
    if chosen:
        return ", ".join(f"`{c}`" for c in chosen)
    if wanted.info is None:
        return ""
    unit = "" if wanted.info.unit in ("", "1") else cell(wanted.info.unit)
    words = shape.bound_words(wanted.info.bound)
    return ", ".join(part for part in (unit, cell(words)) if part)


def _default(entry: shape.Entry) -> str:
    if entry.required:
        return "required"
    shown = default(entry)
    return cell(shown) if shown == "nothing" or " " in shown and "{" not in shown else f"`{shown}`"


def reachable(roots: Iterable[type]) -> list[type]:
    """Every class that may stand below these, themselves first, each once."""
    found = dict.fromkeys(roots)
    waiting = list(found)
    while waiting:
        cls = waiting.pop(0)
        for entry in shape.entries(cls).values():
            for inner in behind(entry.declared):
                if inner not in found:
                    found[inner] = None
                    waiting.append(inner)
    return list(found)
