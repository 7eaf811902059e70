"""Entries of the list of faults: read from the families' files, made into loops."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from workbench.cases.file import loads
from workbench.cases.yaml_input import read

FOLDER = Path(__file__).parent
FAMILIES = (
    "gains",
    "units",
    "wiring",
    "model",
    "valve",
    "timing",
    "supply",
    "friction",
    "reference",
    "short",
    "hidden",
    "log",
)
SMALL = ("linear", "user", "relay", "slide")  # builders whose loops are cheap to judge
KEYS = {
    "name",
    "base",
    "edit",
    "builder",
    "given",
    "why",
    "shown",
    "names",
    "quick",
    "kick",
    "each",
}
SETTINGS = {  # of `shown`: how a run is made and judged; any other key is what is measured
    "longer",
    "after",
    "kick",
    "held",
    "held_at",
    "disturb",
    "above",
    "below",
    "log_period",
    "start",
    "duration",
}


@dataclass(frozen=True)
class Entry:
    """One loop of the list; the package's docstring says what the fields mean."""

    name: str
    family: str
    sound: bool
    why: str
    base: str = ""
    edit: Mapping[str, Any] = field(default_factory=dict)
    builder: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    shown: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    kick: Mapping[str, float] = field(default_factory=dict)
    quick: bool = False


@dataclass(frozen=True, eq=False)
class Made:
    """The loop of an entry, ready to be judged. claims None: those that suit the loop."""

    loop: Any
    scenario: Any
    claims: tuple | None
    kick: Mapping[str, float]


@cache
def bases() -> dict[str, dict]:
    """The bases by name, as bases.yaml has them."""
    return read(FOLDER / "bases.yaml").plain()


def case_of(base: str, edit: Mapping[str, Any]) -> dict:
    """The sections of a base's case file with the edits made."""
    found = bases()[base]
    if "of" in found:
        case = case_of(found["of"], found.get("edit", {}))
    else:
        case = deepcopy(found["case"])
    for path, value in edit.items():
        _put(case, path.split("/"), value)
    return case


def _put(case: dict, steps: list[str], value: Any) -> None:
    *way, last = steps
    for step in way:
        inner = case.get(step)
        if not isinstance(
            inner, dict
        ):  # `plant: hiab-xs031` is short for `plant: {machine: hiab-xs031}`
            short = {"plant": "machine", "controller": "law"}.get(step, "")
            inner = {short: inner} if inner and short else {}
            case[step] = inner
        case = inner
    if value is None:
        case.pop(last, None)
    else:
        case[last] = deepcopy(value)


def kick_of(base: str) -> dict[str, float]:
    """What a base's states are moved by when evidence is sought: state → SI."""
    found = bases()[base]
    if "kick" in found:
        return found["kick"]
    return kick_of(found["of"]) if "of" in found else {}


@cache
def entries() -> tuple[Entry, ...]:
    """All entries, family by family."""
    found = []
    for family in FAMILIES:
        path = FOLDER / f"{family}.yaml"
        if path.exists():
            found += _family(family, read(path).plain())
    return tuple(found)


def _family(family: str, data: dict) -> Iterator[Entry]:
    for sound, section in ((False, "faults"), (True, "sound")):
        for raw in data.get(section) or ():
            if unknown := raw.keys() - KEYS:
                raise ValueError(
                    f"{family}.yaml, {raw.get('name')}: unknown keys {sorted(unknown)}"
                )
            yield from _expanded(family, sound, raw)


def _expanded(family: str, sound: bool, raw: dict) -> Iterator[Entry]:
    values = {key: value for key, value in raw.items() if key != "each"}
    for variant in raw.get("each") or _bases(raw):
        own = {key: value for key, value in variant.items() if key != "as"}
        for key in ("edit", "given"):
            if key in values and key in own:
                own[key] = values[key] | own[key]
        if "shown" in own:
            own["shown"] = _shown(values.get("shown", {}), own["shown"])
        merged = values | own
        suffix = variant.get("as", variant.get("base", ""))
        name = f"{raw['name']}@{suffix}" if suffix else raw["name"]
        names = tuple(merged.get("names", ()))
        yield Entry(
            family=family,
            sound=sound,
            **merged | {"name": name, "names": names, "quick": _quick(merged)},
        )


def _shown(common: dict, own: dict) -> dict:
    """What is shown of a variant: one measure, its own where it names one, and the settings of both."""
    if own.keys() - SETTINGS:
        common = {key: value for key, value in common.items() if key in SETTINGS}
    return common | own


def _quick(raw: dict) -> bool:
    """Whether the loop is cheap to judge: a small plant of `builders`, or a base that says so."""
    base = raw.get("base") or raw.get("given", {}).get("base", "")
    if "quick" in raw:
        return raw["quick"]
    return raw.get("builder", "") in SMALL or bool(base) and bases()[base].get("quick", False)


def _bases(raw: dict) -> list[dict]:
    base = raw.get("base", "")
    return [{"base": one} for one in base] if isinstance(base, list) else [{}]


def make(entry: Entry) -> Made:
    """The loop of an entry. Raises InputError where the case is refused when it is read."""
    if entry.builder:
        from tests.faults import builders

        loop, scenario, claims = getattr(builders, entry.builder)(**entry.given)
        return Made(loop, scenario, claims, entry.kick)
    text = json.dumps(case_of(entry.base, entry.edit), ensure_ascii=False)
    case = loads(text, f"{entry.name}.yaml")
    return Made(case.loop, case.scenario, case.claims, entry.kick or kick_of(entry.base))
