"""Requirements read off hand-made runs: each verdict on both sides of its edge, with every number beside it."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.verification.observed import requirements, settled, shares, tail
from workbench.verification.results import limits as report_limits
from workbench.verification.run import Run
from workbench.verification.run_claims import Pressures, Saturation, Settled, Tracking

TIME = np.linspace(0.0, 4.0, 9)
ENDED = Status(True, "completed", 4.0)
BLEW = Status(False, "diverged: q_1 is not finite", 2.5, "q_1")
UNKNOWN = Status(False, "no step short enough", 2.5, "q_1", followed=False)


def ran(status=ENDED, error=None, units=None, plant=None, controller=None, time=TIME, **columns):
    names = list(columns) or ["x"]
    signals = tuple(Signal(n, (units or {}).get(n, "Pa")) for n in names)
    values = [np.broadcast_to(columns.get(n, 0.0), time.shape) for n in names]
    log = Log(time, np.column_stack(values), signals, {}, status)
    own = {
        "has_tool": True,
        "p_top": 2e7,
        "pressure_names": tuple(n for n in names if n.startswith("p")),
        "limits": dict,
    }
    run = SimpleNamespace(
        log=log,
        tool_error=None if error is None else np.array(error, float),
        error_unit="m",
        hollow=(math.inf, ""),
        valves=None,
        end="" if status.completed else status.message,
        loop=SimpleNamespace(plant=SimpleNamespace(**(own | (plant or {}))), controller=controller),
    )
    run.settled = lambda after: Run.settled(run, after)
    return run


@pytest.mark.parametrize(
    "check, claim",
    [
        (requirements.check_tracking, Tracking(counted=False)),
        (requirements.check_pressures, Pressures(counted=False)),
        (shares.check_saturation, Saturation(counted=False)),
        (settled.check_settled, Settled(counted=False)),
    ],
)
def test_a_run_that_did_not_reach_its_end(check, claim):
    """Violated where it diverged, with where it ended; undecided where integrator or equations end."""
    found = check(claim, ran(BLEW, error=[0] * 9))
    assert found.holds is False and found.strength == "sampled" and found.counted is False
    assert found.worst == BLEW.message and found.data == {"t_end": 2.5, "state": "q_1"}
    lost = check(claim, ran(UNKNOWN, error=[0] * 9))
    assert lost.holds is None and lost.worst == UNKNOWN.message and lost.counted is False


# ---- tracking -------------------------------------------------------------------------------------------------------------
E = [9e-3, 9e-3, 1e-3, 2e-3, 4e-3, 3e-3, 1e-3, 0.0, 0.0]


@pytest.mark.parametrize("allowed, holds", [(4e-3, True), (3.9e-3, False), (5e-3, True)])
def test_the_largest_error_after_settling(allowed, holds):
    """From one second on, at two: 4 mm; rms √((1 + 4 + 16 + 9 + 1)/7) mm."""
    found = requirements.check_tracking(Tracking(error=allowed, settle=1.0), ran(error=E))
    assert found.holds is holds and found.strength == "sampled" and found.unit == "m"
    assert found.margin == pytest.approx(allowed - 4e-3) and found.limit == allowed
    assert found.worst == "4 mm at t = 2.00 s" and found.claim.startswith(
        "tracking: always[1 s, end] (tool_error <= "
    )
    assert found.data == {
        "largest": 4e-3,
        "rms": pytest.approx(1e-3 * math.sqrt(31 / 7)),
    }
    outputs = requirements.check_tracking(
        Tracking(error=allowed, settle=1.0), ran(error=E, plant={"has_tool": False})
    )
    assert outputs.claim == found.claim


def test_what_a_path_error_is_not_decided_on():
    nothing = requirements.check_tracking(Tracking(settle=1.0), ran())
    assert nothing.holds is None and "should be" in nothing.worst
    for settle, decided in ((3.9, True), (4.0, False), (5.0, False)):
        found = requirements.check_tracking(Tracking(settle=settle), ran(error=E))
        assert (found.holds is not None) is decided
    assert "ends at 4 s, within the 5 s allowed" in found.worst


# ---- pressures ------------------------------------------------------------------------------------------------------------
P = np.array([5e6] * 9)


def at(k, value):
    p = P.copy()
    p[k] = value
    return p


@pytest.mark.parametrize(
    "p, low, high, holds, margin, limit, t",
    [
        (at(3, 2e7), 1e5, 2e7, True, 0.0, 2e7, 1.5),
        (at(3, 2.1e7), 1e5, 2e7, False, -1e6, 2e7, 1.5),
        (at(6, 1e5), 1e5, 2e7, True, 0.0, 1e5, 3.0),
        (at(6, 0.4e5), 1e5, 2e7, False, -0.6e5, 1e5, 3.0),
        (at(2, 6e6), 1e5, None, True, 4.9e6, 1e5, 0.0),
        (at(2, 2.6e7), 1e5, None, False, -1e6, 2.5e7, 1.0),
    ],
)
def test_pressures_within_their_limits(p, low, high, holds, margin, limit, t):
    """The upper one is 1.25 times the supply's where none is stated."""
    run = ran(p_a=p, p_b=9e6, other=9e9)
    found = requirements.check_pressures(Pressures(low=low, high=high), run)
    assert found.holds is holds and found.strength == "sampled" and found.unit == "Pa"
    assert found.margin == pytest.approx(margin) and found.limit == limit
    assert found.worst.startswith("p_a = ") and found.worst.endswith(f"at t = {t:.2f} s")
    assert set(found.data) == {"p_a", "p_b"} and found.data["p_a"] == found.margin
    top = 2.5e7 if high is None else high
    assert found.claim == (
        f"pressures: always (p_lowest >= 1 bar and p_highest <= {top / 1e5:g} bar)"
    )
    assert found.data["p_b"] == pytest.approx(min(9e6 - low, top - 9e6))


def test_pressures_without_an_upper_limit_or_without_names():
    free = requirements.check_pressures(
        Pressures(low=2e5), ran(plant={"p_top": None}, p_a=at(3, 9e9))
    )
    assert free.holds is True and free.claim == "pressures: always (p_lowest >= 2 bar)"
    assert free.margin == pytest.approx(5e6 - 2e5)
    none = requirements.check_pressures(Pressures(), ran(x=0.0))
    assert none.holds is None and none.worst == "the plant names no chamber pressures"


@pytest.mark.parametrize(
    "low, high, holds, margin, limit",
    [
        (3e6, 9e6, True, 1e6, 3e6),  # all of 4 … 6 MPa is inside, by 1 MPa at least
        (4.5e6, 9e6, None, -0.5e6, 4.5e6),  # only a part
        (3e6, 5.5e6, None, -0.5e6, 5.5e6),
        (6.5e6, 9e6, False, -0.5e6, 6.5e6),  # none of it
        (1e5, 3.5e6, False, -0.5e6, 3.5e6),
    ],
)
def test_pressures_that_a_balance_leaves_open(low, high, holds, margin, limit):
    """Anywhere between 4 and 6 MPa: violated where no pressure of the range fits, undecided where only some do."""
    run = ran(p_a=P)
    run.valves = SimpleNamespace(ranges={"p_a": (0 * P + 4e6, 0 * P + 6e6)})
    found = requirements.check_pressures(Pressures(low=low, high=high), run)
    assert found.holds is holds and found.margin == pytest.approx(margin)
    assert found.limit == limit and "anywhere between 4 MPa and 6 MPa" in found.worst.replace(
        "40 bar", "4 MPa"
    ).replace("60 bar", "6 MPa")


def test_a_chamber_below_vacuum_is_told():
    run = ran(p_a=P)
    run.hollow = (1.0, "p_a falls below vacuum")
    found = requirements.check_pressures(Pressures(), run)
    assert found.worst.endswith("; p_a falls below vacuum")


# ---- saturation -----------------------------------------------------------------------------------------------------------
def commands(u, w, limits, **claim):
    run = ran(units={"u": "V", "w": "V"}, plant={"limits": lambda: limits}, u=u, w=w)
    return shares.check_saturation(Saturation(**claim), run)


U = np.array([0, 10, 10, -10, 0, 0, 0, 0, 3.0])


@pytest.mark.parametrize("share, holds", [(3 / 9, True), (0.33, False), (0.5, True)])
def test_the_share_of_time_at_a_limit(share, holds):
    found = commands(U, 0.1 * U, {"u": (-10.0, 10.0), "w": (-1.0, 2.0)}, share=share)
    assert found.holds is holds and found.strength == "sampled" and found.unit == "1"
    assert found.margin == pytest.approx(share - 3 / 9) and found.limit == share
    assert found.worst == "u: 33.3 % of the time, up to 10 V"
    assert found.data["shares"] == pytest.approx({"u": 3 / 9, "w": 1 / 9})
    said = "33 %" if share == 0.33 else "50 %" if share == 0.5 else "0.333333"
    assert found.claim == f"saturation: always (at_limit <= {said})"
    assert found.margin == share - 3 / 9, "to the last bit"


def test_a_billionth_of_the_range_from_a_limit_is_at_it():
    near = U - np.sign(U) * 1.9e-8 * (np.abs(U) == 10)
    assert commands(near, 0 * U, {"u": (-10.0, 10.0)}).data["shares"]["u"] == pytest.approx(3 / 9)
    off = U - np.sign(U) * 2.1e-8 * (np.abs(U) == 10)
    assert commands(off, 0 * U, {"u": (-10.0, 10.0)}).data["shares"]["u"] == 0.0
    assert commands(U, U, {}).holds is None


# ---- sizes with units -----------------------------------------------------------------------------------------------------
def test_a_size_in_the_first_unit_that_suits_it():
    size = lambda value, *units: requirements.size_of(SimpleNamespace(floor=value), "floor", units)
    assert size(0.3, "m") == 0.3 and size("2 mm", "m") == pytest.approx(2e-3)
    assert size("2 deg", "m", "rad") == pytest.approx(math.radians(2))
    assert (
        size(
            "3",
        )
        == 3.0
    )
    for value in (0.0, -1.0, "0 mm"):
        with pytest.raises(InputError, match="must be greater than zero"):
            size(value, "m")
    with pytest.raises(InputError, match="floor: "):
        size("2 mm", "rad", "Pa")


def test_sizes_given_as_text_become_numbers():
    plant = SimpleNamespace(
        has_tool=True, joint_names=("q",), states=(Signal("q", "rad"),), outputs=()
    )
    loop = SimpleNamespace(plant=plant, inputs=())
    found = requirements.in_si(Tracking(error="3 mm"), loop)
    assert found.error == pytest.approx(3e-3)
    plain = Tracking(error=2.0)
    assert requirements.in_si(plain, loop) is plain
    assert requirements.error_units(loop) == ["rad"]


# ---- at rest --------------------------------------------------------------------------------------------------------------
def rested(monkeypatch, tails, length=4.0, longest=30.0, status=ENDED):
    """The verdict where the errors of longer and longer tails are these: lists of Rest."""
    asked, tails = [], iter(tails)

    def held(run, duration):
        asked.append(duration)
        units = {"q": "rad", "r": "rad"}
        return SimpleNamespace(log=ran(status, units=units, q=0.0, r=0.0).log)

    monkeypatch.setattr(settled, "held", held)
    monkeypatch.setattr(settled, "courses", lambda *_: [])  # what is drawn of it
    monkeypatch.setattr(settled, "moves_until", lambda end: 0.0)
    monkeypatch.setattr(settled, "rests", lambda end, begin, floor: next(tails))
    loop = SimpleNamespace(period=None)
    run = SimpleNamespace(scenario=SimpleNamespace(length=lambda: length), kept={}, loop=loop)

    def said(holds, worst, **data):
        return holds, worst, data

    claim = SimpleNamespace(longest=longest)
    return (*settled._at_rest(claim, run, 1e-3, "quiet", said, None), asked)


REST = tail.Rest


def test_what_stands_still_after_the_run(monkeypatch):
    """A tail half as long as the run, two seconds at least; then one that is four times as long, up to the longest."""
    still = [REST("q", 1e-4, "still")]
    assert rested(monkeypatch, [still] * 2) == (
        True,
        "quiet; at rest for 2 s after it",
        {"tail": 2.0},
        [6.0, 12.0],
    )
    assert rested(monkeypatch, [still] * 2, length=10.0)[2:] == ({"tail": 5.0}, [15.0, 30.0])
    assert rested(monkeypatch, [[]] * 2)[0] is True


def test_what_decays_is_followed_in_tails_of_twice_the_length(monkeypatch):
    falling = [REST("q", 4e-3, "decaying"), REST("r", 9e-3, "still")]
    still = [REST("q", 1e-4, "still")]
    found = rested(monkeypatch, [falling, falling, still, still])
    assert found[0] is True and found[2] == {"tail": 8.0}
    assert found[3] == [6.0, 8.0, 12.0, 34.0]  # four times 8 s, 30 s at most
    slow = rested(monkeypatch, [falling] * 9, longest=10.0)
    assert slow[0] is None and slow[3] == [6.0, 8.0, 12.0, 14.0]
    assert slow[2] == {"signal": "q", "tail": 10.0}
    assert slow[1].startswith("q still swings by ") and "after 10 s at rest" in slow[1]
    assert settled.say(2e-3, "rad", 3) in slow[1]
    long = rested(monkeypatch, [falling] * 9, length=20.0, longest=5.0)
    assert long[3] == [30.0, 40.0]  # as long as the run itself, at least


def test_what_creeps_or_hunts_at_rest(monkeypatch):
    creeping = [REST("q", 4e-3, "creeping"), REST("r", 9e-3, "decaying")]
    found = rested(monkeypatch, [creeping] * 9, longest=2.0)
    assert found[0] is None and found[1].startswith("q creeps by ")
    hunting = [REST("q", 4e-3, "restless", 1.5), REST("r", 9e-3, "creeping")]
    found = rested(monkeypatch, [hunting])
    assert found[0] is False and "limit cycle of q at rest, 1.5 Hz, amplitude " in found[1]
    assert found[1].endswith("held for 2 s at its end")
    assert found[2] == {
        "signal": "q",
        "kind": "limit cycle",
        "frequency": 1.5,
        "amplitude": 2e-3,
    }
    unknown = rested(monkeypatch, [[REST("q", 4e-3, "restless")]])
    assert unknown[2]["frequency"] is None and "Hz" not in unknown[1]
    worse = rested(monkeypatch, [[REST("q", 1e-3, "restless"), REST("r", 5e-3, "restless")]])
    assert worse[2]["signal"] == "r" and worse[2]["amplitude"] == 2.5e-3


@pytest.mark.parametrize("status, holds", [(BLEW, False), (UNKNOWN, None)])
def test_a_tail_that_does_not_reach_its_end(monkeypatch, status, holds):
    found = rested(monkeypatch, [], status=status)
    assert found[0] is holds and found[1] == f"held at its end: {status.message}"


def test_half_a_swing_is_no_pace():
    """Three passes through the middle are one and a half swings."""
    t = np.linspace(0.0, 4.0, 4001)
    for passes, pace in ((2, math.nan), (3, 3 / 2 / 3.0), (6, 1.0)):
        later = np.maximum(t - 1.0, 0.0)
        wave = np.cos(np.pi * passes / 3.0 * later)
        assert tail._turns(wave) == passes
        assert tail._pace(t, wave) == pytest.approx(pace, nan_ok=True)
        assert tail._swings(wave) is (passes >= 6)


def test_too_few_instants_in_a_tail_go_on_decaying():
    t = np.linspace(0, 1, 64)
    assert tail._rest("x", t[:63], np.ones(63), 1e-3, False) == REST("x", 0.0, "decaying")
    found = tail._rest("x", t, 0 * t, 1e-3, False)
    assert (found.word, found.width) == ("still", 0.0) and math.isnan(found.frequency)
    ramp = tail._rest("x", t, t, 1e-3, False)
    assert ramp.word == "creeping" and ramp.width == pytest.approx(t[15])
    for width, word in ((1.9e-3, "still"), (2.1e-3, "restless")):
        sign = np.where(np.arange(640) // 8 % 2, 0.5, -0.5)
        assert tail._rest("x", np.linspace(0, 1, 640), width * sign, 1e-3, False).word == word


# ---- limits that a report draws ---------------------------------------------------------------------------------------------
def test_what_is_at_its_limit_and_when():
    """A billionth of a command's range, a millionth of another's; an open side counts by the other."""
    law = SimpleNamespace(
        u_max=8.0,
        limits=(
            SimpleNamespace(name="y", low=None, high=2.0, soft=True),
            SimpleNamespace(name="absent", low=0.0, high=1.0, soft=False),
        ),
    )
    u = np.array([0, 8 - 1.5e-8, 8 - 1.7e-8, -8, -8 + 1.5e-8, -8 + 1.7e-8, 0, 0, 9])
    y = np.array([0, 2 - 1.9e-6, 2 - 2.1e-6, -50, 0, 0, 0, 2, 3.0])
    run = ran(units={"u": "V", "y": "m"}, u=u, y=y, plant={"limits": lambda: {"u": (-10.0, 9.0)}})
    run.loop.period = None
    run.loop.controller = SimpleNamespace(commands=(Signal("u", "V"),), inner=None)
    patched = pytest.MonkeyPatch()
    with patched.context() as m:
        m.setattr(report_limits, "law_of", lambda loop: law)
        command, output = report_limits.limits(run)
    assert (command["name"], command["kind"], command["unit"]) == ("u", "command", "V")
    assert (command["low"], command["high"], command["soft"]) == (-8.0, 8.0, False)
    assert np.flatnonzero(command["active"]).tolist() == [1, 3, 4, 8]
    assert command["share"] == pytest.approx(4 / 9) and (command["value"] == u).all()
    assert (output["low"], output["high"], output["soft"]) == (-np.inf, 2.0, True)
    assert np.flatnonzero(output["active"]).tolist() == [1, 7, 8] and output["kind"] == "output"
    assert output["unit"] == "m" and (output["t"] == TIME).all()
