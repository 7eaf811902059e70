"""JSON Schema (draft 2020-12) of what `build` accepts, so that editors complete and check files as they are typed.

Editors look up descriptions (meaning, unit, range), choices and defaults here; units of texts like "80 mm" are checked
by the program only. Each dataclass is one definition under $defs.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
from typing import Any
from urllib.parse import quote

from workbench.cases import shape
from workbench.cases.meanings import brief, meaning
from workbench.cases.node import Node
from workbench.contract.parameters import Bound, Info, nonnegative, positive

_QUANTITY = {
    "type": "string",
    "pattern": r"^\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?(?![0-9.])",
    "description": "a number and its unit, like 80 mm, 185 bar, 40 l/min; without a unit it is SI",
}
_TAG = {
    "enum": [*shape.TAGS, "", None],
    "description": "; ".join(f"{tag}: {meaning}" for tag, meaning in shape.TAGS.items()),
}
_TEXT = {"type": ["string", "null"]}
_TAGGED = {
    "type": "object",
    "required": ["value"],
    "additionalProperties": False,
    "properties": {"value": {}, "tag": _TAG, "source": _TEXT, "note": _TEXT},
}
_IN_SOURCE = re.compile(
    r"(; |^)([Ss]ee the module|[Ee]quations( and methods)? in (the module's docstring|`[\w.]+`))[.;]?\s*"
)
_SHORT = {positive.words: "> 0", nonnegative.words: "≥ 0"}
# A definition whose `name` may be left out, since the key that it stands at says it.
_NAMED = " (named)"
_REFERENCE = len('{"$ref":"#/$defs/k99"}')
_SELECTOR = f"^({'|'.join(shape.SELECTORS)})$"


@dataclasses.dataclass
class Names:
    """The names under $defs that are taken: of classes, and of values that many keys share (by their schema)."""

    classes: dict[type, str] = dataclasses.field(default_factory=dict)
    values: dict[str, str] = dataclasses.field(default_factory=dict)


def json_schema(declared: Any, title: str = "", names: Names | None = None) -> dict:
    """Schema of a file that holds one `declared` (a dataclass or any hint `build` understands).

    names: what is called how under $defs, filled in; the same one for several schemas lets their $defs be put together.
    """
    names = names or Names()
    writer = _Writer(
        {"quantity": _QUANTITY, "tagged": _TAGGED},
        names.classes,
        names.values,
    )
    body = writer.value(declared)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | (
        {"title": title} if title else {}
    )
    return {**head, **body, "$defs": writer.defs}


def written(schema: dict) -> str:
    """The schema as JSON, a line for each of its sections and definitions."""

    def line(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def block(members: dict) -> str:
        return "{\n" + ",\n".join(f"{line(k)}:{line(v)}" for k, v in members.items()) + "\n}"

    parts = (
        f"{line(key)}:{block(value) if key in ('properties', '$defs') else line(value)}"
        for key, value in schema.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}"


def shared(defs: dict[str, dict]) -> None:
    """Keys of several classes that say the same are written once, under $defs, where that is shorter."""
    met: dict[str, list[tuple[dict, str]]] = {}
    for definition in defs.values():
        properties = definition.get("properties", {})
        for key, value in properties.items():
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            met.setdefault(text, []).append((properties, key))
    names = (f"k{number}" for number in itertools.count(1))
    for text, places in met.items():
        bytes_saved = len(text.encode()) * (len(places) - 1) - _REFERENCE * (len(places) + 1)
        if bytes_saved > 0:
            name = next(names)
            defs[name] = json.loads(text)
            for properties, key in places:
                properties[key] = _to(name)


@dataclasses.dataclass
class _Writer:
    defs: dict[str, dict]
    names: dict[type, str]
    commons: dict[str, str]

    def value(self, declared: Any, outer: Info | None = None) -> dict:
        """Schema of whatever may stand for `declared`: the options, and each of them as {value: …, tag: …}."""
        wanted = shape.hint(declared, outer)
        if Node in wanted.options:
            return {}
        plain = [s for option in wanted.options for s in self.option(option, wanted)]
        if wanted.optional:
            plain.append({"type": "null"})
        if {} in plain:
            return {}
        tagged = not any(shape.table(o) for o in wanted.options) and not any(
            "value" in shape.entries(c) for c in wanted.classes
        )
        chosen = _selector(wanted)
        return self.common(plain, chosen) if tagged else {"anyOf": plain, **chosen}

    def common(self, plain: list[dict], chosen: dict) -> dict:
        """$ref to the definition of "one of these, or one of these with its tag and source", written once each."""
        text = json.dumps([plain, chosen])
        if text not in self.commons:
            self.commons[text] = f"v{len(self.commons) + 1}"
        name = self.commons[text]
        tagged = _to("tagged") | {"properties": {"value": _to(name, "anyOf", "0")}}
        self.defs[name] = {"anyOf": [{"anyOf": plain}, tagged], **chosen}
        return _to(name)

    def option(self, option: Any, wanted: shape.Hint) -> list[dict]:
        """Schemas of one option of a hint."""
        if dataclasses.is_dataclass(option):
            bare = all(not entry.required for entry in shape.entries(option).values())
            return [self.reference(option)] + ([{"const": shape.called(option)}] if bare else [])
        if option is float:
            return [{"type": "number", **_limits(wanted.info)}, {"$ref": "#/$defs/quantity"}]
        if option is int:
            return [{"type": "integer", **_limits(wanted.info)}]
        if option in (str, bool):
            return [{"type": "string" if option is str else "boolean"}]
        if (members := shape.choices(option)) is not None:
            return [{"enum": list(members)}]
        if (inner := shape.items(option)) is not None:
            return self.sequence(inner, wanted)
        if (inner := shape.table(option)) is not None:
            return [{"type": "object", "additionalProperties": self.value(inner)}]
        return [{}]

    def sequence(self, inner: tuple, wanted: shape.Hint) -> list[dict]:
        """A list, and a mapping name → member where the members have names."""
        if inner[-1] is not ...:
            entries = [self.value(item, wanted.info) for item in inner]
            return [
                {"type": "array", "prefixItems": entries, "items": False, "minItems": len(inner)}
            ]
        found = [{"type": "array", "items": self.value(inner[0], wanted.info)}]
        classes = shape.hint(inner[0]).classes
        if classes and all("name" in shape.entries(c) for c in classes):
            named = [self.reference(c, without_name=True) for c in classes]
            found.append({"type": "object", "additionalProperties": {"anyOf": named}})
        return found

    def reference(self, cls: type, without_name: bool = False) -> dict:
        """$ref to the definition of `cls`, written when first met; `without_name` where a mapping's key is its name."""
        if cls not in self.names:
            taken = {*self.names.values(), "quantity", "tagged"}
            self.names[cls] = (
                shape.called(cls)
                if shape.called(cls) not in taken
                else f"{cls.__module__}.{cls.__name__}"
            )
        name = self.names[cls]
        if name not in self.defs:
            self.defs[name] = {}  # a class may contain itself
            whole = self.definition(cls, name)
            if "name" in shape.entries(cls):
                self.defs[name + _NAMED] = whole
                required = shape.entries(cls)["name"].required
                whole = _to(name + _NAMED) | ({"required": ["name"]} if required else {})
            self.defs[name] = whole
        return _to(name + _NAMED if without_name else name)

    def definition(self, cls: type, name: str) -> dict:
        """An object with the keys of `cls` and no others; its name, if it has one, may be the key that it stands at."""
        keys = shape.entries(cls)
        stored = name + _NAMED if "name" in keys else name
        properties: dict[str, dict] = {}
        conditions = {}
        required = []
        for key, entry in keys.items():
            properties[key] = {**self.value(entry.declared), **_described(cls, entry)}
        for spelling, key in shape.spellings(cls).items():
            if spelling != key:
                properties[spelling] = _to(stored, "properties", key)
        for key, entry in keys.items():
            ways = shape.given_by(cls, key)
            for place, way in enumerate(ways[:-1]):
                others = dict.fromkeys(ways[place + 1 :], False)
                conditions.setdefault(way, {"properties": {}})["properties"] |= others
            if entry.required and key != "name":
                required.append(
                    {"anyOf": [{"required": [way]} for way in ways]}
                    if ways[1:]
                    else {"required": ways}
                )
        found = {"type": "object", "properties": properties, "additionalProperties": False}
        if not any(s in keys for s in shape.SELECTORS):
            found["patternProperties"] = {_SELECTOR: {"const": shape.called(cls)}}
        if conditions:
            found["dependentSchemas"] = conditions
        if required:
            found["allOf"] = required
        text = _told(cls)
        return ({"description": text} if text else {}) | found


def _told(cls: type) -> str:
    """The first line on a class, without what sends readers to its source: who writes a case file has none."""
    line = next(iter((cls.__doc__ or "").strip().splitlines()), "")
    if line.startswith(f"{cls.__name__}("):
        return ""
    text = _IN_SOURCE.sub(lambda found: ". " if found[0].startswith(";") else "", line).strip()
    whole = text.rpartition(". ")[0]  # a sentence that goes on in the next line is left out
    return text if text.endswith(".") or not whole else whole + "."


def _to(*path: str) -> dict:
    """$ref to a definition, or to something inside it."""
    steps = (quote(step.replace("~", "~0").replace("/", "~1")) for step in path)
    return {"$ref": "#/$defs/" + "/".join(steps)}


def _selector(wanted: shape.Hint) -> dict:
    """Completion for the key that names the class, where there is a choice."""
    if len(wanted.classes) < 2 or any(
        shape.SELECTORS[0] in shape.entries(c) for c in wanted.classes
    ):
        return {}
    names = [shape.called(cls) for cls in wanted.classes]
    return {"properties": {shape.SELECTORS[0]: {"description": "which of these", "enum": names}}}


def _limits(info: Info | None) -> dict:
    bound = info.bound if info else Bound()
    low, high = ("exclusiveMinimum", "exclusiveMaximum") if bound.strict else ("minimum", "maximum")
    return {
        key: value for key, value in ((low, bound.low), (high, bound.high)) if math.isfinite(value)
    }


def _described(cls: type, entry: shape.Entry) -> dict:
    """Description and default of a key."""
    wanted = shape.hint(entry.declared)
    unit = wanted.info.unit if wanted.info else ""
    words = shape.bound_words(wanted.info.bound) if wanted.info else ""
    words = next((short for long, short in _SHORT.items() if words.startswith(long)), words)
    given = f"instead of {', '.join(entry.shorthand.gives)}" if entry.shorthand else ""
    text = ", ".join(
        part
        for part in (
            brief(meaning(cls, entry.key)),
            "" if unit in ("", "1") else f"in {unit}",
            words,
            given,
        )
        if part
    )
    simple = not entry.required and not entry.shorthand and _plain(entry.default)
    default = list(entry.default) if isinstance(entry.default, tuple) else entry.default
    return ({"description": text} if text else {}) | ({"default": default} if simple else {})


def _plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(isinstance(v, int | float | str) for v in value)
    return isinstance(value, str | bool | int) or isinstance(value, float) and math.isfinite(value)
