"""The chapter of requirements: rows of sentences and clauses, and the figure of what is left of each over time."""

from io import BytesIO

import numpy as np
import pytest

from reports import Content, rendered
from reports.chapters.requirements import limit_rows, sentence_rows
from reports.figures.requirements import MOST, requirements
from reports.style import RED, drawing
from workbench.verification.observed.requirement_claims import drawn
from workbench.verification.temporal.sentence import read
from workbench.verification.verdict import Verdict

T = np.linspace(0.0, 10.0, 1001)
COLUMNS = {"e": 4e-3 * np.sin(T), "p": 1e7 + 0 * T}
TABLE = {"e": "m", "p": "Pa"}


def entry(text, name="reach"):
    sentence = read(text, TABLE)
    return drawn(T, sentence.on(T, COLUMNS), name, sentence.line)


def test_the_figure_marks_where_the_answer_was_read():
    """sin t is largest at π/2: 1 mm is left of 5 mm there, 1 mm is missing to 3 mm."""
    for allowed, left in ((5, 1.0), (3, -1.0)):
        with drawing():
            fig = requirements([entry(f"always[0 s, 4 s] (e < {allowed} mm)")])
            (dot,) = [line for line in fig.axes[0].get_lines() if len(line.get_xdata()) == 1]
            assert dot.get_xdata()[0] == pytest.approx(np.pi / 2, abs=0.006)
            assert dot.get_ydata()[0] == pytest.approx(left, abs=1e-4)
            assert fig.axes[0].get_ylabel() == "mm" and (dot.get_color() == RED) == (left < 0)


def test_the_curve_is_that_of_what_decides_with_its_sign():
    found = entry("always[0 s, 4 s] not (e >= 5 mm)")
    np.testing.assert_allclose(found["curve"], 5e-3 - COLUMNS["e"], rtol=1e-12)


def test_nothing_to_draw_is_no_figure_and_too_much_is_cut():
    with drawing():
        assert requirements([]) is None
        assert requirements([entry("always[20 s, end] (e < 5 mm)")]) is None
        assert len(requirements([entry("always (e < 5 mm)")] * 9).axes) == MOST


def test_rows_tell_every_clause_in_its_own_unit():
    rows = sentence_rows(entry("always (e < 5 mm and p < 200 bar)"))
    assert [row[1] for row in rows[1:]] == ["always (e < 5 mm)", "always (p < 200 bar)"]
    assert rows[0][2] == "holds" and rows[0][3] == "0.2" and "at t = " in rows[0][4]
    assert [row[3] for row in rows[1:]] == ["1 mm", "100 bar"]
    assert sentence_rows(entry("always (e < 3 mm)"))[0][2] == "violated"
    assert sentence_rows(entry("always[0 s, 20 s] (e < 5 mm)"))[0][2:4] == ["undecided", "–"]


def test_limits_of_the_machine_are_sentences():
    """A row a limit, from the verdict alone."""
    limits = [
        {
            "name": "stroke",
            "sentence": "always (x <= 1 m)",
            "broken": False,
            "margin": 0.2,
            "unit": "m",
        },
        {
            "name": "spool",
            "sentence": "always (`at spool` <= 1 %)",
            "broken": True,
            "margin": 0.0,
            "unit": "m",
        },
    ]
    verdict = Verdict("machine-limits", "kept", False, "sampled", data={"limits": limits})
    rows = limit_rows(verdict)
    assert [row[2] for row in rows] == ["holds", "violated"] and rows[0][3] == "0.2 m"
    assert rows[1][1] == "always (`at spool` <= 1 %)"
    assert limit_rows(Verdict("tracking", "kept", True, "sampled")) == []


def test_the_chapter_is_printed():
    pypdf = pytest.importorskip("pypdf")
    analysis = {"requirements": {"requirements.reach": entry("always (e < 5 mm and p < 200 bar)")}}
    pdf = rendered(Content("A case", "Does it?", analysis=analysis))
    text = "\n".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(pdf)).pages)
    assert "Requirements in time" in text and "always (p < 200 bar)" in text
    plain = rendered(Content("A case", "Does it?"))
    assert "Requirements in time" not in "\n".join(
        page.extract_text() for page in pypdf.PdfReader(BytesIO(plain)).pages
    )
