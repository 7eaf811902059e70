"""Pages of the Python interface: every public name of `fluidproof`, with its signature and docstring."""

from __future__ import annotations

import importlib
import inspect
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.building import catalogue
from docs.building.words import docstring, markdown

DOCS = Path(__file__).parents[1]
TITLES = {
    "workbench": ("Loops, runs, verdicts", "What is run, how it is run, what is asked of it."),
    "plants": ("Plants", "Machines and what they are made of."),
    "controllers": ("Controllers", "Laws, and how their gains are found."),
    "reports": ("Reports", "The PDF."),
    "claims": (
        "fp.claims",
        "What may be asked of a loop. Each has [a page](#all-claims) with its keys.",
    ),
    "planning": ("fp.planning", "Motions of least energy or least time of a redundant crane."),
    "identification": ("fp.identification", "Models from recorded data."),
    "sweep": ("fp.sweep", "Many cases, one table."),
    "circuits": ("fp.circuits", "Quasistatic valve circuits: forces as sets, velocities, flows."),
    "multibody": ("fp.multibody", "Mechanisms of one's own."),
    "tuning": ("fp.tuning", "Gains of a law."),
    "metrics": ("fp.metrics", "Numbers read off a run."),
}


def pages() -> Iterator[tuple[str, str]]:
    """(name, Markdown) of a page for every part of the facade, and of the one that lists them."""
    import fluidproof

    yield "api/index", _first()
    for package in fluidproof.PACKAGES:
        yield f"api/{package}", _page(package, "fluidproof", importlib.import_module(package))
    for name, home in fluidproof.MODULES.items():
        yield f"api/{name}", _page(name, f"fluidproof.{name}", importlib.import_module(home))


def _first() -> str:
    lines = [f"- [{title}]({name}.md): {words}" for name, (title, words) in TITLES.items()]
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *TITLES, "```"])
    head = "(all-api)=\n\n# Python interface\n\n`import fluidproof as fp` finds every public name; numbers are SI."
    return "\n\n".join([head, "\n".join(lines), toctree]) + "\n"


def _page(name: str, prefix: str, module: types.ModuleType) -> str:
    title, words = TITLES[name]
    beside = DOCS / "parts" / "api" / f"{name}.md"
    parts = [f"(api-{name})=\n\n# {title}", words]
    if beside.exists():
        parts.append(f"```{{include}} ../../parts/api/{name}.md\n```")
    parts += [
        entry(f"{prefix}.{own}", getattr(module, own))
        for own in sorted(module.__all__, key=str.lower)
    ]
    return "\n\n".join(parts) + "\n"


def entry(name: str, thing: Any) -> str:
    """A name with its signature, docstring and members."""
    if inspect.isclass(thing):
        body = [markdown(docstring(thing)), _seen(thing), *_members(thing)]
        return _directive("class", f"{name}{signature(thing)}", body, 5)
    if callable(thing):
        return _directive("function", f"{name}{signature(thing)}", [markdown(docstring(thing))], 5)
    return _directive("data", name, [], 5)


def _directive(kind: str, head: str, body: list[str], colons: int) -> str:
    bars = ":" * colons
    text = "\n\n".join(part for part in body if part)
    return f"{bars}{{py:{kind}}} {head}\n\n{text}\n{bars}"


def _seen(cls: type) -> str:
    label = catalogue.labels().get(cls)
    return f"Its keys with units and defaults: [{cls.__name__}](#{label})." if label else ""


def _members(cls: type) -> Iterator[str]:
    """Public methods and properties that the class defines itself, those with words."""
    for name, member in vars(cls).items():
        thing = getattr(member, "func", None) or getattr(member, "fget", None) or member
        thing = getattr(thing, "__func__", thing)
        if name.startswith("_") or not isinstance(thing, types.FunctionType) or not thing.__doc__:
            continue
        text = [markdown(docstring(thing))]
        if isinstance(member, (types.FunctionType, classmethod, staticmethod)):
            yield _directive("method", f"{name}{signature(thing)}", text, 4)
        else:
            yield _directive("property", name, text, 4)


def signature(thing: Any) -> str:
    """Parameters with types and defaults as Python writes them; "(…)" where nothing can be said."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    hints = _hints(thing)
    parts = [
        _parameter(p, hints) for p in found.parameters.values() if p.name not in ("self", "cls")
    ]
    _mark(parts, [p for p in found.parameters.values() if p.name not in ("self", "cls")])
    back = hints.get("return")
    arrow = f" -> {type_words(back)}" if back is not None and not inspect.isclass(thing) else ""
    return f"({', '.join(parts)}){arrow}"


def _mark(parts: list[str], parameters: list[inspect.Parameter]) -> None:
    """Sets the star before parameters that are given by name only."""
    kinds = [p.kind for p in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")


def _hints(thing: Any) -> dict[str, Any]:
    target = thing.__init__ if inspect.isclass(thing) else thing
    try:
        return typing.get_type_hints(target)
    except (NameError, TypeError, AttributeError):
        return {}


def _parameter(parameter: inspect.Parameter, hints: dict[str, Any]) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = stars + parameter.name
    if parameter.name in hints:
        text += f": {type_words(hints[parameter.name])}"
    if parameter.default is not parameter.empty:
        text += f" = {_default(parameter.default)}"
    return text


def _default(value: Any) -> str:
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, tuple) and all(isinstance(v, (bool, int, float, str)) for v in value):
        return repr(value)
    return "..."


def type_words(hint: Any) -> str:
    """A type hint as one writes it, without packages and annotations."""
    if hint is type(None):
        return "None"
    origin = typing.get_origin(hint)
    inner = typing.get_args(hint)
    if origin is typing.Annotated:
        return type_words(inner[0])
    if origin in (typing.Union, types.UnionType):
        return " | ".join(dict.fromkeys(type_words(i) for i in inner))
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(repr, inner))}]"
    if origin is not None and inner:
        name = getattr(origin, "__name__", str(origin))
        return f"{name}[{', '.join(map(_argument, inner))}]"
    return getattr(hint, "__name__", str(hint).rsplit(".", 1)[-1])


def _argument(inner: Any) -> str:
    if inner is ...:
        return "..."
    if isinstance(inner, list):
        return f"[{', '.join(map(_argument, inner))}]"
    return type_words(inner)
