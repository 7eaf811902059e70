"""The page of references, out of CITATIONS.bib."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from docs.building.words import OWN

ROOT = Path(__file__).parents[2]


def entries(text: str) -> dict[str, tuple[str, dict[str, str]]]:
    """Key → (kind, fields) of BibTeX written as one field a line."""
    found = {}
    for kind, key, body in re.findall(r"^@(\w+)\{(\w+),\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        found[key] = kind, dict(re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", body, re.MULTILINE))
    return found


def references() -> str:
    """The page: every source with a target that texts link to."""
    known = entries((ROOT / "CITATIONS.bib").read_text("utf-8"))
    parts = [
        "(references)=\n\n# References\n\nWhat the equations, the algorithms and the shipped numbers rest on."
    ]
    for key, (_, fields) in sorted(known.items(), key=lambda item: item[0].lower()):
        parts.append(f"(source-{key.lower()})=\n\n**{key}**  \n{_in_words(fields)}")
    return "\n\n".join(parts) + "\n"


def _in_words(fields: Mapping[str, str]) -> str:
    names = [_turned(name) for name in fields.get("author", "").split(" and ") if name]
    where = [
        fields[k] for k in ("journal", "booktitle", "publisher", "howpublished") if k in fields
    ]
    numbers = [fields[k] for k in ("volume", "pages", "year") if k in fields]
    text = f"{_clean(', '.join(names))}: *{_clean(fields['title'])}*."
    text += f" {_clean(', '.join([*where, *numbers]))}."
    if "doi" in fields:
        text += f" [doi:{_clean(fields['doi'])}](https://doi.org/{fields['doi']})"
    elif "url" in fields:
        text += f" <{fields['url']}>"
    return text


def _turned(name: str) -> str:
    family, _, given = name.partition(", ")
    return f"{given} {family}".strip()


def _clean(text: str) -> str:
    bare = re.sub(r"[{}]", "", text).replace("--", "–").replace("\\&", "&")
    return OWN.sub(r"\\\1", bare)
