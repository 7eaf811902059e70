"""The page on requirements: its case runs as printed, its words are those of the language, its errors are those it shows."""

import re
from pathlib import Path

import pytest

from workbench import InputError, verify
from workbench.cases.file import loads
from workbench.verification.claims import Requirement
from workbench.verification.temporal.parser import parse
from workbench.verification.temporal.sentence import read
from workbench.verification.temporal.signals import table_before
from workbench.verification.temporal.tokens import FUNCTIONS, KEYWORDS

PAGE = (Path(__file__).parents[1] / "docs" / "requirements.md").read_text("utf-8")
(CASE,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
(PYTHON,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
(ERRORS,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def case():
    return loads(CASE, "requirements.yaml")


@pytest.mark.quick
def test_the_case_holds_as_printed(case):
    asked = [c for c in case.claims if isinstance(c, Requirement)]
    verdicts = {v.key: v for v in verify(case.loop, case.scenario, asked)}
    assert verdicts["requirements.follow"].holds and verdicts["requirements.travel"].holds
    quiet = verdicts["requirements.quiet"]
    assert quiet.holds is False and not quiet.counted


def test_the_python_runs_as_printed(case):
    known = {"loop": case.loop, "scenario": case.scenario}
    exec(PYTHON, known)  # the page's own text
    assert known["verdict"].holds


def test_every_error_is_the_one_that_is_shown(case):
    table = table_before(case.loop, case.scenario)
    rows = [re.split(r" {3,}", line) for line in ERRORS.strip().splitlines()]
    assert len(rows) >= 6
    for sentence, words in rows:
        with pytest.raises(InputError) as caught:
            read(sentence, table)
        assert words in str(caught.value), sentence


def test_every_word_of_the_language_is_on_the_page():
    table = PAGE.split("## The language")[1].split("## What is asked")[0]
    assert set(KEYWORDS) | set(FUNCTIONS) <= set(re.findall(r"\w+", table))


def test_sentences_of_the_page_are_sentences():
    """Every piece of code that begins with a word of the language, letters standing for formulas."""
    found = 0
    for piece in re.findall(r"`([^`\n]+)`", PAGE):
        if (
            re.match(r"(always|eventually|historically|once|not|a) ?\[?", piece)
            and "…" not in piece
            and " " in piece
        ):
            parse(re.sub(r"\b([ab])\b(?![(\w])", r"(\1 < 1)", piece))
            found += 1
    assert found >= 10
