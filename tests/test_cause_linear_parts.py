"""Parts of the search for the change that holds a loop, and the energy a verdict rests on: matrices and accounts by hand."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.pid.law import PID
from plants import LinearActuator
from workbench import ClosedLoop, Delayed, Sampled, Scenario
from workbench.contract.plain import Plain
from workbench.contract.system import Signal
from workbench.verification.cause import feedback as cause_feedback
from workbench.verification.cause import linear as cause_linear
from workbench.verification.cause.around import Around
from workbench.verification.cause.linear import ALL, LESS, MORE, Change
from workbench.verification.cause.trial import Trial
from workbench.verification.linear.loop import LinearLaw
from workbench.verification.observed import energy_claims
from workbench.verification.verdict import Verdict

PLANT = LinearActuator()
LAW = PID(PLANT, **PID.suited(PLANT))


def grows(rate):
    """A loop that grows so fast."""
    return SimpleNamespace(growth=lambda: rate)


def change(size, of, holds, to=" times 2"):
    return Change(size, of, to, lambda: grows(-1.0 if holds else 5.0))


def smallest(*tried):
    return [c.of for c in cause_linear._smallest(tried, 0.1)]


def test_the_smallest_change_that_stops_the_growth():
    """With those within 0.15 decades of it, each quantity once."""
    a, b, c, d = (change(s, n, True) for s, n in ((0.5, "a"), (0.3, "b"), (0.44, "c"), (0.46, "d")))
    assert smallest(a, b, c, d) == ["b", "c"]
    assert smallest(change(0.2, "bad", False), a, b) == ["b"]
    assert smallest(change(0.4, "b", True), b) == ["b"]
    assert cause_linear._smallest((change(0.4, "b", True), b), 0.1)[0].size == 0.3
    assert smallest(change(0.2, "bad", False)) == []
    lost = Change(0.1, "none", "", lambda: None)
    assert smallest(lost, b) == ["b"]
    edge = Change(0.1, "edge", " x", lambda: grows(0.1))
    beyond = Change(0.1, "beyond", " x", lambda: grows(0.11))
    assert smallest(edge) == ["edge"] and smallest(beyond) == []


def test_numbers_are_told_beside_wires_up_to_a_decade():
    """A turned wire alone does not end the search; a number of a decade does."""
    wire = change(0.3, "wire", True, to="")
    assert smallest(wire, change(0.9, "gain", True)) == ["wire", "gain"]
    assert smallest(wire, change(1.1, "gain", True)) == ["wire"]
    assert smallest(wire, change(0.9, "near", True), change(1.0, "gain", True)) == ["wire", "near"]


def test_all_gains_together_are_not_told_beside_one():
    own, every = change(0.3, "gain controller.K_p (3)", True), change(0.3, ALL, True)
    assert smallest(own, every) == ["gain controller.K_p (3)"]
    assert smallest(every) == [ALL]


def let_go(monkeypatch, growth, found, hidden=None, length=10.0, own=True):
    monkeypatch.setattr(cause_linear, "around", lambda run, loop: grows(growth) if own else None)
    monkeypatch.setattr(cause_linear, "_hidden", lambda run, own, edge: hidden)
    monkeypatch.setattr(cause_linear, "changes", lambda run, own: found)
    scenario = SimpleNamespace(length=lambda: length)
    return cause_linear.lets_go(SimpleNamespace(loop=None, scenario=scenario))


def test_why_a_loop_lets_go_in_words(monkeypatch):
    """Grows by more than a hundredth over the run: by e in half a second here."""
    found = [change(0.3, "delay of 9 ms", True, " times 0.5"), change(0.3, "b", True)]
    words, size = let_go(monkeypatch, 2.0, found)
    assert size == 0.3 and words == (
        "linearised, the loop grows by e in 0.5 s; it does not with delay of 9 ms times 0.5; or b times 2"
    )
    many = [change(0.3, name, True, "") for name in "abcdef"]
    assert let_go(monkeypatch, 2.0, many)[0].endswith("with a; or b; or c; or d")
    for rate, grown in ((0.0011, True), (0.0009, False), (-1.0, False)):
        assert (let_go(monkeypatch, rate, found)[0] != "") is grown
    assert let_go(monkeypatch, 2.0, []) == ("", math.inf)
    assert let_go(monkeypatch, 2.0, found, own=False) == ("", math.inf)
    told = let_go(monkeypatch, 2.0, found, hidden=SimpleNamespace(words="λ = 3"))
    assert told == ("hidden, unstable mode, which no law holds: λ = 3", 0.0)


def ran(controller=None):
    return SimpleNamespace(loop=ClosedLoop(PLANT, controller or Sampled(LAW, 1e-3)))


def test_every_number_of_the_loop_times_every_factor(monkeypatch):
    """Gains, delay and sample time; a delay is also left out, and a derivative tried where there is none."""
    asked = []
    monkeypatch.setattr(
        cause_linear, "_bound", lambda run, numbers: asked.append(numbers) or grows(1.0)
    )
    run = ran(Delayed(Sampled(replace(LAW, K_i=(0.0,)), 1e-3), 4e-3))
    found = list(cause_linear._numbers(run))
    by = {}
    for one in found:
        by.setdefault(one.of, []).append(one)
    assert set(by) >= {"delay of 4 ms", "sample time of 1 ms"}
    (gain,) = (of for of in by if "K_p" in of)
    assert gain == f"gain controller.K_p ({LAW.K_p[0]:.4g})"
    assert len(by[gain]) == len(LESS) + len(MORE)
    assert not any("K_i" in of for of in by)  # zero, and no derivative
    assert len(by["delay of 4 ms"]) == len(LESS) + len(MORE) + 1
    out = by["delay of 4 ms"][-1]
    assert (out.size, out.to) == (cause_linear.TURNED, " left out")
    out.make()
    assert list(asked[-1].values()) == [0.0]
    half = next(c for c in by[gain] if c.to == " times 0.5")
    assert half.size == pytest.approx(math.log10(2))
    half.make()
    assert list(asked[-1].values()) == pytest.approx([0.5 * LAW.K_p[0]])
    leads = [c for of, cs in by.items() if "derivative" in of for c in cs]
    assert len(leads) == 5
    for c, lead in zip(leads, (0.01, 0.03, 0.1, 0.3, 1.0)):
        assert c.size == cause_linear.LEAD
        assert c.to == f" of {lead * LAW.K_p[0]:.3g} in place of none"
        c.make()
        assert list(asked[-1].values()) == pytest.approx([lead * LAW.K_p[0]])


def around(law_D, law_B=((1.0, 2.0),), law_C=((3.0,), (4.0,))):
    one = np.eye(2)
    law = LinearLaw(np.zeros((1, 1)), np.array(law_B), np.array(law_C), np.array(law_D), 0.0, 0.0)
    return Around(-one, one, one, law)


def test_all_that_is_commanded_times_a_factor():
    own = around([[1.0, 2.0], [5.0, 6.0]])
    found = list(cause_linear._all_gains(own))
    assert len(found) == len(LESS) + len(MORE) and all(c.of == ALL for c in found)
    tenth = next(c for c in found if c.to == " times 0.1")
    assert tenth.size == pytest.approx(1.0)
    made = tenth.make()
    assert made.law.D == pytest.approx(0.1 * own.law.D)
    assert made.law.C == pytest.approx(0.1 * own.law.C) and made.law.B is own.law.B


def test_wires_turned_and_crossed():
    """Commands change C and D by rows, measurements B and D by columns; those that nothing reads are left alone."""
    own = around([[1.0, 2.0, 0.0], [5.0, 6.0, 0.0]], law_B=((7.0, 8.0, 0.0),))
    controller = SimpleNamespace(
        commands=(Signal("u"), Signal("w")),
        measured=(Signal("a", "m"), Signal("b", "m"), Signal("c", "m")),
    )
    run = SimpleNamespace(loop=SimpleNamespace(controller=controller))
    found = {c.of: c for c in cause_linear._wires(run, own)}
    assert set(found) == {
        "the sign of the command u turned",
        "the sign of the command w turned",
        "the commands u and w swapped",
        "the sign of the measurement a turned",
        "the sign of the measurement b turned",
        "the measurements a and b swapped",
    }
    assert all(c.size == cause_linear.TURNED and c.to == "" for c in found.values())
    turned = found["the sign of the command w turned"].make().law
    assert turned.D.tolist() == [[1, 2, 0], [-5, -6, 0]] and turned.C.tolist() == [[3], [-4]]
    swapped = found["the commands u and w swapped"].make().law
    assert swapped.D.tolist() == [[5, 6, 0], [1, 2, 0]] and swapped.C.tolist() == [[4], [3]]
    sensor = found["the sign of the measurement a turned"].make().law
    assert sensor.D.tolist() == [[-1, 2, 0], [-5, 6, 0]] and sensor.B.tolist() == [[-7, 8, 0]]
    crossed = found["the measurements a and b swapped"].make().law
    assert crossed.D.tolist() == [[2, 1, 0], [6, 5, 0]] and crossed.B.tolist() == [[8, 7, 0]]
    controller.measured = (Signal("a", "m"), Signal("b", "rad"), Signal("c", "m"))
    assert "the measurements a and b swapped" not in {c.of for c in cause_linear._wires(run, own)}


def test_beliefs_put_right_are_changes_too(monkeypatch):
    for name in ("_numbers", "_wires", "_all_gains"):
        monkeypatch.setattr(cause_linear, name, lambda *given: [])
    kinds = {"model": "m is 2 ×", "gain": "g", "foresight": "2 samples"}
    tried = [Trial(kind, words, {kind: 1.0}, {}, 0.5) for kind, words in kinds.items()]
    monkeypatch.setattr(cause_linear, "trials", lambda run: tried)
    monkeypatch.setattr(cause_linear, "_tried", lambda run, trial: trial.numbers)
    one, other = cause_linear.changes(None, None)
    assert one.size == other.size == cause_linear.BELIEVED
    assert one.make() == {"model": 1.0} and other.make() == {"foresight": 1.0}
    assert one.of == "model and machine alike: m is 2 ×" and one.to == ""
    assert other.of == "a law that looks further: 2 samples" and other.to == ""


@pytest.mark.parametrize(
    "s, words",
    [
        (-0.1 + 5j, "hardly damped mode of x: -0.1 1/s at 5 rad/s"),
        (-0.1, "slow mode of x: -0.1 1/s, a time constant of 10 s"),
        (0.2, "slowly growing mode of x: 0.2 1/s, a time constant of 5 s"),
        (0.0, "slow mode of x: 0 1/s, a time constant of inf s"),
        (-0.5 + 0.4j, "slow mode of x: -0.5 1/s, a time constant of 2 s"),
    ],
)
def test_slow_modes_in_words(s, words):
    assert cause_linear._slow(SimpleNamespace(s=complex(s), states=("x",))) == words


def slow_one(monkeypatch, s, first="x", linear=False, length=4.0):
    """What is said of a loop of two states, three commands on their way and one number of memory with this mode."""
    asked = {}
    own = SimpleNamespace(
        matrix=lambda: np.eye(6),
        law=SimpleNamespace(A=np.zeros((1, 1)), T=1e-3),
        growth=lambda: 0.0,
    )

    def modes_of(M, T, listed, span):
        asked.update(T=T, listed=listed, span=span)
        return [SimpleNamespace(s=complex(s), states=(first,) if first else ())]

    monkeypatch.setattr(cause_linear, "around", lambda run, loop: own)
    monkeypatch.setattr(cause_linear, "modes_of", modes_of)
    monkeypatch.setattr(cause_linear, "is_linear", lambda plant: linear)
    plant = SimpleNamespace(states=(Signal("x"), Signal("v")))
    run = SimpleNamespace(
        loop=SimpleNamespace(plant=plant), scenario=SimpleNamespace(length=lambda: length)
    )
    said = cause_linear.hardly_decays(run)
    assert asked["listed"] == ("x", "v", *["past command"] * 3, "memory of the law")
    assert asked["T"] == 1e-3 and asked["span"] == length
    return said


def test_what_hardly_decays_within_the_run(monkeypatch):
    """Slower than e within four seconds; of a plant that is not linear only what swings once in them, 2π/4 = 1.57 rad/s."""
    assert "slow mode of x" in slow_one(monkeypatch, -0.24, linear=True)
    assert slow_one(monkeypatch, -0.26, linear=True) == ""
    assert slow_one(monkeypatch, -0.25, linear=True) == ""
    assert slow_one(monkeypatch, -0.24) == ""
    assert "hardly damped" in slow_one(monkeypatch, -0.24 + 1.58j)
    assert slow_one(monkeypatch, -0.24 + 1.56j) == ""
    assert "hardly damped" in slow_one(monkeypatch, 0.24 - 1.58j)
    assert slow_one(monkeypatch, -0.26 + 9j) == ""
    assert slow_one(monkeypatch, -0.1 + 9j, first="past command") == ""
    assert slow_one(monkeypatch, -0.1 + 9j, first="") == ""
    monkeypatch.setattr(cause_linear, "around", lambda run, loop: None)
    assert cause_linear.hardly_decays(SimpleNamespace(loop=None)) == ""


def test_a_hidden_mode_that_does_not_decay_within_the_run(monkeypatch):
    """One that falls by less than e over the run is told, a faster one is not."""
    own = SimpleNamespace(A=None, B=None, C=None)
    plant = SimpleNamespace(states=(Signal("x"),))
    run = SimpleNamespace(
        loop=SimpleNamespace(plant=plant), scenario=SimpleNamespace(length=lambda: 4.0)
    )
    monkeypatch.setattr(cause_linear, "around", lambda run, loop: own)
    monkeypatch.setattr(cause_linear, "is_linear", lambda plant: True)
    for rate, told in ((-0.24, True), (-0.26, False)):
        mode = SimpleNamespace(eigenvalue=complex(rate), words="λ")
        monkeypatch.setattr(cause_linear, "hidden_modes", lambda *given, mode=mode: (mode,))
        found = cause_linear.out_of_reach(run)
        assert found == ("hidden mode, which no law moves: λ" if told else "")
    assert (
        cause_linear._hidden(run, own, -0.3) is mode and cause_linear._hidden(run, own, 0.0) is None
    )
    monkeypatch.setattr(cause_linear, "is_linear", lambda plant: False)
    assert cause_linear._hidden(run, own, -0.3) is None


# ---- the sign of a feedback -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "M, good",
    [
        ([[-1.0]], True),
        ([[1.0]], False),
        ([[0.0]], False),
        ([[-2.0, 1.0], [1.0, -3.0]], True),
        ([[-2.0, 1.0], [3.0, -3.0]], False),  # the first output is driven more by the other
        ([[-2.0, 1.0], [2.0, -3.0]], False),
        ([[-2.0, 4.0], [1.0, -3.0]], False),
        ([[-2.0, 0.0], [0.0, 3.0]], False),
    ],
)
def test_a_loop_feeds_back_into_its_own_output(M, good):
    assert cause_feedback.negative(np.array(M)) is good


def fed(
    monkeypatch,
    G,
    K,
    followed=("a", "b"),
    law=None,
    period=1e-3,
    length=5.0,
    plants=None,
    sized=True,
):
    commands = ("u", "w")[: len(G[0])]
    controller = SimpleNamespace(commands=tuple(map(Signal, commands)), inner=None)
    inputs = tuple(map(Signal, plants or commands))
    loop = SimpleNamespace(controller=controller, plant=None, period=period)
    monkeypatch.setattr(cause_feedback, "controls", lambda plant: inputs)
    monkeypatch.setattr(cause_feedback, "_followed", lambda loop: list(followed)[: len(G)])
    monkeypatch.setattr(cause_feedback, "response", lambda run, c, p: np.array(G, float))
    monkeypatch.setattr(cause_feedback, "slopes", lambda run, p: np.array(K, float))
    monkeypatch.setattr(cause_feedback, "innermost", lambda controller: law)
    scenario = SimpleNamespace(length=lambda: length)
    return cause_feedback.feedback(SimpleNamespace(loop=loop, scenario=scenario), sized)


ONE = [[1.0, 0.0], [0.0, 1.0]]


def test_signs_and_crossings_of_a_feedback(monkeypatch):
    minus = lambda M: [[-v for v in row] for row in M]
    swap = [[0.0, 1.0], [1.0, 0.0]]
    assert fed(monkeypatch, ONE, minus(ONE)) == ""
    assert fed(monkeypatch, swap, minus(ONE)).startswith("commands u and w swapped")
    assert fed(monkeypatch, ONE, [[-1, 0], [0, 1]]).startswith(
        "sign of the command w (positive feedback: b is driven away"
    )
    assert fed(monkeypatch, ONE, [[1, 0], [0, -1]]).startswith("sign of the command u ")
    both = fed(monkeypatch, ONE, ONE)
    assert both == "sign of the commands u, w (positive feedback on a, b)"
    remembers = SimpleNamespace(states=("z",))
    assert fed(monkeypatch, ONE, [[0, 0], [0, 0]], law=remembers) == ""
    assert fed(monkeypatch, ONE, [[math.nan, 0], [0, 1]]) == ""
    assert fed(monkeypatch, ONE, ONE, followed=("a",)) == ""
    assert fed(monkeypatch, ONE, ONE, plants=("u", "x")) == ""


def test_a_law_that_does_not_act_on_what_it_is_to_bring_to_its_reference(monkeypatch):
    alone = SimpleNamespace(states=())
    assert fed(monkeypatch, ONE, [[-1, 0], [0, 0]], law=alone) == (
        "the law does not act on b: its gain from there to u, w is zero"
    )
    host = Plain(lambda t, y, r: [0.0], ("a",), ("u",), ())
    assert fed(monkeypatch, [[1.0]], [[0.0]], law=host).startswith("the law does not act on a")


def test_a_users_gain_far_from_what_the_machine_bears(monkeypatch):
    """−G K over a fifth of a second: with 1 ms samples 500 1/s are borne, in five seconds 0.2 1/s get nowhere."""
    host = Plain(lambda t, y, r: [0.0], ("a",), ("u",), ())
    asked = lambda k, **more: fed(monkeypatch, [[1.0]], [[-k]], law=host, **more)
    assert asked(99.0) == "" and "closes the loop at 505 1/s" in asked(101.0)
    assert "sample time of 1 ms bears 500 1/s" in asked(101.0)
    assert asked(0.041) == "" and "closes the loop at 0.195 1/s" in asked(0.039)
    assert "in a run of 5 s gets nowhere" in asked(0.039)
    assert fed(monkeypatch, [[1.0]], [[-101.0]], law=None) == ""
    assert asked(101.0, sized=False) == "" == asked(0.039, sized=False)
    assert "positive feedback" in asked(-101.0, sized=False)
    two = fed(monkeypatch, ONE, [[-50.0, 0], [0, -200.0]], law=host)
    assert two.startswith("gain from b to w: it closes the loop at 1e+03 1/s")
    slow = fed(monkeypatch, ONE, [[-50.0, 0], [0, -0.01]], law=host)
    assert slow.startswith("gain from b to w: it closes the loop at 0.05 1/s")


class Curved:
    """u = 3 a + b², −2 b: slopes 3, 2 b and 0, −2."""

    def __call__(self, t, y, r):
        return [3 * y[0] + y[1] ** 2, -2 * y[1]]


class Remembers:
    """A law that counts how often it was asked."""

    def __init__(self):
        self.asked = 0

    def initial(self):
        return [5.0]

    def start(self, t, z, y, r):
        return [z[0] + y[0]]

    def step(self, t, z, y, r):
        self.asked += 1
        return [0.0], [z[0] + r[0], t]


class Commands:
    def command(self, t, z, y, r):
        return 7.0 * y[0] + (0.0 if z is None else 1.0)


def test_a_users_law_is_asked_once_of_a_copy():
    law = Remembers()
    assert cause_feedback.asked(law, 0.5, [2.0], [10.0]) == [17.0, 0.5] and law.asked == 0
    assert cause_feedback.asked(Commands(), 0.0, [2.0], []) == [14.0]
    assert cause_feedback.asked(Curved(), 0.0, [1.0, 2.0], []) == [7.0, -4.0]


@pytest.mark.parametrize("b", [0.3, -40.0])
def test_slopes_of_a_users_law_by_differences(monkeypatch, b):
    """Of a parabola a central difference is exact, whatever the step."""
    host = Plain(Curved(), ("a", "b"), ("u", "w"), ())
    monkeypatch.setattr(cause_feedback, "samples", lambda run: iter([(0.0, [], [1.0, b], [])]))
    controller = SimpleNamespace(measured=(Signal("a"), Signal("b")))
    monkeypatch.setattr(cause_feedback, "instant", lambda controller: host)
    monkeypatch.setattr(cause_feedback, "innermost", lambda controller: host)
    run = SimpleNamespace(loop=SimpleNamespace(controller=controller))
    found = cause_feedback.slopes(run, ["b", "a"])
    assert found == pytest.approx(np.array([[2 * b, 3.0], [-2.0, 0.0]]), abs=1e-8)
    monkeypatch.setattr(cause_feedback, "samples", lambda run: iter([]))
    assert cause_feedback.slopes(run, ["b"]) is None


def test_what_a_push_on_a_command_does_to_the_outputs(monkeypatch):
    """ẋ = (4 u, −3 w) over a fifth of a second: G = diag(0.8, −0.6); pushes of a tenth of the range to both sides."""
    pushes = []

    def simulate(plant, scenario):
        (given,) = scenario.disturbances.items()
        pushes.append(given)
        rate = {"u": (4.0, 0.0), "w": (0.0, -3.0)}[given[0]]
        x = [1.0 + 0.2 * r * given[1] for r in rate]
        return SimpleNamespace(time=[0.0, 0.2], array=lambda name: [0.0, x["ab".index(name)]])

    monkeypatch.setattr(cause_feedback, "simulate", simulate)
    plant = SimpleNamespace(
        states=(Signal("a"), Signal("b")),
        outputs=(Signal("y"), Signal("z")),
        out=lambda t, x: list(x),
        limits=lambda: {"u": (-5.0, 8.0)},
    )
    scenario = Scenario(duration=9.0, disturbances={"F": 3.0}, log_period=0.1)
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant), scenario=scenario)
    found = cause_feedback.response(run, ["u", "w"], ["z", "y"])
    assert found == pytest.approx(np.array([[0.0, -0.6], [0.8, 0.0]]))
    assert pushes == [("u", 0.8), ("u", -0.8), ("w", 0.1), ("w", -0.1)]


# ---- energy ---------------------------------------------------------------------------------------------------------------------
def balanced(share=0.01, **account):
    given = {
        "share": 0.004,
        "drift": 0.4,
        "through": 100.0,
        "rounding": 1e-9,
        "change": 3.0,
        "by": {"pump": 60.0, "load": -80.0, "loss": 1.0, "oil": 5.0},
    } | account
    status = SimpleNamespace(completed=True)
    plant = SimpleNamespace(
        scales=lambda: {"energy": SimpleNamespace(value=1e9)}, limits=dict, inputs=()
    )
    run = SimpleNamespace(
        energy=SimpleNamespace(**given),
        log=SimpleNamespace(status=status),
        loop=SimpleNamespace(plant=plant),
        left=(math.inf, ""),
    )
    claim = SimpleNamespace(share=share, counted=False)
    return energy_claims.check_energy(claim, run), run, claim


@pytest.mark.parametrize("share, holds", [(0.009, True), (0.01, True), (0.011, False)])
def test_an_energy_balance(share, holds):
    run = balanced()[1]
    run.energy.share, run.energy.drift = share, 100 * share
    found = energy_claims.check_energy(SimpleNamespace(share=0.01, counted=False), run)
    assert found.holds is holds and found.strength == "numerical" and found.unit == "1"
    assert found.margin == pytest.approx(0.01 - share) and found.limit == 0.01
    assert found.worst.endswith("of 100 J; most by load -80 J, pump 60 J, oil 5 J")
    assert found.worst.startswith(f"drift {100 * share:.2g} J, {100 * share:.2g} % ")
    assert found.data["gap"] == 100 * share and found.data["throughput"] == 100.0
    assert found.data["change"] == 3.0 and found.data["by"]["loss"] == 1.0
    assert found.claim == "energy balance of the run within 1 % of throughput"


def test_an_energy_without_a_balance():
    """Nothing moved; a drift of rounding, or of what is rounding for the machine (1e-12 of 1 GJ)."""
    assert balanced(through=0.0)[0].holds is None
    for drift, rounding, holds in ((0.9e-3, 0.0, None), (1.1e-3, 0.0, False), (5.0, 6.0, None)):
        found, run, claim = balanced(drift=drift, rounding=rounding)
        run.energy.share = 0.5
        found = energy_claims.check_energy(claim, run)
        assert found.holds is holds and (holds is False or "nothing moved" in found.worst)
    run.energy = None
    found = energy_claims.check_energy(claim, run)
    assert found.holds is None and "states no energy" in found.worst and found.counted is False


def resting(verdict, energy=True, completed=True, **why):
    quiet = (math.inf, "")
    run = SimpleNamespace(
        log=SimpleNamespace(status=SimpleNamespace(completed=completed)),
        **{name: why.get(name, quiet) for name in ("left", "hollow", "crossed")},
    )
    strength = None if energy is None else "numerical"
    account = Verdict("energy-balance", "text", energy, strength, -0.2, "1", worst="drift 3 J")
    return energy_claims.resting_on(verdict, account, run)


def sampled(holds, key="tracking", strength="sampled"):
    return Verdict(key, "text", holds, None if holds is None else strength, worst="2 mm")


def test_what_rests_on_a_run():
    """What holds is undecided where the run leaves the model; all of it where its energy does not balance."""
    good, bad = sampled(True), sampled(False)
    assert resting(good) is good and resting(good, None) is good
    for name in ("left", "hollow", "crossed"):
        doubted = resting(good, **{name: (1.0, "piston 1 leaves")})
        assert doubted.holds is None and doubted.worst == "piston 1 leaves; was: 2 mm"
        assert [a.holds for a in doubted.assumptions] == [False]
        assert resting(bad, **{name: (1.0, "piston 1 leaves")}) is bad
    for one in (good, bad):
        lost = resting(one, False)
        assert lost.holds is None and lost.assumptions[0].margin == -0.2
        assert lost.worst == "the run's energy balance fails (drift 3 J); was: 2 mm"
        assert resting(one, False, completed=False) is one
    proof = sampled(True, strength="proof")
    own = sampled(True, "energy-balance")
    assert resting(proof, False) is proof and resting(own, False) is own
