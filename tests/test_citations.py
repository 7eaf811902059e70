"""Every source cited as [Key] is in CITATIONS.bib, and everything there is cited."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CITED = re.compile(r"\[([A-Z][A-Za-z]+\d{2}[a-z]?)(?=[],;])")
PLACES = ("workbench", "plants", "controllers", "reports", "examples", "notebooks", "benchmarks")
KINDS = (".py", ".md", ".typ", ".yaml", ".ipynb")


def entries(text):
    """Key → (kind, fields) of BibTeX written as one field a line."""
    found = {}
    for kind, key, body in re.findall(r"^@(\w+)\{(\w+),\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        assert key not in found, f"{key} is there twice"
        found[key] = kind, dict(re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", body, re.MULTILINE))
    return found


def cited():
    """Key → files that cite it."""
    files = [f for place in PLACES for f in (ROOT / place).rglob("*")]
    found = {}
    for file in [*(f for f in files if f.suffix in KINDS), *ROOT.glob("*.md")]:
        for key in CITED.findall(file.read_text(encoding="utf-8")):
            found.setdefault(key, set()).add(file.relative_to(ROOT).as_posix())
    return found


BIB = entries((ROOT / "CITATIONS.bib").read_text(encoding="utf-8"))


def test_every_key_cited_has_an_entry():
    missing = {key: sorted(files) for key, files in cited().items() if key not in BIB}
    assert not missing, f"cited but not in CITATIONS.bib: {missing}"


def test_every_entry_is_cited():
    assert not set(BIB) - set(cited())


@pytest.mark.parametrize("key", sorted(BIB))
def test_entries_are_complete(key):
    kind, fields = BIB[key]
    needed = {
        "article": {"author", "title", "journal", "volume", "pages", "year"},
        "book": {"author", "title", "publisher", "year"},
    }.get(kind, {"author", "title", "year"})
    assert needed <= set(fields)
    assert fields["year"][2:] == re.search(r"\d{2}", key)[0]
    assert "doi" not in fields or re.fullmatch(r"10\.\d{4,}/\S+", fields["doi"])


def test_a_citation_without_entry_and_an_entry_without_citation_would_be_found():
    assert CITED.findall("as in [Nobody99] eq. (3), [Merritt67, chapter 4], [1], [Figure 2]") == [
        "Nobody99",
        "Merritt67",
    ]
    assert entries("@book{Nobody99,\n  author = {N. {B.} Ody},\n}\n") == {
        "Nobody99": ("book", {"author": "N. {B.} Ody"})
    }
