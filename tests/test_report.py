"""The report: complete, honest about what it shows, the same for the same content, safe against any text."""

import io
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from plants.components.cylinder import Cylinder
from plants.components.spatial import Body, Frame
from plants.crane.manipulator import Manipulator
from plants.crane.segments import Prismatic, Revolute, Structure
from reports import Content, document, rendered, signals, style, tables, write_report
from reports.chapters.linearised import was_sampled
from reports.figures import linear as figures_linear
from workbench.commands import terminal
from workbench.contract.declared import LawData
from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.verification.verdict import Assumption, Verdict

pypdf = pytest.importorskip("pypdf")
HOSTILE = (
    '#panic("x") $x^$ @ref \\ "q" *b* `r` <lab> </svg> & [x] // /* #import "a.typ"\x00\x1b\u202e '
    + "w" * 200
)


def a_machine(first="lift"):
    body = Body(40.0, (0.6, 0.1, 0.0), (1.0, 5.0, 5.5, 0.1, 0.0, 0.0))
    revolute = Revolute(
        first,
        1.01,
        0.37,
        0.83,
        0.745,
        Cylinder(bore=0.08, rod=0.045, stroke=0.5),
        arm=body,
        end=Frame((0.9, 0.05, 0.0)),
    )
    slide = Prismatic(
        "boom", Cylinder(bore=0.05, rod=0.03, stroke=1.1), object=body, start=Frame((0.1, 0.0, 0.0))
    )
    return Manipulator("test crane", (Structure("lift", revolute, slide),), pose=(-1.3, 0.4))


PLANT = a_machine()


class VDC(LawData):
    """Stands for the controller: only its name and its model are read."""

    model, period = PLANT, None


def a_log(n=4001, status=None):
    t = np.linspace(0, 8, n)
    wave, hum = np.sin(1.3 * t), 1e-3 * np.cos(40 * t)
    columns = {
        "q_1": ("rad", -1.3 + 0.2 * wave),
        "x_t1": ("m", 0.4 + 0.1 * wave),
        "p_a1": ("Pa", 9e6 + 2e6 * wave),
        "p_b1": ("Pa", 4e6 - 1e6 * wave),
        "p_at1": ("Pa", 6e6 + 1e6 * hum),
        "p_bt1": ("Pa", 7e6 - 1e6 * hum),
        "f_p1": ("N", 3e4 * wave),
        "f_pr1": ("N", 3e4 * wave + 50),
        "f_pt1": ("N", 2e3 * wave),
        "f_prt1": ("N", 2e3 * wave + 9),
        "tcp_x": ("m", 2 + 0.3 * wave),
        "tcp_y": ("m", 1 + 0.2 * wave),
        "tcp_x_d": ("m", 2 + 0.3 * wave + hum),
        "tcp_y_d": ("m", 1 + 0.2 * wave),
        "e_tcp_x": ("m", hum),
        "e_tcp_y": ("m", 0 * t),
        "u_1": ("V", 3 * wave),
        "u_t1": ("V", 0.1 * wave),
        "u_1_held": ("V", 3 * wave),
    }
    known = {
        "scenario": {"duration": 8.0},
        "parameter_hash": "0f3c9a",
        "seed": 17,
        "versions": {"fluidproof": "0.1"},
        "grid": {"T": 0.002, "n": n},
    }
    return Log(
        t,
        np.stack([v for _, v in columns.values()], 1),
        tuple(Signal(k, u) for k, (u, _) in columns.items()),
        known,
        status or Status(True, "completed", 8.0),
    )


def an_analysis(t):
    v = 1e-3 * np.exp(-t) * (1.1 + np.sin(9 * t))
    part = {"v": v / 2, "vdot": -v, "bound": -v + 1e-4}
    T = np.array([0.5e-3, 1e-3, 2e-3, 8e-3])
    study = {
        "v_max": 500 * T**2,
        "error_max": 0.5 * T,
        "stable": np.array([True, True, True, False]),
        "limit": 5e-3,
        "bound": 1e-2,
    }
    ω = np.logspace(0, 3, 60)
    L = 30 / (1j * ω * (1 + 1j * ω / 80))
    return {
        "ledger": {
            "t": t,
            "v": v,
            "v_bound": 1.2 * v,
            "vdot": -v,
            "vdot_bound": -v + 1e-4,
            "per_subsystem": {"lift": part, "boom": part},
            "perturbations": {"hold 1": 1e-3 * np.sin(t), "friction 1": -1e-4 * np.cos(t) ** 2},
            "power_flows": {"B_c1": 0 * t, "E_2": 300 * np.sin(t)},
            "cancellation": 1e-12 * np.cos(t),
        },
        "assumptions": {
            "piston 1 in its stroke": {"t": t, "margin": 0.3 + 0 * t},
            "no hold": {"t": t, "margin": -0.2 + 0 * t},
        },
        "sample_time": {"T_s": T, **study},
        "delay": {"delay": T, **study},
        "eigenvalues": np.array([-3 + 4j, -3 - 4j, -60, 0.1]),
        "margins": [{"actuator": "lift", "gain": 4.1, "phase": 1.06, "delay": 0.021, "disk": 0.62}],
        "loops": {"lift": (ω, L)},
        "statistics": {"largest tip error": (8.1e-5, "m")},
    }


HOLDS = Verdict(
    "tip-error",
    "tip error ≤ 5 mm",
    True,
    "sampled",
    2.4e-3,
    "m",
    5e-3,
    "t = 12.5 s",
    (Assumption("pistons inside their strokes", True, 0.08, "m", "t = 3 s"),),
    "[Petrovic22] (99)",
)
VIOLATED = Verdict(
    "energy", "energy balance of the run", False, "numerical", -0.03, "1", 0.01, "friction"
)
STABLE = Verdict("practical-stability", "comes back from other starts", True, "sampled")
TUBE = Verdict("tube", "stays in a tube", True, "proof", data={"ends": "horizon"})
UNDECIDED = Verdict("cuts", "virtual power flows cancel", None, worst="no run reached its end")
ASIDE = Verdict(
    "theorem",
    "hypotheses of the theorem",
    False,
    "numerical",
    worst="hold 1 ms",
    counted=False,
    assumptions=(Assumption("no hold", False), Assumption("bulk modulus known", None)),
)


def full(**changes):
    log = a_log()
    fields = {
        "title": "Test crane",
        "question": "Does it hold?",
        "verdicts": (HOLDS, ASIDE),
        "log": log,
        "case_text": "plant: {}\n",
        "plant": PLANT,
        "controller": VDC(),
        "analysis": an_analysis(log.time),
        "date": "3 May",
        "command": "verify x.yaml",
        "provenance": {
            "p_s": ("V", "Petrovic22", ""),
            "plant.Q_max": ("A", "", "no pump is published"),
        },
    }
    return Content(**fields | changes)


def pages(pdf):
    return [re.sub(r"\s+", " ", p.extract_text()) for p in pypdf.PdfReader(io.BytesIO(pdf)).pages]


def test_full_report_says_everything():
    content = full()
    found = pages(rendered(content))
    first, everything = found[0], " ".join(found)
    assert 8 <= len(found) <= 20
    for words in (
        "Test crane",
        "Does it hold?",
        "The one counted claim holds",
        "tip error ≤ 5 mm",
        "sampled",
        "2.4 mm",
        "t = 12.5 s",
        "hypotheses of the theorem",
        "violated",
        "exit code 0",
        "3 May",
    ):
        assert words in first, words
    for words in (
        "The argument",
        "lift, cylinder 1",
        "boom, cylinder t1",
        "largest tip error",
        "81 µm",
        "not met",
        "not known",
        "0f3c9a",
        "verify x.yaml",
        "plant: {}",
        "185 bar",
        "no pump is published",
        "12.3 dB",
        "60.7°",
        "21 ms",
        "Figure 3",
    ):
        assert words in everything, words
    assert f"1 / {len(found)}" in first


def test_every_analysis_draws_its_figure_and_a_missing_one_drops_it():
    content = full()
    drawn = set(document.figures(content))
    assert drawn == {
        "picture",
        "machine",
        "path",
        "tracking",
        "forces",
        "pressures",
        "voltages",
        "ledger",
        "subsystems",
        "perturbations",
        "flows",
        "assumptions",
        "sample_time",
        "delay",
        "eigenvalues",
        "bode",
        "nyquist",
    }
    gone = {
        "ledger": {"ledger", "subsystems", "perturbations", "flows"},
        "assumptions": {"assumptions"},
        "delay": {"delay"},
        "sample_time": {"sample_time"},
        "eigenvalues": {"eigenvalues"},
        "loops": {"bode", "nyquist"},
    }
    for key, figures in gone.items():
        rest = {k: v for k, v in content.analysis.items() if k != key}
        assert set(document.figures(replace(content, analysis=rest, log=None, plant=None))) == (
            drawn
            - figures
            - {"picture", "machine", "path", "tracking", "forces", "pressures", "voltages"}
        )


@pytest.mark.quick
def test_minimal_content_is_one_page_with_the_verdicts():
    (page,) = pages(rendered(Content("A title", "A question?", (HOLDS, UNDECIDED))))
    for words in (
        "A title",
        "A question?",
        "Not decided.",
        "1 of 2 counted claims is undecided",
        "undecided",
        "holds",
        "exit code 2",
    ):
        assert words in page, words
    assert "No claim counts" in pages(rendered(Content("A title", "A question?")))[0]


@pytest.mark.parametrize(
    "verdicts, word, lead",
    [
        ((STABLE,), "holds", "Yes."),
        ((STABLE, HOLDS, ASIDE), "holds", "Yes."),
        ((TUBE, HOLDS), "holds", "Yes, up to the end of the run."),
        ((TUBE, STABLE), "holds", "Yes."),
        ((replace(TUBE, data={"ends": "period"}), HOLDS), "holds", "Yes."),
        ((HOLDS,), "holds", "The requirements hold."),
        ((HOLDS, replace(STABLE, counted=False)), "holds", "The requirements hold."),
        ((HOLDS, UNDECIDED), "undecided", "Not decided."),
        ((UNDECIDED, VIOLATED, HOLDS), "violated", "No."),
        ((ASIDE,), "undecided", "No answer."),
        ((), "undecided", "No answer."),
    ],
)
def test_the_answer_never_rounds_up(verdicts, word, lead):
    answer = tables.answer(verdicts)
    assert (answer["word"], answer["lead"]) == (word, lead)
    for v in verdicts:
        if v.counted and v.holds is not True:
            assert v.claim in answer["text"]


@pytest.mark.parametrize(
    "own, asked",
    [({}, False), ({"holds": False}, True), ({"holds": None, "strength": None}, False)],
)
def test_stability_that_is_violated_for_information_is_said_where_it_does_not_count(own, asked):
    """In the report's answer and in the last line of the terminal."""
    verdicts = (HOLDS, replace(STABLE, counted=False, **own))
    text = tables.answer(verdicts)["text"]
    line = terminal.tally(verdicts, [], 0)
    assert (f"does not count in this file, and {STABLE.key} is violated" in text) is asked
    assert (f"stability does not count: {STABLE.key} violated" in line) is asked
    assert ("not asked" in text) is ("not asked" in line) is (not asked)
    assert "does not count" not in terminal.tally((HOLDS, STABLE, verdicts[1]), [], 0)


def test_verdicts_are_told_apart_without_colour():
    page = pages(rendered(Content("T", "Q", (HOLDS, VIOLATED, UNDECIDED))))[0]
    assert all(sign in page for sign in "✓✗?")
    assert "1 hold, 1 violated, 1 undecided · exit code 1" in page


def test_a_run_that_diverged_is_said_and_drawn():
    log = a_log()
    values = log.values[:3000].copy()
    values *= np.exp(np.clip(80 * (log.time[:3000] - 5), 0, 700))[:, None]
    values[-2], values[-1] = np.inf, np.nan
    broken = Log(
        log.time[:3000],
        values,
        log.signals,
        log.provenance,
        Status(False, "diverged: p_a1 is not finite", 6.0, "p_a1"),
    )
    analysis = an_analysis(broken.time)
    analysis["ledger"]["v"] = np.exp(np.clip(100 * (broken.time - 4), 0, 700))
    analysis["ledger"]["vdot"][-9:] = np.nan
    first, *rest = pages(rendered(full(log=broken, analysis=analysis, verdicts=(VIOLATED,))))
    assert "The run did not reach its end" in first and "p_a1 is not finite" in first
    assert "lift, cylinder 1" in " ".join(rest)


def test_any_text_arrives_as_it_is():
    verdict = replace(
        HOLDS,
        claim=HOSTILE,
        worst=HOSTILE,
        source=HOSTILE,
        unit="$m_{x}$",
        assumptions=(Assumption(HOSTILE, None, 1.0, "#", HOSTILE, HOSTILE),),
        holds=None,
        strength=None,
    )
    plant = a_machine(HOSTILE)
    analysis = an_analysis(a_log().time)
    analysis["statistics"] = {HOSTILE: (1.0, "m")}
    analysis["assumptions"] = {HOSTILE: analysis["assumptions"]["no hold"]}
    analysis["loops"] = {HOSTILE: analysis["loops"]["lift"]}
    content = full(
        title=HOSTILE,
        question=HOSTILE,
        verdicts=(verdict,),
        case_text=HOSTILE,
        plant=plant,
        command=HOSTILE,
        date=HOSTILE,
        analysis=analysis,
        provenance={"p_s": (HOSTILE, HOSTILE, HOSTILE)},
    )
    found = pages(rendered(content))
    assert '#panic("x") $x^$ @ref \\ "q" *b* `r` <lab> </svg> & [x]' in found[0]
    assert "\x00" not in " ".join(found) and "\u202e" not in " ".join(found)


def test_same_content_same_bytes_and_a_change_shows():
    one, two = rendered(full()), rendered(full())
    assert one == two
    assert rendered(full(date="4 May")) != one


def test_written_whole_or_not_at_all(tmp_path, monkeypatch):
    seen = []
    write_report(tmp_path / "out.pdf", full(), progress=seen.append)
    assert (tmp_path / "out.pdf").read_bytes()[:5] == b"%PDF-"
    assert seen == sorted(seen) and seen[-1] == 1.0
    with pytest.raises(InputError, match="no such directory"):
        write_report(tmp_path / "missing" / "out.pdf", full())

    def fails(content, drawn):
        raise RuntimeError("half way")

    monkeypatch.setattr(document, "data", fails)
    with pytest.raises(RuntimeError, match="half way"):
        write_report(tmp_path / "out.pdf", full())
    assert [p.name for p in tmp_path.iterdir()] == ["out.pdf"]
    assert (tmp_path / "out.pdf").read_bytes()[-6:].strip().endswith(b"%%EOF")


def test_an_unknown_analysis_is_refused():
    with pytest.raises(InputError, match="'ledgr'"):
        full(analysis={"ledgr": {}})


def test_thinning_keeps_every_peak():
    rng = np.random.default_rng(5)
    t = np.linspace(0, 30, 30_001)
    y = rng.normal(size=t.size)
    y[17_123], y[4_567] = 40.0, -50.0
    few_t, few = style.thinned(t, y)
    assert few.size < 1000 and few.max() == 40.0 and few.min() == -50.0
    assert (
        few_t[few.argmax()] == t[17_123]
        and (np.diff(few_t) > 0).all()
        and few_t[[0, -1]] == pytest.approx([0, 30])
    )
    assert style.upper(t, np.abs(y))[1].max() == 50.0
    assert style.thinned(t[:50], y[:50])[1].size == 50


def test_limits_look_away_only_from_what_runs_away():
    y = np.sin(np.linspace(0, 20, 1000))
    assert style.reach(y) is None
    y[-40:] = 1e9
    low, high = style.reach(y)
    assert low < -1 and 1 < high < 20


def test_hypotheses_of_a_violated_claim_are_listed():
    listed = [
        vars(Assumption("no hold", False)),
        vars(Assumption("gains positive", True, 20.0, "1/s")),
    ]
    rows = tables.assumption_rows(
        (HOLDS, replace(ASIDE, assumptions=(), data={"assumptions": listed}))
    )
    assert [(r["text"], r["status"]) for r in rows] == [
        ("no hold", "not met"),
        ("pistons inside their strokes", "met"),
        ("gains positive", "met"),
    ]


def test_a_sampled_loop_is_drawn_with_its_circle():
    inside = np.array([0.9, 0.5 + 0.4j, 0.5 - 0.4j])
    count = lambda fig: [len(line.get_xdata()) for line in fig.axes[0].lines]
    with style.drawing():
        assert count(figures_linear.eigenvalues(inside, True))[1:] == [3, 0]  # stable, not stable
        assert count(figures_linear.eigenvalues(inside, False))[1:] == [0, 3]
        assert count(figures_linear.eigenvalues({"values": 1.1 * inside / 0.9, "sampled": True}))[
            1:
        ] == [2, 1]
    assert not was_sampled(a_log(9))
    known = {"parameters": {"controller.T_s": 1e-3}}
    assert was_sampled(replace(a_log(9), provenance=known))


def test_the_desired_path_follows_from_desired_joints():
    t = np.linspace(0, 1, 30)
    q = np.stack([-1.3 + 0.1 * t, 0.4 + 0.05 * t], 1)
    names = ("q_1_d", "x_t1_d", "tcp_x", "tcp_y")
    log = Log(
        t,
        np.hstack([q, 0 * q]),
        tuple(Signal(n, "m") for n in names),
        {},
        Status(True, "completed", 1.0),
    )
    x, y = signals.wanted_path(log, PLANT)
    assert np.allclose(np.stack([x, y], 1), [PLANT.tool(list(row))[:2] for row in q], rtol=1e-12)
    assert signals.wanted_path(log, None) is None


def test_logs_of_any_loop_are_drawn():
    t = np.linspace(0, 1, 2)
    for signals_, values in (
        ((Signal("x", "m"),), [[0.0], [1.0]]),
        (
            (Signal("p_L", "Pa"), Signal("u", "V"), Signal("x", "m"), Signal("x_d", "m")),
            np.ones((2, 4)),
        ),
        ((Signal("p_a1", "Pa"), Signal("p_b1", "Pa"), Signal("e_x", "m")), np.full((2, 3), np.nan)),
    ):
        log = Log(t, values, signals_, {}, Status(True, "completed", 1.0))
        assert rendered(Content("T", "Q", (HOLDS,), log)).startswith(b"%PDF")


def test_chambers_of_a_mechanism_are_paired_by_the_name_of_their_drive():
    """What a law remembers of pressures is none, and a drive may be called slow."""
    names = ["p_a_boom", "p_b_boom", "p_s", "p_a_slow", "p_b_slow", "p_a_alone"]
    names += ["p_a_boom_slow", "p_b_boom_slow"]
    t = np.linspace(0.0, 1.0, 5)
    log = Log(t, np.ones((5, 8)), tuple(Signal(n, "Pa") for n in names), {}, Status(True, "", 1.0))
    pairs = [("boom", ["p_a_boom", "p_b_boom"]), ("slow", ["p_a_slow", "p_b_slow"])]
    assert signals.pressures(log) == pairs
    pumped = SimpleNamespace(supply_names=("p_s", "p_unlogged"))
    assert signals.supplies(log, pumped) == ["p_s"] and signals.supplies(log, None) == []


@pytest.mark.parametrize(
    "text, set_",
    [
        ("at 0.2 rad/s", "at 0.2\u00a0rad/\u2060s"),
        ("up to 20 mrad/s, 5 %", "up to 20\u00a0mrad/\u2060s, 5\u00a0%"),
        ("a and/or b", "a and/or b"),
    ],
)
def test_no_line_ends_inside_a_quantity(text, set_):
    assert tables.wrapped(text) == set_


def test_signals_are_paired_by_name():
    log = a_log(50)
    assert [f[0] for f in signals.forces(log)] == ["1", "t1"]
    assert signals.pressures(log) == [("1", ["p_a1", "p_b1"]), ("t1", ["p_at1", "p_bt1"])]
    assert signals.commands(log, None) == [("1", "u_1"), ("t1", "u_t1")]
    assert (
        style.symbol("dq_1") == "$q̇_{1}$"
        and style.symbol("p_a1") == "$p_{a1}$"
        and style.symbol("tcp_x") == "tcp x"
    )


def test_everything_for_the_templates_is_plain_data():
    given = document.data(full(), ["path"])
    assert json.loads(json.dumps(given)) == given


@pytest.mark.parametrize("count", [1, 40, 400])
def test_every_line_of_the_case_file_is_printed_once(count):
    """Two columns of nearly one height on the last page; a line longer than a page does not hold it up."""
    text = "\n".join(f"line{k}: {k}" for k in range(count))
    pdf = pypdf.PdfReader(io.BytesIO(rendered(Content("T", "Q", (HOLDS,), case_text=text))))
    found = re.findall(r"line(\d+): (\d+)", "\n".join(page.extract_text() for page in pdf.pages))
    assert [int(k) for k, _ in found] == list(range(count)) and all(k == n for k, n in found)
    endless = "x" * 39_000 + "\nafter: 1"
    assert rendered(Content("T", "Q", (HOLDS,), case_text=endless)).startswith(b"%PDF")
