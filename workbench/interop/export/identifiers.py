"""Names of signals and numbers as identifiers of C: λ_x of a piston is lambda_x, every one told apart."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

RESERVED = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register restrict "
    "return short signed sizeof static struct switch typedef union unsigned void volatile while real".split()
)


def identifier(name: str) -> str:
    """A name as C takes it: Greek letters as words, all else that is no letter or digit as _."""
    from workbench.cases.shape import spelled

    plain = unicodedata.normalize("NFKD", spelled(unicodedata.normalize("NFKC", name)))
    word = re.sub(r"\W+", "_", plain.encode("ascii", "ignore").decode()).strip("_") or "x"
    return f"_{word}" if word[0].isdigit() or word in RESERVED else word


def identifiers(names: Sequence[str]) -> list[str]:
    """Identifiers of these names, in order; where two would differ by case alone, or not at all, the later one gets a number."""
    taken: set[str] = set()
    found = []
    for name in names:
        word = stem = identifier(name)
        count = 2
        while word.lower() in taken:
            word = f"{stem}_{count}"
            count += 1
        taken.add(word.lower())
        found.append(word)
    return found
