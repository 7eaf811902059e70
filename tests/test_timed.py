"""What time itself changes after a run: said of laws and plants that read it, not of those that only repeat what they did."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
from faults.clocks import clocked
from faults.drifting import Drifting
from faults.keepers import keeper
from small import Following

from workbench import ClosedLoop, Hold, InputError, Sampled, Scenario, Signal, Sine, System, verify
from workbench.contract.plain import Plain
from workbench.contract.system import Controller
from workbench.contract.wrappers import Saturated
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.law_graph import law_graph
from workbench.interop.export.package import export_law
from workbench.interop.export.replay import replay
from workbench.interop.linear_plant import LinearPlant
from workbench.numerics.compiler import compiler
from workbench.verification import claims as C
from workbench.verification.linear.loop import linear_law
from workbench.verification.observed.running_on import running_on
from workbench.verification.practical.called.kept import moved_on
from workbench.verification.practical.later.stray import straight, stray

T = 0.02
PLANT = LinearPlant((-1.3,), (1.7,), (1.0,), ("a",), ("u",), ("a",))
ASKED = [C.PracticalStability(settle=1.0, runs=2)]


SWINGING = Sine("output", (0.2,), (0.1,), 0.25)


def judged(law, plant=PLANT, sampled=True, point=0.2):
    """The verdict on a hold at this point, or along this path."""
    law = law if isinstance(law, Controller) else Plain(law, references=("a_d",))
    loop = ClosedLoop(plant, Sampled(law, T_s=T) if sampled else law)
    path = point if isinstance(point, Sine) else Hold("output", (point,))
    (verdict,) = verify(loop, Scenario(5.0, path), ASKED)
    return verdict


@dataclass(frozen=True)
class Traced(Following):
    """u = g e; g changes its sign at 300 s of time or of the law's own clock, or rises within 2 s."""

    how: str

    @property
    def states(self):
        return (Signal("clock", "s", "clock"),) if self.how in ("clock", "idle") else ()

    def initial(self):
        return [0.0] * len(self.states)

    def rhs(self, t, z, y, r):
        return [1.0] * len(self.states)

    def step_at(self, T_s, t, z, y, r):
        return [z[0] + T_s for _ in self.states], self.command(t, z, y, r)

    def command(self, t, z, y, r):
        now = z[0] if self.how == "clock" else t
        gain = {
            "turns": np.where(now < 300, 4.0, -4.0),
            "clock": np.where(now < 300, 4.0, -4.0),
            "rises": 4.0 * np.minimum(now / 2, 1.0),
            "idle": 4.0,
        }[self.how]
        return [gain * (r[0] - y[0])]


@dataclass(frozen=True)
class Heating(Following):
    """u = g 5 e of a law whose one number runs on, as `Drifting` has it: it gives up at `at`, adapts by e², or forgets in 1 s."""

    how: str
    at: float

    states = (Signal("kept", "1", "what it remembers"),)

    def step_at(self, T_s, t, z, y, r):
        error = r[0] - y[0]
        gain = np.where(z[0] < self.at, 1.0, 0.0) if self.how in ("trips", "sums") else 1.0 + z[0]
        u = gain * 5.0 * error
        more = {
            "trips": u * u,
            "adapts": self.at * error * error,
            "leaks": self.at * error * error - z[0],
            "sums": error,
        }[self.how]
        return [z[0] + T_s * more], [u]


@dataclass(frozen=True)
class Ageing(System):
    """ȧ = −a + g u, g falls by e within `τ` seconds; or the plant is shaken by a sine for ever."""

    τ: float = np.inf

    states = outputs = (Signal("a", "1", "state"),)
    inputs = (Signal("u", "1", "command"),)

    def initial(self):
        return [0.0]

    def rhs(self, t, x, u):
        shaken = 0.01 * np.sin(40 * t) if np.isinf(self.τ) else 0.0
        return [-x[0] + u[0] * np.exp(-t / self.τ) + shaken]

    def out(self, t, x):
        return [x[0]]


@pytest.mark.parametrize("how", ["turns", "clock"])
@pytest.mark.parametrize("sampled", [True, False])
def test_a_law_that_turns_long_after_its_run_is_undecided(how, sampled):
    verdict = judged(Traced(PLANT, how), sampled=sampled)
    assert verdict.holds is None and "time itself may change the loop: at t = 3" in verdict.worst


@pytest.mark.parametrize("how", ["rises", "idle"])
def test_what_ends_within_the_run_or_is_only_counted_is_no_matter(how):
    assert judged(Traced(PLANT, how)).holds


def test_a_plant_that_ages_is_undecided_and_one_that_is_shaken_for_ever_holds():
    def law(t, y, r):
        return [5.0 * (r[0] - y[0])]

    assert "a does what it did at no time of the run" in judged(law, Ageing(200.0)).worst
    assert judged(law, Ageing()).holds


@pytest.mark.parametrize(
    "clock, said",
    [
        ("given", "the law does what it did at no time"),
        ("counted", "the law does what it did at no time"),
        ("handed on", "the law does what it did at no time"),
        ("outside", "outside of its memory"),
        ("wall", "reads the module time"),
    ],
)
def test_a_called_law_is_asked_at_later_times_with_its_counters_set_on(clock, said):
    verdict = judged(clocked(T, 5.0, "turns", 500.0, clock))
    assert verdict.holds is None and said in verdict.worst


@pytest.mark.parametrize(
    "how, at, clock",
    [("starts", 0.7, "given"), ("repeats", 0.7, "given"), ("nothing", 1.0, "summed")],
)
def test_a_called_law_that_only_repeats_what_it_did_holds(how, at, clock):
    assert judged(clocked(T, 5.0, how, at, clock), point=0.0).holds


@pytest.mark.parametrize(
    "where, said",
    [
        ("text", "remembers what is no number \\(law.kept\\)"),
        ("slots", "remembers what is no number \\(law.kept.count\\)"),
        ("iterator", "remembers what is no number"),
        ("default", "outside of its memory and its attributes .*default"),
        ("module", "outside of its memory and its attributes \\(LIBRARY.count"),
        ("base class", "outside of its memory and its attributes \\(Base.count"),
        ("generator", "the law cannot be copied"),
    ],
)
def test_what_a_called_law_counts_in_something_else_is_found(where, said):
    verdict = judged(keeper(where, 5.0, 50_000))
    assert verdict.holds is None and re.search(said, verdict.worst), verdict.worst


def told_of(how):
    """What is said of a law that does otherwise once a number has run on; one that trips soon does so where it is held."""
    return "held there, commands another" if how == "trips" else "has run on, and the law does what"


@pytest.mark.parametrize("how, at", [("trips", 5.0), ("adapts", 10.0), ("adds up", 9000.0)])
def test_a_number_that_runs_on_is_followed_to_where_the_gain_is_another(how, at):
    verdict = judged(Drifting(T, 5.0, how, at), point=SWINGING)
    assert verdict.holds is None and told_of(how) in verdict.worst


@pytest.mark.parametrize("how, at", [("trips", 5.0), ("adapts", 10.0)])
def test_memory_of_an_expression_that_runs_on_is_followed_too(how, at):
    verdict = judged(Heating(PLANT, how, at), point=SWINGING)
    assert verdict.holds is None and told_of(how) in verdict.worst


@pytest.mark.parametrize("how, at", [("leaks", 10.0), ("sums", 1e6), ("trips", 1e9)])
def test_memory_of_an_expression_that_is_forgotten_or_never_reaches_its_end_is_no_matter(how, at):
    verdict = judged(Heating(PLANT, how, at), point=SWINGING)
    assert verdict.holds, verdict.worst


@pytest.mark.parametrize("limit", [0.62, 0.7, 50.0])
def test_a_gain_that_runs_on_is_seen_where_the_command_soon_meets_its_limit(limit):
    """u is 0.6 at the end of the run: what the gain does until the limit is what it goes on to do."""
    limited = lambda how: Saturated(Heating(PLANT, how, 10.0), -limit, limit)
    verdict = judged(limited("adapts"), point=0.8)
    assert verdict.holds is None and "has run on" in verdict.worst
    assert judged(limited("leaks"), point=0.8).holds


@pytest.mark.parametrize("law", [keeper("record", 5.0, 0), Drifting(T, 5.0, "leaks", 10.0)])
def test_a_record_and_a_number_that_is_forgotten_are_no_matter(law):
    assert judged(law, point=SWINGING).holds


def test_numbers_that_swing_settle_or_stand_do_not_run_on():
    t = np.linspace(0.0, 8.0, 25)
    assert running_on(t, 3.0 + 0.25 * t) == pytest.approx(0.25)
    assert running_on(t, -np.floor(t)) == pytest.approx(-1.0)
    assert running_on(t, np.sqrt(t)) > 0
    for values in (np.full(25, 2.0), np.sin(2.0 * t), np.exp(-t), t + np.sin(3.0 * t)):
        assert running_on(t, values) is None


def test_what_stands_where_it_stood_before_or_is_only_appended_to_has_not_moved_on():
    seen, mode = [], "run"

    def law(t, y, r):
        seen.append(y)
        return r if mode == "run" else y

    rows = [{"mode": "run", "seen": 1}, {"mode": "stop", "seen": 2}, {"mode": "run", "seen": 3}]
    assert moved_on(rows, [law]) == ""
    assert moved_on(rows[:2], [law]) == "mode"
    assert moved_on([{"mode": 1}, {"mode": 2}], [law]) == "mode"


def compiled(how, folder):
    """The law as the C code that is exported of it."""
    loop = ClosedLoop(PLANT, Sampled(Traced(PLANT, how), T_s=T))
    graph = law_graph(loop.controller)
    export_law(folder, graph, replay(loop, Scenario(1.0, Hold("output", (0.2,))), graph))
    return Compiled(folder)


@pytest.mark.skipif(compiler() is None, reason="no C compiler")
def test_an_exported_law_is_asked_at_later_times_as_well(tmp_path):
    turns, idle = (compiled(how, tmp_path / how) for how in ("turns", "idle"))
    assert "time itself may change the loop: at t = 3" in verdict_of(turns).worst
    assert verdict_of(idle).holds


def verdict_of(law):
    (verdict,) = verify(ClosedLoop(PLANT, law), Scenario(5.0, Hold("output", (0.2,))), ASKED)
    return verdict


def test_a_law_whose_gain_depends_on_time_is_not_linearised_at_one_instant():
    loop = ClosedLoop(PLANT, Sampled(Traced(PLANT, "rises"), T_s=T))
    with pytest.raises(InputError, match="the law changes with time itself"):
        linear_law(loop)
    assert linear_law(ClosedLoop(PLANT, Sampled(Traced(PLANT, "idle"), T_s=T))).D == pytest.approx(
        -4.0
    )


def test_values_may_leave_their_range_by_a_twentieth_of_it_and_no_more():
    def bump(size):
        return lambda t: np.array([np.sin(3.0 * t), np.sin(t) * (size if t > 90 else 1.0)])

    assert stray(bump(1.04), 20.0, ("a", "c")) == ""
    assert " c does" in stray(bump(1.2), 20.0, ("a", "c"))


def test_a_clock_is_a_straight_line_and_what_stands_or_bends_is_none():
    t = np.linspace(0.0, 3.0, 50)
    assert straight(t, 2.0 + 0.5 * t) == pytest.approx((2.0, 0.5))
    assert straight(t, np.full(50, 2.0)) is None and straight(t, t + 1e-4 * t**2) is None
