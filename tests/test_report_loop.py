"""Chapters on an actuator's loop: every array is drawn, nothing that is not there, and words that never round up."""

import io
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import PID
from plants import IEHA, LinearActuator
from reports import Content, document, rendered, style
from reports.chapters.belief import belief
from reports.chapters.law import THEORY
from reports.chapters.run import solver
from reports.figures import linear as figures_linear
from reports.figures import loop as figures_loop
from reports.figures import region as figures_region
from tests.actuator import Actuator, mpc
from workbench import Sampled
from workbench.cases.file import load
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.verification.judge import examine
from workbench.verification.verdict import Verdict

pypdf = pytest.importorskip("pypdf")
EXAMPLES = Path(__file__).parents[1] / "examples"
HOSTILE = '#panic("x") $x^$ [b] *c* <d> \\ @e \x1b'
CERTIFIED = Verdict("linear-stability", "the loop is stable", True, "proof")
HOLDS = Verdict("a", "the loop is stable", True, "proof", source="Lyapunov")


def pages(pdf):
    return [re.sub(r"\s+", " ", p.extract_text()) for p in pypdf.PdfReader(io.BytesIO(pdf)).pages]


def said(content):
    return " ".join(pages(rendered(content)))


def a_log(n=801, completed=True):
    t = np.linspace(0, 4, n)
    columns = {
        "Y": ("m", 0.01 * np.sin(2 * t)),
        "Y_d": ("m", 0.01 * np.sin(2 * t + 0.01)),
        "X": ("m", 2e-4 * np.cos(2 * t)),
        "P_A": ("Pa", 8e5 * np.sin(2 * t)),
        "P_AB": ("Pa", 2e6 * np.sin(t)),
        "F_ext": ("N", 450 * np.sin(3 * t)),
    }
    return Log(
        t,
        np.stack([v for _, v in columns.values()], 1),
        tuple(Signal(k, u) for k, (u, _) in columns.items()),
        {},
        Status(completed, "completed" if completed else "diverged: Y is not finite", 4.0),
    )


def an_analysis(t):
    wanted, got = 0.01 * np.sin(2 * t + 0.01), 0.01 * np.sin(2 * t)
    e = wanted - got
    output = {
        "name": "Y",
        "unit": "m",
        "wanted": wanted,
        "got": got,
        "error": e,
        "rms": 7.1e-5,
        "largest": 1.03e-4,
        "at": 1.25,
    }
    u, at = 5e-4 * np.clip(2 * np.cos(2 * t), -1, 1), np.abs(np.cos(2 * t)) >= 0.5
    limit = {
        "name": "X",
        "unit": "m",
        "kind": "command",
        "soft": False,
        "t": t,
        "value": u,
        "low": -5e-4,
        "high": 5e-4,
        "active": at,
        "share": float(at.mean()),
    }
    far = {
        **limit,
        "name": "Y",
        "kind": "output",
        "soft": True,
        "value": got / 10,
        "low": -np.inf,
        "high": 0.05,
        "active": 0 * t > 1,
        "share": 0.0,
    }
    ω = np.geomspace(1, 1500, 80)
    G = 115 / (1j * ω * (1 + 3e-3j * ω))
    steps = {
        "Y": {"unit": "m", "truth": 1e-3 * t, "model": 1.1e-3 * t},
        "dY": {"unit": "m/s", "truth": 0.1 + 0 * t, "model": 0.1 * t},
    }
    channel = {
        "input": "X",
        "output": "Y",
        "unit": "m/m",
        "ω": ω,
        "truth": G,
        "model": 0.9 * G,
        "t": t / 50,
        "size": 2e-4,
        "size_unit": "m",
        "steps": steps,
    }
    angle = np.linspace(0, 2 * np.pi, 60)
    ring = np.stack([0.03 * np.cos(angle), 0.4 * np.sin(angle)], 1)
    return {
        "tracking": {
            "t": t,
            "settle": 1.0,
            "outputs": [output],
            "disturbances": [{"name": "F_ext", "unit": "N", "values": 450 * np.sin(3 * t)}],
        },
        "previews": {"Y": {"error": 30 * e, "rms": 2.1e-3, "largest": 3.1e-3, "at": 2.0}},
        "limits": [limit, far],
        "solver": {
            "t": t,
            "iterations": 1 + (9 * at),
            "active": 4 * at,
            "slack": 0 * t,
            "optimal": 0.9975,
            "events": {"infeasible": t[[40]], "fallback: last solution": t[[40, 41]]},
        },
        "hypotheses": [("full state measured", False), ("terminal set as a constraint", True)],
        "model": {
            "truth": "IEHA",
            "model": "LinearActuator",
            "where": "E = 0.1 mm",
            "channels": [channel],
        },
        "sensitivity": {
            "X": {
                "ω": ω,
                "L": G,
                "S": abs(1 / (1 + G)),
                "T": abs(G / (1 + G)),
                "M_S": 1.37,
                "ω_S": 300.0,
                "M_T": 1.02,
                "ω_T": 90.0,
                "disk": (-1.4, 0.9),
            }
        },
        "margins": [
            {
                "actuator": "X",
                "gain_up": 3.2,
                "gain_down": 0.21,
                "phase": 1.0,
                "delay": 0.004,
                "disk": 0.9,
            }
        ],
        "loops": {"X": (ω, G)},
        "region": [
            {
                "x": "Y",
                "y": "dY",
                "unit_x": "m",
                "unit_y": "m/s",
                "boundary": ring,
                "kind": "projection",
                "box": None,
                "path": ring[:9] / 3,
                "title": "with saturated commands",
            }
        ],
        "sector": {"ω": ω, "G": G, "k": (0.3, 2.0), "criterion": "circle"},
    }


def full(**changes):
    log = a_log()
    law = mpc(LinearActuator())
    fields = {
        "title": "IEHA",
        "question": "?",
        "verdicts": (HOLDS,),
        "log": log,
        "plant": IEHA(),
        "controller": law,
        "analysis": an_analysis(log.time),
        "provenance": {"controller.model.K": ("V", "Alfayad16", "as printed")},
    }
    return Content(**fields | changes)


# ---- what is there is shown -----------------------------------------------------------------------------------------------
ALONE = {
    "tracking": {"under_load"},
    "limits": {"limits"},
    "model": {"model_bode", "model_steps"},
    "solver": {"solver"},
    "region": {"region"},
    "sector": {"sector"},
    "loops": {"bode", "nyquist"},
    "sensitivity": {"sensitivities"},
}


def test_every_array_draws_its_figures_and_nothing_else():
    log, analysis = a_log(), an_analysis(a_log().time)
    for key, figures in ALONE.items():
        given = log if key in ("tracking", "limits", "solver") else None
        found = set(document.figures(Content("T", "Q", log=given, analysis={key: analysis[key]})))
        # Without arrays of their own, tracking and commands are drawn from the log.
        plain = {"followed", "pressures"} if given else set()
        assert found == figures | (plain - {"followed"} if key == "tracking" else plain), key


def test_a_figure_of_the_run_makes_place_for_the_chapter_on_it():
    log, analysis = a_log(60), an_analysis(a_log(60).time)
    drawn = lambda *keys: set(
        document.figures(
            Content("T", "Q", log=log, plant=IEHA(), analysis={k: analysis[k] for k in keys})
        )
    )
    assert drawn() == {"followed", "pressures", "voltages"}
    assert drawn("tracking", "limits") == {"under_load", "pressures", "limits"}


def test_the_report_says_all_of_it():
    everything, share = said(full()), np.mean(np.abs(np.cos(2 * a_log().time)) >= 0.5)
    for sentence in (
        "The argument",
        f"{100 * share:.3g} %",
        "the theorem does not apply",
        "full state measured",
        "terminal set as a constraint",
        "not met",
        "The controller’s model",
        "as printed",
        "another kind of system: LinearActuator",
        "E = 0.1 mm",
        "Tracking under load",
        "71 µm",
        "0.103 mm",
        "2.1 mm",
        "3.1 mm",
        "Constraint activity",
        "at most 50 mm",
        "99.75 % of 801 samples",
        "infeasible: 1",
        "fallback: last solution: 2",
        "Region of attraction",
        "projection",
        "0.21 … 3.2 (10.1 dB)",
        "1.37",
        "1.02",
        "disk margin keeps",
    ):
        assert sentence in everything, sentence


def test_chapters_without_content_leave_no_headings():
    everything = said(full(analysis={}, controller=None, plant=None))
    for heading in (
        "Tracking under load",
        "Constraint activity",
        "Region of attraction",
        "The controller’s model",
        "The argument",
        "Linearised",
    ):
        assert heading not in everything


def test_each_law_has_its_page():
    assert set(THEORY) >= {"VDC", "PID", "MPC"}
    plant, bare = LinearActuator(), {"log": None, "analysis": {}}
    for options, phrase in (
        ({"feed": "gain"}, "gain, "),
        ({"feed": "none", "anti_windup": "clamp"}, "no feed-forward"),
        ({"feed": "none", "anti_windup": "none"}, "by nothing"),
    ):
        everything = said(
            full(controller=PID(plant, damping="none", u_max=5e-4, **options), **bare)
        )
        assert (
            phrase in everything and "runs continuously" in everything and "LDL" not in everything
        )
    sampled = said(
        full(
            controller=Sampled(PID(plant, feed="none", damping="none"), 1e-3),
            verdicts=(CERTIFIED,),
            **bare,
        )
    )
    assert "command is held" in sampled and "LDL" in sampled
    page = said(
        full(controller=mpc(Actuator()), log=None, analysis={"hypotheses": [("one model", True)]})
    )
    assert (
        "All are met" in page and "known 20 samples ahead" in page and "does not apply" not in page
    )


def test_a_law_that_changes_claims_nothing_linear():
    lost = {"hypotheses": [("one model", False)]}
    page = said(full(controller=mpc(Actuator(), relinearise=True), log=None, analysis=lost))
    assert (
        "linearised anew at every sample" in page
        and "no linear claim is made" in page
        and "one linear law" not in page
    )
    assert "one linear law" in said(full(controller=mpc(Actuator()), log=None, analysis=lost))


@pytest.mark.parametrize(
    "key, phrase",
    [
        ("region-of-attraction", "At the limits"),
        ("sector", "A gain that is not known"),
        ("supplied", "A function of one’s own"),
    ],
)
def test_an_argument_is_given_where_it_was_asked_for(key, phrase):
    law = PID(LinearActuator(), feed="none", damping="none")
    page = lambda *verdicts: said(full(controller=law, log=None, analysis={}, verdicts=verdicts))
    assert phrase in page(replace(HOLDS, key=key)) and phrase not in page(HOLDS)


def test_equations_are_those_of_the_plant_that_is_there():
    bare = {"log": None, "analysis": {}, "controller": None}
    open_, closed = (
        said(full(plant=IEHA(circuit="open"), **bare)),
        said(full(plant=IEHA(detail="full"), **bare)),
    )
    assert (
        "Open circuit" in open_
        and "Closed, symmetric" not in open_
        and "averaged over a revolution" in open_
    )
    assert "Closed, symmetric" in closed and "chamber pressure of its own" in closed
    assert "integrator behind three lags" in said(full(plant=LinearActuator(), **bare))


def test_why_nothing_is_compared_is_said():
    analysis = {
        "model": {
            "truth": "IEHA",
            "model": "LinearActuator",
            "why": "the plant changes with time itself",
        }
    }
    assert "not compared: the plant changes with time itself" in said(
        full(analysis=analysis, log=None)
    )


def test_any_name_arrives_as_it_is():
    analysis = an_analysis(a_log().time)
    for entry in (
        *analysis["tracking"]["outputs"],
        *analysis["tracking"]["disturbances"],
        *analysis["limits"],
    ):
        entry["name"] = HOSTILE
    analysis["region"][0] |= {"x": HOSTILE, "y": HOSTILE, "title": HOSTILE, "kind": HOSTILE}
    analysis["solver"]["events"] = {HOSTILE: np.array([1.0])}
    analysis["hypotheses"] = [(HOSTILE, True)]
    analysis["model"] |= {
        "where": HOSTILE,
        "channels": [analysis["model"]["channels"][0] | {"input": HOSTILE, "output": HOSTILE}],
    }
    analysis["sector"]["criterion"] = HOSTILE
    analysis["sensitivity"] = {HOSTILE: analysis["sensitivity"]["X"]}
    everything = said(full(analysis=analysis))
    assert '#panic("x") $x^$ [b] *c* <d>' in everything and "\x1b" not in everything


def test_a_run_that_blew_up_is_still_drawn():
    log = a_log(completed=False)
    analysis = an_analysis(log.time)
    for values in (analysis["tracking"]["outputs"][0]["error"], analysis["limits"][0]["value"]):
        values[-3:] = np.array([1e9, np.inf, np.nan])
    assert "did not reach its end" in said(full(log=log, analysis=analysis))


# ---- what is drawn is so ----------------------------------------------------------------------------------------------------
def test_no_moment_at_a_limit_is_lost():
    t = np.linspace(0, 8, 80_001)
    active = np.zeros(len(t), bool)
    active[[17, 40_123, 80_000]] = True
    seen, at = figures_loop._stretches(t, active)
    assert len(seen) == len(at) < 1000 and (np.diff(seen) >= 0).all()
    for k in np.flatnonzero(active):
        near = np.abs(seen - t[k]).argsort(kind="stable")[:3]
        assert at[near].any()
    assert 0 < at.mean() < 0.02


def test_a_limit_far_away_is_named_but_not_drawn():
    entries = an_analysis(a_log().time)["limits"]
    with style.drawing():
        near, far = figures_loop.limits(entries).axes
    dashed = lambda ax: [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed(near) == [-0.5, 0.5] and dashed(far) == []
    notes = [text.get_text() for text in far.texts]
    assert notes == ["never at its soft limit, at most 50 mm, beyond this axis"]


def test_a_command_that_runs_far_beyond_its_limits_leaves_them_in_sight():
    t = np.linspace(0.0, 10.0, 501)
    entry = {"name": "u_boom", "kind": "command", "unit": "V", "t": t, "low": -10.0, "high": 10.0}
    entry |= {"value": np.where(t > 9, 5.65e9, 3.0), "active": t > 9, "share": 0.1, "soft": False}
    least = entry | {"value": np.where(t > 9, 39.0, 3.0)}
    with style.drawing():
        away, all_there = figures_loop.limits([entry, least]).axes
    low, high = away.get_ylim()
    assert -20.0 < low < -10.0 and 10.0 < high < 20.0 and "5.65" in away.texts[0].get_text()
    assert away.get_ylabel() == "V" and away.yaxis.get_offset_text().get_text() == ""
    assert all_there.get_ylim()[1] > 39.0 and "up to" not in all_there.texts[0].get_text()


def test_a_quiet_solver_is_a_sentence():
    quiet = {
        "t": np.arange(5.0),
        "iterations": np.ones(5),
        "active": np.zeros(5),
        "slack": np.zeros(5),
        "optimal": 1.0,
        "events": {},
    }
    with style.drawing():
        assert figures_loop.solver(quiet) is None
        assert len(figures_loop.solver(quiet | {"iterations": np.arange(5.0)}).axes) == 1
        assert (
            len(
                figures_loop.solver(
                    quiet | {"events": {"infeasible": np.array([2.0])}, "slack": np.ones(5)}
                ).axes
            )
            == 3
        )
    assert (
        solver(quiet)["text"]
        == "All 5 samples were solved to optimality, with at most 1 iteration, no limit active."
    )
    some = solver(quiet | {"events": {"infeasible": [2.0]}, "optimal": 0.99999})
    assert some["text"].startswith("more than 99.9\u00a0% of 5") and some["events"]


def test_regions_are_filled_closed_and_scaled():
    entry = an_analysis(a_log().time)["region"][0]
    two = np.vstack([entry["boundary"], [[np.nan, np.nan]], entry["boundary"] + [0.2, 0.0]])
    with style.drawing():
        (ax,) = figures_region.regions(
            [entry | {"boundary": two, "box": ((-0.05, 0.3), (-0.5, 0.5)), "path": None}]
        ).axes
    assert len(ax.patches) == 2 and ax.get_xlabel().endswith(", m")
    edges = [line.get_xydata() for line in ax.lines if len(line.get_xdata()) > 50]
    assert all((edge[0] == edge[-1]).all() for edge in edges) and edges[1][
        :, 0
    ].max() == pytest.approx(0.23)
    with style.drawing():
        assert figures_region.regions([]) is None and figures_region.sector({}) is None
        # A run that went far away must not hide the region.
        far = entry | {"path": np.array([[0.0, 0.0], [50.0, 900.0]])}
        assert figures_region.regions([far]).axes[0].get_xlim()[1] < 0.1 * 1000


@pytest.mark.parametrize(
    "low, high, criterion, disk",
    [
        (0.3, 2.0, "circle", (-1 / 0.6 - 0.25, 1 / 0.6 - 0.25)),
        (-0.5, 2.0, "circle", (0.75, 1.25)),
        (0.0, 2.0, "circle", None),
        (0.0, 2.0, "popov", None),
    ],
)
def test_the_forbidden_set_is_that_of_the_sector(low, high, criterion, disk):
    from matplotlib.patches import Circle

    ω = np.geomspace(0.1, 1e3, 200)
    G = 40 / ((1j * ω + 3) * (1j * ω / 60 + 1))
    with style.drawing():
        (ax,) = figures_region.sector(
            {"ω": ω, "G": G, "k": (low, high), "criterion": criterion}
        ).axes
    circles = [(p.center[0], p.radius) for p in ax.patches if isinstance(p, Circle)]
    assert circles == ([pytest.approx(disk)] * 2 if disk else [])
    assert len(ax.patches) == (2 if disk else 1 if criterion == "circle" else 0)
    cross = [line.get_xydata() for line in ax.lines if line.get_marker() == "+"]
    np.testing.assert_allclose(cross, [[[-1 / high, 0]]])
    curve = ax.lines[0].get_ydata()
    seen = np.isfinite(curve)
    np.testing.assert_allclose(curve[seen], (ω * G.imag if criterion == "popov" else G.imag)[seen])


def test_the_disk_is_drawn_around_its_centre():
    analysis = an_analysis(a_log().time)
    with style.drawing():
        with_disk = figures_linear.nyquist(analysis["loops"], analysis["sensitivity"]).axes[0]
        without = figures_linear.nyquist(analysis["loops"]).axes[0]
    assert len(without.patches) == 0
    (disk,) = with_disk.patches
    edge = disk.get_xy()[:, 0] + 1j * disk.get_xy()[:, 1]
    np.testing.assert_allclose(np.abs(edge + 1.4), 0.9)


# ---- words -------------------------------------------------------------------------------------------------------------------
def test_a_model_of_the_same_kind_is_compared_number_by_number():
    truth = LinearActuator()
    law = SimpleNamespace(open=False, model=replace(truth, K=100.0))
    found = belief(truth, law, {}, None)
    assert (
        found["mismatch"] == [["K", "100 1/s", "115.4 1/s"]]
        and found["model"] == []
        and found["model_kind"] == ""
    )
    assert belief(truth, SimpleNamespace(open=False, model=truth), {}, None)["mismatch"] == []
    assert belief(IEHA(), law, {}, None)["mismatch"] is None


def test_a_real_case_from_file_to_page():
    case = load(EXAMPLES / "linear-mpc.yaml")
    content = Content.of(
        case,
        examine(case.loop, replace(case.scenario, duration=0.1), case.claims),
        "3 May",
        "verify",
    )
    everything = said(content)
    for sentence in (
        "All are met",
        "rate of change",
        "samples were solved to optimality",
        "integrator behind three lags",
        "± 0.5 mm",
        "The solver at every sample",
        "desired minus obtained",
        "peak of",
    ):
        assert sentence in everything, sentence
