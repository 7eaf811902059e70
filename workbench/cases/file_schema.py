"""JSON schema of a whole case file, put together from the classes that read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import or_
from typing import Any

from workbench.cases import form
from workbench.cases.controller import ALIKE
from workbench.cases.schema import Names, json_schema, shared


def case_schema(plants: Any, laws: Mapping[str, type], claims: Any) -> dict:
    """Schema of a case file with these plants (a hint), control laws and claims (a union)."""
    defs = {}
    known = Names()

    def part(declared) -> dict:
        body = json_schema(declared, names=known)
        defs.update(body.pop("$defs"))
        body.pop("$schema")
        return body

    forms = {cls: form.law_form(cls, tuple(cls.units_on().items())) for cls in laws.values()}
    names = {
        name: several(part(cls)) if cls.section else {"anyOf": [{"type": "boolean"}, part(cls)]}
        for name, cls in form.claim_names(claims).items()
    }
    sections = {
        "title": {"type": "string"},
        "sources": {"type": "object", "additionalProperties": {"type": "string"}},
        "plant": {"anyOf": [{"type": "string"}, part(form.Shipped), part(plants)]},
        "controller": {
            "anyOf": [{"enum": list(laws)}, part(reduce(or_, forms.values(), form.Compiled))]
        },
        "loop": part(form.Loop),
        "scenario": part(form.Run),
        "claims": {"type": "object", "properties": names, "additionalProperties": False},
    }
    _add_models(forms.values(), defs, part, plants)
    _add_tunings(laws.values(), defs, part)
    shared(defs)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Fluidproof case",
        "type": "object",
        "required": ["plant"],
        "additionalProperties": False,
        "properties": {
            key: {"description": form.SECTIONS[key], **body} for key, body in sections.items()
        },
        "$defs": defs,
    }


def _add_models(forms, defs: dict, part: Callable, plants: Any) -> None:
    """What a law may believe, and other words for its keys."""
    another = [
        {"type": "string"},
        part(form.Shipped),
        part(plants),
        part(form.Model),
        {"type": "null"},
    ]
    for law in forms:
        if "model" in (keys := defs[law.__name__]["properties"]):
            keys["model"] = {
                "description": "what the law believes: changes to the plant, or another one",
                "anyOf": another,
            }
        keys |= {old: keys[new] for old, new in ALIKE.items() if new in keys}


def _add_tunings(laws, defs: dict, part: Callable) -> None:
    """How the gains of a law may be found."""
    for cls in (cls for cls in laws if cls.tunings()):
        methods = cls.tunings()
        ways = part(reduce(or_, methods.values()))
        for method, way in methods.items():
            defs[way.__name__]["properties"]["method"] = {
                "description": "how the gains are found",
                "const": method,
            }
        defs[cls.__name__]["properties"]["tuning"] = {
            "description": "how the gains are found, instead of given",
            "anyOf": [{"enum": list(methods)}, ways, {"type": "null"}],
        }


def several(one: dict) -> dict:
    """Schema of claims by name, or in a list, each a sentence or all that it has."""
    each = {"anyOf": [{"type": "string"}, one]}
    return {
        "anyOf": [
            {"const": False},
            {"type": "string"},
            {"type": "array", "items": each, "minItems": 1},
            {"type": "object", "additionalProperties": each, "minProperties": 1},
        ]
    }
