"""What notebooks show: logs, loops and verdicts as text and HTML, curves by pattern, sliders, a report in one line."""

import json
import re
import subprocess
import sys
from html import unescape

import numpy as np
import pytest

import fluidproof as fp
from reports.notebook import Explored
from workbench.verification.verdict import Verdict
from workbench.verification.verdicts import Verdicts

SHORT = fp.Scenario(2.0, fp.Sine("output", "start", (0.01,), 0.5))


@pytest.fixture(scope="module")
def loop():
    plant = fp.machine("ieha-published-linear").plant
    law = fp.PID(plant, K_p=(1.1,), K_i=(40.0,), feed="none", damping="none")
    return fp.ClosedLoop(plant, fp.Sampled(law, 1e-3))


@pytest.fixture(scope="module")
def log(loop):
    return fp.simulate(loop, SHORT)


@pytest.fixture(scope="module")
def explored(loop):
    return fp.explore(loop, {"K_p": (0.4, 1.6, 3), "K_i": (20, 60, 2)}, SHORT)


def test_a_log_is_a_line_and_a_table(log):
    assert repr(log).startswith("log of 2001 instants, 0 s … 2 s, ") and "\n" not in repr(log)
    assert log._repr_html_().count("<tr>") == 1 + len(log.names)


def test_signals_are_chosen_by_pattern(log):
    assert log.picked("v_*") == [n for n in log.names if n.startswith("v_")] and log.picked(
        "Y"
    ) == ["Y"]
    with pytest.raises(fp.InputError, match="no signal fits 'v_9'"):
        log.picked(("Y", "v_9"))


def test_a_plot_has_an_axis_a_unit_and_the_signals_themselves(log):
    figure = log.plot("Y", "X", "v_1")
    units = {log.signal(n).unit for n in ("Y", "X", "v_1")}
    assert len(figure.axes) == len(units)
    drawn = {line.get_label(): line.get_ydata() for ax in figure.axes for line in ax.lines}
    assert set(drawn) == {"Y", "X", "v_1"} and (drawn["Y"] == log.array("Y")).all()


def test_verdicts_are_a_list_that_shows_itself():
    held = Verdict("tracking", "error ≤ 5 mm", True, "sampled", 2e-3, "m", worst="at <b>t</b>")
    told = Verdict("linear", "stable", None, worst="no derivative", counted=False)
    found = Verdicts([held, told])
    assert found == [held, told] and repr(held) == "holds · sampled · error ≤ 5 mm · at <b>t</b>"
    assert repr(found).endswith(
        "1 holds, 0 violated, 0 undecided · stability was not asked · exit 0"
    )
    page = found._repr_html_()
    assert page.count("<tr") == 3 and "<b>" not in page, "what verdicts say is text, not markup"


def test_a_loop_is_a_line(loop):
    assert (
        loop.described == "ClosedLoop: IEHA, published linear model under PID, every 1 ms; 8 states"
    )


def test_exploring_runs_the_loop_at_every_combination(loop, explored):
    assert isinstance(explored, Explored) and len(explored.rows) == 6
    assert explored.stops == {"K_p": (0.4, 1.0, 1.6), "K_i": (20.0, 60.0)}
    law = fp.PID(loop.plant, K_p=(1.0,), K_i=(60.0,), feed="none", damping="none")
    alone = fp.simulate(fp.ClosedLoop(loop.plant, fp.Sampled(law, 1e-3)), SHORT)
    row, wanted = explored.data["rows"][3], alone.array("Y")[:: len(alone) // 240]
    at = [c["name"] for c in explored.data["curves"]].index("Y")
    assert np.allclose(row["curves"][at], wanted, rtol=1e-4, atol=1e-9)
    assert explored.best()["K_i"] == 60.0, "more integral action follows this sine better"


def test_the_sliders_are_a_page_of_their_own(explored):
    page = unescape(re.search(r'srcdoc="(.*?)"></iframe>', explored._repr_html_(), re.S)[1])
    data = json.loads(re.search(r"const d = (.*?);\n", page)[1])
    assert len(data["rows"]) == 6 and "http" not in page, "nothing is fetched"


def test_a_number_of_the_plant_is_a_slider_with_its_unit():
    crane = fp.machine("hiab-xs031").plant.locked(extension=0.5)
    from reports.notebook import _moved, _stops, _unit

    loop = fp.ClosedLoop(crane, fp.Sampled(fp.VDC(crane), 2e-3))
    span = ("0 kg", "80 kg", 3)
    stops = _stops("payload.mass", span, _unit(loop, "payload.mass", span), 9)
    moved = _moved(loop, {"payload.mass": stops[-1], "lambda": 9.0})
    assert stops == (0.0, 40.0, 80.0) and moved.plant.payload.mass == 80.0
    law = moved.controller.inner if hasattr(moved.controller, "inner") else moved.controller
    assert law.λ == (9.0,) and law.model.payload.mass == crane.payload.mass, (
        "the law's belief stays"
    )


@pytest.mark.parametrize(
    "sliders, said",
    [
        ({}, "0 sliders"),
        ({"K_q": (1, 2)}, "nothing called 'K_q'"),
        ({"K_p": (2, 1)}, "give the least first"),
        ({"K_p": ("1 bar", 2)}, "got a pressure"),
        ({"K_p": (1,)}, "expected \\(least, most\\)"),
        ({"K_p": (1, 2, 50), "K_i": (1, 2, 50)}, "at most 81"),
    ],
)
def test_sliders_that_cannot_be_are_refused(loop, sliders, said):
    with pytest.raises(fp.InputError, match=said):
        fp.explore(loop, sliders, SHORT)


def test_a_report_in_one_line(loop, tmp_path):
    claims = (fp.claims.Tracking(error=1e-3, settle=1.0),)
    made = fp.report(loop, SHORT, tmp_path / "r.pdf", claims)
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF") and made.verdicts[0].holds
    assert "r.pdf" in repr(made) and "<table>" in made._repr_html_()


def test_no_notebook_is_needed():
    code = (
        "import sys, fluidproof as fp; fp.explore, fp.report, fp.Log.plot\n"
        "sys.exit(bool({'ipywidgets', 'IPython', 'marimo'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
