"""The chapter of a search: which directions matter, the figures of its runs and of the closest one, the table of requirements."""

from io import BytesIO

import numpy as np
import pytest
from test_falsify import LATE, LIMIT, SCENARIO, lag

from reports import Content, rendered
from reports.chapters.falsify import direction_rows, page_rows, requirement_row
from reports.figures.falsify import beside, scatter
from reports.style import BLUE, RED, drawing
from workbench import simulate
from workbench.verification.judge import examine
from workbench.verification.search.claim import Falsify
from workbench.verification.search.pictures import importance


def searched(over, budget=32):
    """The examination of a lag, x = 0.2 e^(−kt), whose x has to be below LIMIT from 1 s on."""
    claims = (LATE, Falsify(over=over, budget=budget))
    return examine(lag(), SCENARIO, claims).analysis["falsify"]


@pytest.fixture(scope="module")
def violating():
    return searched({"k": (0.2, 5.0), "b": (0.1, 0.9), "offset.x": (-0.01, 0.01)})


@pytest.fixture(scope="module")
def sound():
    return searched({"k": (1.0, 5.0)}, 16)


def test_importance_of_a_known_function():
    """s = 3 z₀ + z₁²: over an even spread the deviations of the parts are 3/√3 and 2/√45; z₂ does nothing."""
    z = np.random.default_rng(3).uniform(-1, 1, (4000, 3))
    scores = 3 * z[:, 0] + z[:, 1] ** 2
    scores[::7] = np.nan
    found = importance(z, scores)
    assert found[:2] == pytest.approx([3 / np.sqrt(3), 2 / np.sqrt(45)], rel=0.03)
    assert found[2] < 0.01
    assert not importance(z[:5], np.full(5, np.nan)).any()


def test_what_matters_comes_first(violating):
    """The rate, not the length that nothing depends on; of that the fit through 32 runs leaves a small rest."""
    rate, nothing, start = violating["matter"]
    assert rate > start and nothing < 0.05 * rate


def test_runs_are_drawn_where_they_were(violating):
    """One point a run over the two directions that matter, at its values; a cross on each that violates."""
    with drawing():
        ax = scatter(violating).axes[0]
        assert ax.get_xlabel() == "k, 1/s" and ax.get_ylabel() == "offset.x, mm"
        points = ax.collections[-1].get_offsets()
        np.testing.assert_allclose(points[:, 0], violating["values"][:, 0])
        np.testing.assert_allclose(points[:, 1], 1e3 * violating["values"][:, 2])
        crosses = [line for line in ax.get_lines() if line.get_marker() == "x"]
        assert len(crosses[0].get_xdata()) == np.sum(violating["scores"] < 0) > 0
        (nominal,) = [line for line in ax.get_lines() if line.get_marker() == "+"]
        assert (*nominal.get_xdata(), *nominal.get_ydata()) == (2.0, 0.0)


def test_one_direction_is_drawn_against_the_room(sound):
    with drawing():
        ax = scatter(sound).axes[0]
        assert ax.get_ylabel() == "share of the room left"
        (ring,) = [line for line in ax.get_lines() if line.get_marker() == "o"]
        room = (LIMIT - 0.2 * np.exp(-1.0)) / (LIMIT - 0.2 * np.exp(-2.0))
        assert ring.get_xdata()[0] == pytest.approx(1.0, abs=1e-6)
        assert ring.get_ydata()[0] == pytest.approx(room, rel=1e-3)
        assert ring.get_markeredgecolor() == BLUE


def test_the_closest_run_is_drawn_beside_the_nominal_one(violating):
    """What decides: 0.1 m − x(t), of both, in closed form."""
    with drawing():
        fig = beside(violating)
        nominal, closest, edge = fig.axes[0].get_lines()
    k = violating["closest"]["values"][0]
    for line, rate in ((nominal, 2.0), (closest, k)):
        t = line.get_xdata()
        room = 1e3 * (LIMIT - 0.2 * np.exp(-rate * t))
        np.testing.assert_allclose(line.get_ydata(), room, atol=0.05)
    assert closest.get_color() == RED and edge.get_ydata()[0] == 0.0


def test_nothing_is_drawn_where_no_run_could_be_made(sound):
    empty = {**sound, "scores": np.full(len(sound["scores"]), np.nan)}
    assert scatter(empty) is None and scatter({}) is None
    assert beside({**sound, "closest": {**sound["closest"], "curves": []}}) is None


def test_rows(violating, sound):
    rows = direction_rows(violating)
    assert rows[0][:3] == ["k", "0.2 1/s … 5 1/s", "2 1/s"] and rows[1][3] == "as nominal"
    assert rows[2][1] == "± 10 mm" and rows[0][4].startswith("9")
    (row,) = [requirement_row(r, sound) for r in sound["requirements"]]
    assert row[1] == "72.9 mm" and row[2] == "36.2\u00a0%" and row[3] == "k = 1 1/s"
    assert page_rows(sound)["violated"] is False and page_rows(violating)["violated"] is True
    assert page_rows(sound)["refused"] == 0 and page_rows(sound)["runs"] == "16"


def test_the_chapter_is_printed(violating, sound):
    pypdf = pytest.importorskip("pypdf")
    log = simulate(lag(), SCENARIO)
    for found, words in ((violating, "violates at"), (sound, "closest at")):
        pdf = rendered(Content("A case", "Does it?", log=log, analysis={"falsify": found}))
        text = "\n".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(pdf)).pages)
        assert "Search for a counter-example" in text and words in text
        assert text.count("else [") == 0
    plain = rendered(Content("A case", "Does it?", log=log))
    assert "counter-example" not in "\n".join(
        page.extract_text() for page in pypdf.PdfReader(BytesIO(plain)).pages
    )
