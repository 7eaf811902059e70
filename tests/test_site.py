"""The documentation site: every class that a file may name has a page, every link leads somewhere."""

import html.parser
import importlib.util
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest

from docs.building import catalogue, jobs, pictures, words
from docs.building.answers import answer
from docs.building.equations import mathml
from docs.building.pages import page
from workbench import __version__, load

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BY_HAND = sorted(
    path for path in DOCS.rglob("*.md") if not {"_build", "reference"} & set(path.parts)
)
FAMILIES = {family.folder: family for family in catalogue.FAMILIES}


def targets(text):
    """Labels that a page of Markdown sets."""
    return set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


def anchors(text):
    """Anchors of a page's headings."""
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.quick
def test_links_by_label_lead_to_a_page():
    everywhere = {t for path in BY_HAND for t in targets(path.read_text("utf-8"))}
    known = catalogue.every_label() | everywhere
    for path in BY_HAND:
        text = path.read_text("utf-8")
        for label in re.findall(r"\]\(#([^)]+)\)", text):
            assert label in known | anchors(text), f"{path.relative_to(ROOT)}: #{label}"


RUN = [(folder, name) for folder in ("drives", "supplies") for name in FAMILIES[folder].members()]
RUN.remove(("drives", "SpringDamper"))  # nothing commands it


@pytest.mark.parametrize("folder, name", RUN)
def test_every_drive_and_supply_has_an_example(folder, name):
    case = load(pictures.example(folder, name))
    kinds = {type(actuator.drive).__name__ for actuator in case.plant.actuators}
    assert name in kinds | {type(case.plant.supply).__name__}


def test_hand_written_parts_belong_to_a_page():
    for path in (DOCS / "parts").rglob("*.*"):
        folder = path.parent.name
        known = {"index", *(FAMILIES[folder].members() if folder in FAMILIES else ())}
        assert folder == "api" or path.stem in known, path


@pytest.mark.parametrize("folder", FAMILIES)
def test_a_page_says_what_its_class_says(folder):
    family = FAMILIES[folder]
    for name, cls in family.members().items():
        text = page(family, name, cls)
        assert text.startswith(f"({catalogue.label(folder, name)})=")
        assert all(
            f"| `{key}` |" in text for key in catalogue.shape.entries(cls) if folder != "laws"
        )
        said = words.first_paragraph(cls).split(". ")[0]
        assert said.startswith("See the module") or words.plain(said)[:40] in text, name


def test_a_machines_numbers_have_a_row_for_each_vector():
    """Components of one vector stand together, all other numbers alone; no number but those of zero vectors is lost."""
    from docs.building.machines import _numbers
    from plants import machine
    from workbench.contract.parameters import leaves

    found = machine("excavator")
    rows = {path.strip("`"): value for path, value, *_ in _numbers(found)}
    assert rows["bodies.boom.point"] == "0.55 m, 0.55 m, 0 m"
    assert rows["bodies.boom.mass"] == "95 kg" and "bodies.boom.point.0" not in rows
    lost = {leaf.path for leaf in leaves(found.plant) if leaf.path not in rows and leaf.value}
    assert all(path.rpartition(".")[0] in rows for path in lost)


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {__version__}\n" in text and "\nlicense: BSD-3-Clause\n" in text


def test_markdown_means_itself():
    text = words.markdown(
        "Sum a*b*c of x_1 < 2 as in [Merritt67].\n\n    y = x²\n\nK    gain\n     of it"
    )
    assert "a\\*b\\*c of x\\_1 \\< 2" in text and "[Merritt67](#source-merritt67)" in text
    assert "```{equations}\ny = x²\n```" in text and "| `K` | gain of it |" in text


@pytest.mark.parametrize(
    "line, left, rest",
    [
        ("ṗ_a = β Q/V     (7)", "ṗ_a", "= β Q/V     (7)"),
        ("F*_r = Σ_{k<N} (J_sᵀ f_pr)²", "F*_r", "= Σ_{k<N} (J_sᵀ f_pr)²"),
        ("v ≤ √(2 v (H⁻¹)_ii)", "v", "≤ √(2 v (H⁻¹)_ii)"),
        ("g(v, h) = exp(−|v/v_s|^n)", "g(v, h)", "= exp(−|v/v_s|^n)"),
    ],
)
def test_equations_are_set_with_every_character(line, left, rest):
    """Cells hold what the line says, in its order: marks, indices and powers are set, nothing is lost."""
    math = ElementTree.fromstring(mathml(line))
    first, second = math.iter("mtd")
    assert [said(first), said(second)] == [bare(left), bare(rest)]


def bare(text):
    """Characters of an equation without those that its typesetting replaces."""
    text = unicodedata.normalize("NFD", text).translate(str.maketrans("ᵀ⁻¹²", "T−12"))
    return re.sub(r"[_^{}√() ]", "", text)


def said(cell):
    """Characters of a cell of MathML, marks behind their letter."""

    def walk(node):
        parts = [walk(child) for child in node]
        if node.tag == "mover":
            return parts[0] + {".": "\u0307"}[parts[1]]
        return "".join([node.text or "", *parts])

    return re.sub(r"[() ]", "", walk(cell))


def test_indices_powers_and_roots_are_elements():
    """`x_1²` is one base with both; a root covers its bracket, no more."""
    assert "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>" in mathml("y = x_1²")
    assert "<msqrt><mrow><mn>2</mn>" in mathml("y = √(2 x) z")
    root = next(ElementTree.fromstring(mathml("y = √(2 x) z")).iter("msqrt"))
    assert said(root) == "2x"
    root = next(ElementTree.fromstring(mathml("y = x/√max(a, b_1) c")).iter("msqrt"))
    assert said(root) == "maxa,b1"
    assert mathml("what is no equation stays text") is None


class Links(html.parser.HTMLParser):
    """What a page links to, and the names that it can be linked by."""

    def __init__(self):
        super().__init__()
        self.links, self.names = [], set()

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        self.names |= {known[key] for key in ("id", "name") if known.get(key)}
        self.links += [known[key] for key in ("href", "src") if known.get(key)]


def parsed(path):
    """Links and names of a built page."""
    found = Links()
    found.feed(path.read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("Sphinx is not installed: pip install '.[docs]'")
    into = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", str(into)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return into


@pytest.mark.long
def test_every_link_inside_the_site_works(site):
    pages = {path: parsed(path) for path in site.rglob("*.html")}
    assert len(pages) > 100
    for path, linked in pages.items():
        for link in linked.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.relative_to(site)}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].names, (
                    f"{path.relative_to(site)}: {link}"
                )


@pytest.mark.long
def test_it_is_searched_without_a_network(site):
    index = (site / "searchindex.js").read_text("utf-8")
    assert "practical" in index and "falsify" in index
    for path in site.rglob("*.html"):
        for link in parsed(path).links:
            assert not re.search(r"^(https?:)?//.*\.(js|css)$", link), (path, link)


SHOWN = {
    name: list(jobs.in_text(path.read_text("utf-8")))
    for name, path in (
        (path.stem, path) for path in sorted((DOCS / "parts" / "claims").glob("*.md"))
    )
}
UNREFUSED = {  # claims that no case file can break, or that never hold: their page says why
    "power-flows",
    "incremental-passivity",
    "unique-velocity",
    "unasked",
    "sensitivity",
}

EXAMPLES = [(name, job) for name, found in SHOWN.items() for job in found]
CHEAP = ("linear-stability", "requirements", "saturation", "tracking")


def test_every_claim_has_an_example_and_one_that_is_refused():
    for name in catalogue.claims():
        words_found = [job.words[1] for job in SHOWN.get(name, ())]
        text = (DOCS / "parts" / "claims" / f"{name}.md").read_text("utf-8")
        assert "## What it cannot see" in text, name
        assert words_found if name in UNREFUSED else len(words_found) >= 2, name
        assert name in UNREFUSED or {"violated", "undecided"} & set(words_found), name


@pytest.mark.parametrize(
    "name, job",
    [
        pytest.param(*example, marks=() if example[0] in CHEAP else pytest.mark.long)
        for example in EXAMPLES
    ],
    ids=lambda value: value if isinstance(value, str) else value.words[1],
)
def test_examples_of_claims_are_answered_as_printed(name, job):
    _, _, found = answer(job.words[0], job.text, dict(job.options))
    assert found.word == job.words[1], found.worst
