"""Other starts and how they come back, on hand-made logs: sizes, words, times, rates, the order of severity."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.run.reference import Hold, Waypoints
from workbench.run.scenario import Scenario
from workbench.verification.observed.response import Swings
from workbench.verification.practical import disturbed, returning, starts
from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.returning import Judged, Return
from workbench.verification.practical.starts import Start
from workbench.verification.scales import Scale, Scales

TIME = np.linspace(0.0, 11.0, 12)
TOOL = Judged("tool", ("x",), "m", 0.02)
PRESSURE = Judged("p", ("p",), "Pa", 0.02, pressure=True)


def back(first_half, sixths, signal=TOOL, least=1e-6):
    """How a signal came back: twelve instants, six of the first half, two of each of the last three sixths."""
    late = [value for value in sixths for _ in range(2)]
    return returning._returned(signal, TIME, np.array([*first_half, *late], float), least)


UP = (0.0, 1.0, 0.5, 0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    "sixths, tolerance, word",
    [
        ((0.3, 0.2, 0.1), 0.02, "back"),  # a tenth of the largest
        ((0.3, 0.2, 0.11), 0.02, "returning"),
        ((0.3, 0.3, 0.11), 0.02, "staying"),
        ((0.3, 0.2, 0.2), 0.02, "staying"),
        ((0.4, 0.39, 0.379), 0.02, "returning"),  # below 95 %
        ((0.4, 0.39, 0.381), 0.02, "staying"),
        ((0.3, 0.2, 0.4), 0.4, "back"),  # within the tolerance and half the largest
        ((0.3, 0.2, 0.5), 0.9, "back"),
        ((0.3, 0.2, 0.44), 0.9, "back"),
        ((0.3, 0.2, 0.51), 0.02, "growing"),  # more than 1.5 times what it was
        ((0.4, 0.2, 0.59), 0.02, "staying"),
        ((0.3, 0.2, 0.51), 0.6, "staying"),  # and within its tolerance
        ((0.3, 0.2, math.nan), 0.02, "growing"),
        ((math.inf, 0.2, 0.0), 0.02, "growing"),
    ],
)
def test_words_of_a_return(sixths, tolerance, word):
    found = back(UP, sixths, replace(TOOL, tolerance=tolerance))
    assert found.word == word and found.largest == 1.0 and found.moved
    assert found.last == pytest.approx(sixths[2], nan_ok=True)
    if word != "back":
        assert found.after == math.inf and found.rate == 0.0


def test_a_pressure_grows_only_beyond_what_it_ever_was():
    assert back(UP, (0.3, 0.2, 0.9), PRESSURE).word == "staying"
    assert back(UP, (0.3, 0.2, 1.1), PRESSURE).word == "growing"
    assert back(UP, (0.3, 0.2, 0.9), PRESSURE).lenient
    assert not back(UP, (0.3, 0.2, 1.1), PRESSURE).lenient
    assert not back(UP, (0.3, 0.2, 0.9)).lenient


def test_when_and_how_fast_it_came_back():
    """Above a tenth of 1 for the last time at t = 5: ln 10 over the four seconds from its largest value at 1."""
    found = back(UP, (0.1, 0.05, 0.01))
    assert found.after == 5.0 and found.rate == pytest.approx(math.log(10) / 4)
    late = back((0.0, 0.2, 0.2, 0.2, 0.2, 1.0), (0.1, 0.1, 0.0))
    assert (late.after, late.rate) == (5.0, math.inf)  # down in one step
    never = back((0.0,) * 6, (0.0, 0.0, 0.0))
    assert (never.word, never.after, never.rate, never.moved) == ("back", 0.0, math.inf, False)
    rounding = back((0.0, 1e-7, 0, 0, 0, 0), (1e-6, 1e-7, 0.0))
    assert rounding.word == "back" and not rounding.moved
    assert back((0.0, 1e-7, 0, 0, 0, 0), (2e-6, 1e-7, 0.0)).moved


def test_the_order_of_severity():
    """Grows, stays, returns, is back, the slowest or farthest of a kind first; pressures that do not grow last."""

    def one(word, last=0.1, largest=1.0, after=math.inf, signal=TOOL, moved=True):
        return Return(signal, word, largest, last, after, 0.0, moved)

    order = [
        one("growing"),
        one("growing", signal=PRESSURE, last=0.05),
        one("staying", last=0.3),
        one("staying", last=0.4, largest=2.0),
        one("returning"),
        one("back", after=4.0),
        one("back", after=3.0),
        one("staying", last=9.0, signal=PRESSURE),
        one("staying", last=8.0, signal=PRESSURE),
    ]
    assert sorted(order, key=returning.severity, reverse=True) == order
    assert returning.severity(None) < returning.severity(order[-1])
    assert returning.worst_of(order[::-1]) is order[0]
    assert returning.worst_of([replace(order[0], moved=False), order[5]]) is order[5]
    assert returning.worst_of([]) is None


def logged(**columns):
    names = list(columns)
    units = {"p": "Pa", "q": "rad", "x": "m", "dx": "m/s", "dq": "rad/s", "z": "1"}
    signals = tuple(Signal(n, units.get(n, "m")) for n in names)
    n = len(next(iter(columns.values())))
    values = np.column_stack(list(columns.values())).astype(float)
    return Log(np.arange(float(n)), values, signals, {}, Status(True, "completed", float(n)))


class Plant:
    """Position and rate of a slide and of a joint, a pressure, a number."""

    states = tuple(
        Signal(n, u)
        for n, u in (
            ("x", "m"),
            ("q", "rad"),
            ("dx", "m/s"),
            ("dq", "rad/s"),
            ("p", "Pa"),
            ("z", "1"),
        )
    )
    outputs = monitors = ()
    inputs = ()
    joint_names = ()
    pressure_names = ("p",)

    def __init__(self, **own):
        self.own = own

    def scales(self):
        return {k: SimpleNamespace(value=v) for k, v in self.own.items()}

    def limits(self):
        return {}

    def free_joints(self, commands):
        return ()


def ran(plant=None, log=None, **more):
    loop = SimpleNamespace(
        plant=plant or Plant(),
        inputs=(),
        controller=SimpleNamespace(commands=(), inner=None, open=False),
    )
    log = log or logged(
        x=[0, 3.0, 1],
        q=[0, 0, 0.0],
        dx=[0, 9, 0.0],
        dq=[0, 0, 0.0],
        p=[1e6, -4e6, 0],
        z=[5, 5, 7.0],
    )
    return SimpleNamespace(loop=loop, log=log, kept={}, **more)


def test_distances_over_the_instants_both_runs_have():
    """√(3² + 4²) of a signal with two columns, the shorter log deciding how far."""
    one = ran(log=logged(a=[0, 3, 0, 9], b=[0, 4, 1, 9]))
    other = ran(log=logged(a=[0, 0, 0], b=[0, 0, 0]))
    signal = Judged("tool", ("a", "b"), "m", 0.0)
    assert returning.distances(one, other, [signal])["tool"].tolist() == [0, 5, 1]


def test_stretches_of_time_and_their_largest_distance():
    t, d = returning.thinned(np.arange(10.0), np.array([1, 2, 5, 4, 3, 6, 0, 0, 9, 9.0]), 3)
    assert t.tolist() == [0, 3, 6] and d.tolist() == [5, 6, 9]
    few = returning.thinned(np.arange(2.0), np.array([1, 2.0]), 3)
    assert few[0].tolist() == [0, 1] and few[1].tolist() == [1, 2]


@pytest.mark.parametrize(
    "scales, found",
    [
        # a tenth of what it covered, at least what nobody states; a rate two of that a second
        (
            {},
            {"x": 0.3, "q": 1e-2, "dx": 0.6, "dq": 2e-2, "p": 0.02 * 4e6, "z": 0.2},
        ),
        # a thousandth of the plant's own scale at least; numbers that it does not state move by what they covered
        (
            {"length": 900.0, "angle": 2.0, "pressure": 3e7},
            {"x": 0.9, "q": 2e-3, "dx": 1.8, "dq": 4e-3, "p": 6e5, "z": 0.2},
        ),
    ],
)
def test_sizes_of_a_start(scales, found):
    assert starts.sizes(ran(Plant(**scales)), 0.02) == pytest.approx(found)


def test_sizes_where_nothing_moved_or_nothing_is_known():
    still = logged(**{n: [0.0, 0.0] for n in ("x", "q", "dx", "dq", "p", "z")})
    assert starts.sizes(ran(log=still), 0.02) == pytest.approx(
        {"x": 1e-3, "q": 1e-2, "dx": 2e-3, "dq": 2e-2, "p": 1e5, "z": 1e-2}
    )
    stated = starts.sizes(ran(Plant(force=1.0), log=still), 0.02)
    assert "z" not in stated and stated["p"] == 1e5
    gone = logged(
        x=[0.0, 2.0, np.nan], q=[np.nan] * 3, dx=[0, 0, 0], dq=[0, 0, 0], p=[0, 0, 0], z=[0, 0, 0]
    )
    found = starts.sizes(ran(log=gone), 0.02)
    assert found["x"] == pytest.approx(0.2) and found["q"] == pytest.approx(1e-2)


def test_a_state_whose_name_ends_like_a_position_is_moved_too():
    """Tx is no rate of x; a temperature that nothing moved would be seen by nobody."""
    plant = Plant()
    plant.states = (*plant.states, Signal("Tx", "K"))
    still = logged(**{n: [0.0, 4.0] for n in ("x", "q", "dx", "dq", "p", "z", "Tx")})
    assert starts.sizes(ran(plant, still), 0.02)["Tx"] == pytest.approx(0.4)


def test_positions_are_joints_and_lengths_whose_rate_is_a_state():
    plant = Plant()
    assert starts.positions(plant) == ["x", "q"]
    plant.joint_names = ("q", "absent")
    assert starts.positions(plant) == ["q", "x"]


def test_starts_in_opposite_pairs_from_the_seed():
    run = ran(scenario=SimpleNamespace(seed=4))
    own = starts.sizes(run, 0.02)
    found = starts.drawn(run, 5, 0.02)
    assert len(found) == 5
    for one, other in (found[:2], found[2:4]):
        assert other.amounts == {name: -amount for name, amount in one.amounts.items()}
    shares = np.array([abs(s.amounts[n]) / own[n] for s in found for n in own])
    assert 0.3 <= shares.min() and shares.max() <= 1.0
    assert starts.drawn(run, 5, 0.02) == found
    assert starts.drawn(ran(scenario=SimpleNamespace(seed=5)), 5, 0.02) != found
    assert Start({"x": 0.25, "q": -3.0}).words == "x +0.25, q -3"


def test_a_start_adds_to_what_the_scenario_moves_already():
    base = Scenario(duration=1.0, offset={"x": 1.0, "z": 2.0})
    found = starts.scenario_from(ran(), Start({"x": 0.5, "q": -1.0}), base)
    assert found.offset == {"x": 1.5, "z": 2.0, "q": -1.0} and found.start == base.start


# ---- runs of practical stability ---------------------------------------------------------------------------------------------
PATH = Waypoints("output", ((0.0,), (1.0,), (0.0,)), 0.5, dwell=0.25)  # 1 s and a rest


def test_a_closed_path_is_walked_again_and_any_other_held():
    """Laps of 1.5 s, the rest at the corner and at the end in them: two begin in two seconds, two end with the third."""
    given = Scenario(duration=1.0, reference=PATH)
    twice = disturbed.longer(given)
    assert twice.reference.repeat == 2 and twice.duration == 2.25
    assert PATH.duration + PATH.dwell == pytest.approx(1.5)
    assert disturbed.longer(given, 3.0).reference.repeat == 2
    assert disturbed.longer(given, 3.1).reference.repeat == 3
    assert disturbed.longer(given, 0.1).reference.repeat == 1
    again = disturbed.longer(Scenario(duration=1.0, reference=replace(PATH, repeat=3)), 9.0)
    lap = replace(PATH, repeat=3).duration + 0.25
    assert again.reference.repeat == 3 * math.ceil(9.0 / lap)
    open_ = replace(PATH, points=((0.0,), (1.0,)))
    held = disturbed.longer(Scenario(duration=1.5, reference=open_))
    assert held.reference is open_ and held.duration == 3.0
    assert disturbed.longer(Scenario(duration=1.5), 7.0).duration == 7.0


def ended(completed=True, followed=True, left=(math.inf, "")):
    status = SimpleNamespace(completed=completed, message="diverged", t_end=0.7, followed=followed)
    end = left[1] or ("" if completed else "diverged")
    return SimpleNamespace(log=SimpleNamespace(status=status), left=left, end=end, loop=None)


def test_the_largest_v_after_settling_when_and_why():
    t, v = np.linspace(0.0, 4.0, 9), np.array([99, 50, 1, 2, 7, 3, 6, 1, 1.0])
    run = ended()
    run.storage = t, v
    terms = {("arm", "body", "hold"): np.array([2.0]), ("arm", "tip", "model"): np.array([5.0])}
    run.at = lambda k: SimpleNamespace(perturbations=terms if k == 4 else {})
    assert disturbed.settled_storage(run, 1.0) == (7.0, 2.0, "structure arm, model term of tip")
    run.at = lambda k: SimpleNamespace(perturbations=terms if k == 8 else {})
    run.storage = t, np.append(v[:-1], 1.5)
    assert disturbed.settled_storage(run, 9.0)[:2] == (1.5, 4.0)  # the last tenth of a shorter run
    run.storage = t, np.array([0, 0, 0, 1, np.nan, 0, 0, 0, 0.0])
    assert disturbed.settled_storage(run, 1.0) == (math.inf, 2.0, "v is not finite at t = 2.000 s")
    assert disturbed.settled_storage(ended(False), 1.0) == (math.inf, 0.7, "diverged")
    out = disturbed.settled_storage(ended(left=(0.3, "piston 1")), 1.0)
    assert out == (math.inf, 0.3, "piston 1")


@pytest.mark.parametrize(
    "tool, path, length, floor",
    [
        (True, 3e-3, 5e-3, 1e-3),
        (False, 3e-3, None, 3e-5),
        (False, 3e-3, 2e-3, 2e-5),
        (False, 0.0, 5e-3, 5e-5),
        (False, 0.0, None, 1e-3),
        (False, 2.0, 0.6, 1e-3),
    ],
)
def test_what_is_no_oscillation_is_measured_by_the_path_and_the_machine(
    monkeypatch, tool, path, length, floor
):
    known = {} if length is None else {"length": Scale(length, "stroke")}
    plant = SimpleNamespace(has_tool=tool)
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant), scenario=None, error_unit="m")
    monkeypatch.setattr(disturbed, "path_size", lambda loop, scenario: path)
    monkeypatch.setattr(disturbed, "scales", lambda plant: Scales(**known))
    assert disturbed.floor_of(run) == pytest.approx(floor)


@pytest.mark.parametrize("followed", [True, False])
def test_a_disturbed_run_that_ends_early(followed, monkeypatch):
    monkeypatch.setattr(disturbed, "extent_of", lambda run: None)
    found = disturbed.observe(ended(False, followed), None, (), 1.0)
    assert (found.v, found.t, found.gone, found.followed) == (math.inf, 0.7, "diverged", followed)
    assert disturbed.observe(ended(left=(0.3, "piston 1")), None, (), 1.0).gone == "piston 1"


def test_an_oscillation_in_words(monkeypatch):
    def told(found, alike=False):
        seen = SimpleNamespace(worst=lambda chatter: found)
        own = Swings(seen, open=alike)
        monkeypatch.setattr(disturbed, "swings", lambda run, floor, chatter: own)
        return disturbed.restless(None)

    monkeypatch.setattr(disturbed, "floor_of", lambda run: 1e-3)
    cycle = ("q_1", "limit cycle", 2.3456, 0.1, "rad")
    assert told(None) == ""
    assert told(cycle) == "limit cycle of q_1, 2.35 Hz"
    assert told(cycle, alike=True) == ""  # it cannot be told from what time drives


def test_what_is_looked_at_for_longer():
    def of(word, signal=TOOL, moved=True):
        return Outcome(0, 0, "", "", "", (Return(signal, word, 1.0, 0.5, 9.0, 0.0, moved),))

    longer = disturbed._wants_longer
    assert [longer(of(w)) for w in ("returning", "staying", "growing", "back")] == [
        True,
        True,
        False,
        False,
    ]
    assert not longer(of("staying", PRESSURE)) and not longer(of("staying", moved=False))


def looked(monkeypatch, words, length=2.0, slowest=None, **claim):
    """(durations that were run, how many starts each time) where the starts come back with these words, look by look."""
    asked = []
    words = iter(words)

    def undisturbed(run, duration):
        asked.append([duration, 0])
        return SimpleNamespace(scenario=None)

    def run_many(jobs, look, tick):
        asked[-1][1] = len(jobs)
        row = next(words)
        return [
            Outcome(0, 0, "", "", "", (Return(TOOL, row[k], 1.0, 0.5, 9.0, 0.0, True),))
            for k in range(len(jobs))
        ]

    for name, what in (("undisturbed", undisturbed), ("run_many", run_many)):
        monkeypatch.setattr(disturbed, name, what)
    for name in ("judged", "sizes", "scenario_from"):
        monkeypatch.setattr(disturbed, name, lambda *given: None)
    given = {"duration": None, "longest": 30.0, "spread": 0.02, "settle": 1.0} | claim
    modes = SimpleNamespace(slowest=slowest and SimpleNamespace(settles=slowest))
    run = SimpleNamespace(scenario=SimpleNamespace(length=lambda: length), loop=None)
    found, duration = disturbed.disturbed(
        SimpleNamespace(**given), run, [Start({})] * 3, None, modes, None
    )
    assert all(one is not None for one in found)
    return [tuple(a) for a in asked], duration


STAY, BACK = ["staying"] * 3, ["back"] * 3


def test_disturbed_runs_are_made_longer_while_something_is_on_its_way(monkeypatch):
    """Twice the run, doubled up to the limit; only the starts that need it."""
    assert looked(monkeypatch, [BACK]) == ([(4.0, 3)], 4.0)
    assert looked(monkeypatch, [["back", "staying", "back"], BACK]) == ([(4.0, 3), (8.0, 1)], 8.0)
    assert looked(monkeypatch, [STAY] * 4, longest=10.0) == ([(4.0, 3), (8.0, 3), (10.0, 3)], 10.0)
    assert looked(monkeypatch, [BACK], slowest=7.0)[1] == 7.0
    assert looked(monkeypatch, [BACK], slowest=70.0)[1] == 30.0
    assert looked(monkeypatch, [BACK], slowest=1.0)[1] == 4.0
    assert looked(monkeypatch, [STAY], duration=50.0) == ([(50.0, 3)], 50.0)
    assert looked(monkeypatch, [BACK], duration=3.0)[1] == 3.0


def test_a_run_that_stands_still():
    """No position moves by more than rounding of its largest value, or a millionth of the plant's length."""

    def still(x, **scales):
        columns = {n: np.zeros(len(x)) for n in ("q", "dx", "dq", "p", "z")} | {"x": x}
        return disturbed.stands_still(ran(Plant(**scales), log=logged(**columns)))

    assert still([1.0, 1.0 + 0.9e-9]) and not still([1.0, 1.0 + 1.1e-9])
    assert still([0.0, 0.9e-6], length=1.0) and not still([0.0, 1.1e-6], length=1.0)


def test_a_run_that_ends_while_settling_is_repeated_over_twice_that_time(monkeypatch):
    monkeypatch.setattr(disturbed, "undisturbed", lambda run, duration: duration)
    for completed, end, found in (
        (True, 2.9, 6.0),
        (True, 3.0, 6.0),
        (True, 3.1, None),
        (False, 1.0, None),
    ):
        run = SimpleNamespace(
            log=SimpleNamespace(time=[0.0, end], status=SimpleNamespace(completed=completed))
        )
        assert (
            disturbed.lasting(run, 3.0) is run
            if found is None
            else disturbed.lasting(run, 3.0) == found
        )


def test_a_settled_part_that_rests_is_walked_again(monkeypatch):
    monkeypatch.setattr(disturbed, "undisturbed", lambda run, duration: duration)

    def walked(settle, completed=True, reference=PATH):
        run = SimpleNamespace(
            scenario=Scenario(duration=3.0, reference=reference),
            log=SimpleNamespace(status=SimpleNamespace(completed=completed)),
        )
        found = disturbed.walking(run, settle)
        return None if found is run else found

    lap = disturbed.ends(PATH)
    assert walked(lap / 2) is None and walked(lap / 2 + 0.01) == 6.0
    assert walked(9.0, completed=False) is None
    assert walked(9.0, reference=Hold("output", (0.0,))) is None
