"""Gains by runs: the bisection against a plain scan, the trade, what is turned, one small search, and the command."""

from dataclasses import replace

import numpy as np
import pytest

from controllers import MPC, PID, VDC
from controllers.gain_search import ByRuns, Point
from controllers.gain_search.bearing import Bracket, ladder
from controllers.gain_search.drawn import figure, frontier
from controllers.gain_search.knobs import knobs, law_of, turned
from controllers.gain_search.search import better
from plants import machine
from workbench import ClosedLoop, InputError, Sampled, Sine
from workbench.cases.file import load, loads
from workbench.commands.cli import main
from workbench.contract.system import innermost
from workbench.contract.wrappers import Delayed
from workbench.verification.run_claims import Saturation, Tracking

# A servo axis with too little gain; its loop bears much more than it needs to.
FILE = """\
plant: ieha-published-linear
controller: {law: PID, K_p: 0.1, K_i: 0.2, feed: none}   # kept
loop: {sample_time: 2 ms}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [5 mm], frequency: 1 Hz}
  duration: 2 s
claims: {tracking: {error: 4.9 mm, settle: 0.5 s}, practical-stability: false, settled: false}
"""


def point(error=1.0, bears=1.0, excess=0.0, octaves=(0.0,)):
    return Point(octaves, {}, error, error, bears, (), excess)


@pytest.mark.parametrize("count", [1, 2, 7, 12])
def test_the_bracket_finds_what_a_scan_finds_from_wherever_it_begins(count):
    for edge in range(-1, count):
        for first in range(count):
            bracket = Bracket(count, first)
            tried = []
            while bracket.open:
                rung = bracket.next()
                tried.append(rung)
                bracket.told(rung, rung <= edge)
            assert bracket.low == edge and len(set(tried)) == len(tried)


@pytest.fixture(scope="module")
def servo():
    return loads(FILE, "servo.yaml")


def test_a_ladder_goes_from_the_loops_own_delay_to_the_end_and_has_the_floor(servo):
    late = ClosedLoop(servo.plant, Delayed(servo.controller, delay=3e-3))
    rungs = ladder(late, "delay", 20e-3, 7.1e-3)
    assert rungs.own == 3e-3 and rungs.values[0] == pytest.approx(4e-3)  # half a sample more
    assert 7.1e-3 in rungs.values and rungs.values[-1] <= 20e-3
    assert list(rungs.values) == sorted(set(rungs.values))
    period = ladder(servo.loop, "sample time", 20e-3, None)
    assert period.values[0] == pytest.approx(np.sqrt(2) * 2e-3)
    assert innermost(period.job(servo.loop, servo.scenario, 4e-3)[0].controller) is law_of(
        servo.loop
    )
    with pytest.raises(InputError, match="own delay is 0.003 s already"):
        ladder(late, "delay", 1e-3, None)


def test_what_is_missed_counts_before_the_trade():
    for trade in ("error", "reserve", "balanced"):
        assert better(point(error=9, bears=0.1), point(excess=0.5), trade)
        assert not better(point(), point(), trade)
        assert better(point(error=0.5), point(), trade) and better(point(bears=2), point(), trade)
    assert better(point(error=0.5, bears=0.1), point(), "error")
    assert better(point(error=9, bears=2), point(), "reserve")
    assert better(point(error=0.5, bears=0.6), point(), "balanced")
    assert not better(point(error=0.5, bears=0.4), point(), "balanced")
    assert not better(point(excess=np.inf), point(excess=np.inf), "error")


def test_the_frontier_is_what_no_other_choice_beats_in_both():
    pairs = [(1.0, 1.0), (2.0, 3.0), (1.5, 4.0), (3.0, 2.0), (3.0, 9.0)]
    assert frontier(pairs) == [(1.0, 1.0), (3.0, 2.0)]


def test_a_law_offers_the_gains_that_act_on_its_machine(two_joint):
    law = VDC(two_joint, βk_f=(60.0, 90.0))
    assert law.searched == ("λ", "κ", "k_x", "βk_f")
    assert "K_I" in replace(law, K_I=3.0).searched
    assert [k.name for k in knobs(law, ("βk_f", "λ"), each=True)] == ["λ", "βk_f[1]", "βk_f[2]"]
    with pytest.raises(InputError, match="free: k_m is not among"):
        knobs(law, ("k_m",))
    linear = replace(machine("ieha-published-linear").plant, measured="states")
    assert MPC.design(linear, R=(0.5,), N=10).searched == ("R", "N")
    assert PID.design(linear, K_p=(1.0,), K_i=(0.0,)).searched == ("K_p",)


def test_a_knob_turns_its_entry_and_nothing_else(two_joint):
    loop = ClosedLoop(two_joint, Sampled(VDC(two_joint, βk_f=(60.0, 90.0)), 1e-3))
    every = knobs(law_of(loop), ("λ", "βk_f"), each=True)
    law = law_of(turned(loop, every, (1.0, 0.0, -1.0)))
    own = law_of(loop)
    assert law.λ == (16.0,) and law.βk_f == (60.0, 45.0)
    assert replace(law, λ=own.λ, βk_f=own.βk_f) == own
    assert law_of(turned(loop, every, (0.0, 0.0, 0.0))) == own


def test_a_horizon_is_turned_in_whole_samples_and_takes_its_references_along():
    plant = replace(machine("ieha-published-linear").plant, measured="states")
    loop = ClosedLoop(plant, Sampled(MPC.design(plant, R=(0.5,), N=10, T_s=2e-3), 2e-3))
    longer = turned(loop, knobs(law_of(loop), ("N",)), (1.0,))
    assert law_of(longer).N == 20
    assert len(longer.controller.references) > len(loop.controller.references)


@pytest.fixture(scope="module")
def found(servo):
    told = []
    claims = (Tracking(error="5 mm", settle=0.5), Saturation(counted=False))
    result = ByRuns().tune(servo.loop, servo.scenario, claims, told.append)
    assert told[-1] == 1.0 and sorted(told) == told
    return result


def test_less_error_is_found_and_no_less_is_borne(found, servo):
    """The gains chosen are judged again here, by runs of our own."""
    from workbench.run.metrics import rms
    from workbench.verification.run import run
    from workbench.verification.variant import variant

    assert found.better and found.met and found.chosen.whole
    assert found.chosen.bears >= found.start.bears == found.floor
    again = run(found.loop, servo.scenario)
    before = run(servo.loop, servo.scenario)
    assert rms(again.log.time, again.tool_error) == pytest.approx(found.chosen.error)
    assert rms(before.log.time, before.tool_error) == pytest.approx(found.start.error)
    assert found.chosen.error < 0.5 * found.start.error
    late = run(*variant(found.loop, servo.scenario, delay=found.chosen.bears))
    assert late.log.status.completed and np.abs(late.tool_error).max() < 50e-3


def test_a_search_is_repeatable_and_stays_within_its_runs(found, servo):
    claims = (Tracking(error="5 mm", settle=0.5), Saturation(counted=False))
    again = ByRuns().tune(servo.loop, servo.scenario, claims)
    assert [p.octaves for p in again.tried] == [p.octaves for p in found.tried]
    few = ByRuns(most=1).tune(servo.loop, servo.scenario, claims)
    assert len(few.tried) == 1 and not few.better and few.law == law_of(servo.loop)


def test_what_cannot_be_borne_is_not_met(servo):
    claims = (Tracking(error="5 mm", settle=0.5),)
    much = ByRuns(error=1e-9, most=6, free=("K_p",)).tune(servo.loop, servo.scenario, claims)
    assert not much.met and much.chosen.excess > 0


def test_a_sample_time_is_traded_likewise(servo):
    slow = replace(servo.scenario, reference=Sine("output", "start", (5e-3,), 1.0), duration=1.0)
    claims = (Tracking(error="5 mm", settle=0.5),)
    wish = ByRuns("reserve", "sample-time", free=("K_p",))
    result = wish.tune(servo.loop, slow, claims)
    assert result.what == "sample time" and result.ceiling == result.start.error
    assert result.chosen.error <= result.ceiling * (1 + 1e-9)
    assert result.chosen.bears >= result.start.bears


def test_the_picture_shows_start_and_chosen_and_says_its_units(found):
    ax = figure(found).axes[0]
    marks = {c.get_label(): c.get_offsets() for c in ax.collections}
    bears, error = marks["chosen"][0]
    assert bears == pytest.approx(1e3 * found.chosen.bears) and ax.get_xlabel().endswith("ms")
    scale = 1e6 if ax.get_ylabel().endswith("µm") else 1e3
    assert error == pytest.approx(scale * found.chosen.error)
    assert "<svg" in found._repr_html_() and "before" in found._repr_html_()


def test_the_command_writes_a_file_that_passes_and_pages(tmp_path, capsys):
    (tmp_path / "a.yaml").write_text(FILE, "utf-8")
    page = tmp_path / "a.html"
    given = ["tune", str(tmp_path / "a.yaml"), "--method", "runs", "--runs", "30"]
    more = ["--free", "K_p", "--write", str(tmp_path / "b.yaml"), "--report", str(page)]
    assert main([*given, *more]) == 0
    told = capsys.readouterr().out
    assert "delay borne" in told and "exit 0" in told
    text = (tmp_path / "b.yaml").read_text("utf-8")
    law = innermost(load(tmp_path / "b.yaml").controller)
    assert "# kept" in text and "K_i: 0.2" in text
    assert law.K_p[0] > 0.1 and f"{law.K_p[0]:g}" in told
    html = page.read_text("utf-8")
    assert "<svg" in html and "http" not in html.split("</style>")[1].split("<svg")[0]
    assert f"{law.K_p[0]:g}" in html


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "runs", "--disk-margin", "0.5"], "--disk-margin is for --method disk-margin"),
        (["--method", "relay", "--trade", "error"], "--trade is for --method runs"),
        (["--method", "runs", "--free", "K_q"], "free: K_q is not among"),
        (["--method", "runs", "--bears", "2 m"], "--bears"),
        (["--method", "runs", "--runs", "-3"], "most: must be greater than zero"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_way_out(tmp_path, capsys, options, words):
    (tmp_path / "a.yaml").write_text(FILE, "utf-8")
    assert main(["tune", str(tmp_path / "a.yaml"), *options]) == 3
    told = capsys.readouterr().err
    assert words in told and "mend:" in told


PRESS = """
plant:
  type: Mechanism
  method: minimal
  supply: {{p_s: 250 bar, p_r: 3 bar, Q_max: 80 l/min}}
  bodies: {{ram: {{joint: prismatic, axis: [0, 1, 0], mass: 850 kg, start: 0.4 m, hold: true}}}}
  actuators:
    main:
      joint: ram
      drive:
        type: ServoCylinder
        closed: 0 m
        cylinder: {{bore: 100 mm, rod: 70 mm, stroke: 0.8 m, friction: {{law: CoulombViscous, F_c: {F_c}, b: 900 N s/m}}}}
controller: {{law: PID}}
"""


def test_dry_friction_makes_runs_the_way_of_a_pid_unless_the_file_says_another():
    from types import SimpleNamespace

    from controllers.tuning_method import MARGIN, RUNS, by_runs

    none = SimpleNamespace(method=None, **dict.fromkeys((*MARGIN, *RUNS)))
    crane = "plant: {machine: hiab-xs031, lock: {extension: 0.5 m}}\ncontroller: {law: PID}\n"
    assert by_runs(none, loads(crane)) and not by_runs(none, loads(FILE))
    assert by_runs(none, loads(crane.replace("PID", "VDC")))
    assert not by_runs(SimpleNamespace(**{**vars(none), "disk_margin": 0.5}), loads(crane))
    rubbing, smooth = (loads(PRESS.format(F_c=force)) for force in ("50 N", "0 N"))
    assert by_runs(none, rubbing) and not by_runs(none, smooth)
