"""The pages of docs/reference, written out of the classes: what they say of themselves, and their keys.

docs/parts/FAMILY/NAME.md is set between the words and the keys of a page where there is such a file.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from docs.building import api, catalogue, gallery, machines
from docs.building.bibliography import references
from docs.building.catalogue import FAMILIES, Family
from docs.building.keys import keys_table
from docs.building.words import docstring, first_paragraph, markdown, plain, table
from docs.building.wrapped import wrapped
from workbench.cases import shape

DOCS = Path(__file__).parents[1]
INTO = "reference"
ABOUT = {
    "says_stable": "Where it holds, “Is the loop stable?” may be answered with Yes.",
    "needs_ledger": "It is asked of laws that state an accompanying function (VDC).",
    "needs_motion": "A run that stands still says nothing; such a run is disturbed first.",
    "at_steps": "It is judged at the integrator's own steps, between samples, too.",
    "scans": "It makes many runs of its own.",
    "searched": "It asks something of one run; [falsify](#claims-falsify) searches for runs that violate it.",
}


def write(into: Path) -> list[Path]:
    """Write every page below `into`, only where its text is another one; pages of what is no more are removed."""
    written = []
    for name, text in pages():
        path = into / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
        written.append(path)
    for path in set(into.rglob("*.md")) - set(written):
        path.unlink()
    return written


def pages() -> Iterator[tuple[str, str]]:
    """(name below docs/reference, Markdown) of every page."""
    for family in FAMILIES:
        yield family.folder + "/index", _first(family)
        for name, cls in family.members().items():
            yield f"{family.folder}/{name}", page(family, name, cls)
    yield from machines.pages()
    yield from gallery.pages()
    yield from api.pages()
    yield from wrapped()
    yield "references", references()


def _first(family: Family) -> str:
    """The page that lists a family, with what its members have in common."""
    members = family.members()
    rows = [
        [f"[{name}](#{catalogue.label(family.folder, name)})", plain(first_paragraph(cls))]
        for name, cls in members.items()
    ]
    beside = DOCS / "parts" / family.folder / "index.md"
    text = [
        f"(all-{family.folder})=\n\n# {family.title}",
        family.words,
        _beside(beside),
        table([family.one, "what it is"], rows),
        _toctree(members),
    ]
    return "\n\n".join(part for part in text if part) + "\n"


def _toctree(names) -> str:
    return "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])


def _beside(path: Path) -> str:
    """Includes what is written by hand, as if it stood in its own folder."""
    if not path.exists():
        return ""
    return f"```{{include}} ../../parts/{path.parent.name}/{path.name}\n```"


def page(family: Family, name: str, cls: type) -> str:
    """A class's page."""
    written = catalogue.in_files(cls) if family.folder == "laws" else cls
    parts = [
        f"({catalogue.label(family.folder, name)})=\n\n# {name}",
        *words(cls, written),
        *_about(family, name, cls),
        _picture(family, name),
        _beside(DOCS / "parts" / family.folder / f"{name}.md"),
        "## Keys",
        keys_table(written, catalogue.labels()) or "None.",
        _python(cls),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def words(cls: type, written: type) -> list[str]:
    """What the class says, its module where that says more, and the bases and modules that it refers to."""
    own = docstring(cls)
    module = inspect.getmodule(cls)
    above = docstring(module) if _is_about(module, own) else ""
    own = own.replace("See the module. ", "").removeprefix("See the module.").strip()
    keys = set(shape.entries(written))
    shared = [_shared(*found, keys) for found in _referred(cls, f"{above} {own}")]
    return [markdown(above, keys), markdown(own, keys), *shared]


def _shared(name: str, text: str, keys) -> str:
    return f"## In `{name}`\n\n{markdown(text, keys)}"


def _referred(cls: type, text: str) -> Iterator[tuple[str, str]]:
    """(name, docstring) of the bases and modules of plants that a text names, where they have equations."""
    named = set(re.findall(r"`([\w.]+)`", text))
    for base in cls.__mro__[1:]:
        if base.__name__ in named and "{equations}" in markdown(docstring(base)):
            yield base.__name__, docstring(base)
    for name in sorted(n for n in named if re.fullmatch(r"(plants|controllers)(\.\w+)+", n)):
        if (Path(DOCS.parent, *name.split(".")).with_suffix(".py")).exists():
            found = docstring(importlib.import_module(name))
            if "{equations}" in markdown(found) and name != cls.__module__:
                yield name, found


def _is_about(module, own: str) -> bool:
    """Whether a module's docstring is about this class: it refers to it, or the module defines this class alone."""
    return "module" in own.split("\n\n")[0] or f"`{module.__name__}`" in own


def _about(family: Family, name: str, cls: type) -> list[str]:
    """What only the family's members have."""
    if family.folder != "claims":
        return []
    facts = [f"- {words}" for key, words in ABOUT.items() if getattr(cls, key)]
    counted = shape.entries(cls)["counted"].default if "counted" in shape.entries(cls) else True
    facts.append(
        "- It counts for the exit code."
        if counted
        else "- It is information: it does not count for the exit code unless a file says `counted: true`."
    )
    return ["\n".join(facts), *_checked(cls)]


def _checked(cls: type) -> list[str]:
    """The docstring of the function that checks a claim."""
    module, function = cls.check.rsplit(".", 1)
    found = importlib.import_module(f"workbench.verification.{module}")
    text = markdown(docstring(getattr(found, function)))
    return ["## How it is checked", text, f"In `workbench.verification.{cls.check}`."]


def _picture(family: Family, name: str) -> str:
    """The picture of a page, drawn by `docs.building.pictures`, and the example that it is drawn of, where there is one."""
    from docs.building import pictures

    if not pictures.drawable(family.folder, name):
        return ""
    drawn = f"```{{drawn}} {family.folder} {name}\n:alt: {pictures.words(family.folder)}\n```"
    example = pictures.example(family.folder, name)
    if not example.exists():
        return drawn
    shown = f"```{{literalinclude}} ../../parts/{family.folder}/{name}.yaml\n:language: yaml\n```"
    return "\n\n".join(["## An example, open loop", shown, drawn])


def _python(cls: type) -> str:
    return f"In Python: `{cls.__module__}.{cls.__name__}`."
