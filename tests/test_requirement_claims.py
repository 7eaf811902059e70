"""Requirements as claims: in case files and in Python, on runs of several plants and laws, from both sides."""

import json
from dataclasses import dataclass, replace

import jsonschema
import numpy as np
import pytest
from small import Decaying, Feedback, Linear

from workbench import ClosedLoop, Hold, InputError, Sampled, Scenario, Signal, simulate, verify
from workbench.cases.file import laws, loads
from workbench.cases.file_schema import case_schema
from workbench.cases.yaml_input import parse
from workbench.contract.plain import Plain
from workbench.contract.units import quantity
from workbench.verification.claims import Claim, Pressures, Requirement, Tracking
from workbench.verification.judge import examine
from workbench.verification.observed.requirement_claims import check_requirement
from workbench.verification.run import run as simulated
from workbench.verification.temporal.ready import written
from workbench.verification.temporal.sentence import read
from workbench.verification.verdict import answers_stability, exit_code

PLANT = Linear(A=((-1.0,),), B=((1.0,),), C=((1.0,),), x0=(1.0,))
DECAY = ClosedLoop(PLANT, Feedback(PLANT, ((0.0,),)))  # x = e^−t
SCENARIO = Scenario(duration=5.0)
PISTON = """plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [6 mm], frequency: 1 Hz}
  duration: 1.5 s
"""


@dataclass(frozen=True)
class Named(Decaying):
    """The plant whose state is called so."""

    name: str = "x"

    @property
    def states(self):
        return (Signal(self.name, "m"),)


def asked(text, loop=DECAY, scenario=SCENARIO, name="", counted=True):
    (verdict,) = [
        v
        for v in verify(loop, scenario, [Requirement(text, name, counted)])
        if v.key.startswith("requirements")
    ]
    return verdict


@pytest.mark.parametrize(
    "text, shown",
    [
        ("always (e < 5)", "always (e < 5 m)"),
        ("always (e < 5 mm and p > 2e5)", "always (e < 5 mm and p > 2e5 Pa)"),
        ("always (-3 < v and v < 7)", "always (-3 m/s < v and v < 7 m/s)"),
        ("always (e >= 0 and share <= 0.3)", "always (e >= 0 and share <= 0.3)"),
        ("always (2 * e < 1 and own < 7)", "always (2 * e < 1 m and own < 7)"),
    ],
)
def test_a_plain_number_is_shown_with_the_unit_that_it_takes(text, shown):
    """Five of metres is five metres: who meant millimetres reads it."""
    units = {"e": "m", "p": "Pa", "v": "m/s", "share": "1", "own": "no unit of ours"}
    assert read(text, units).line == shown
    assert read(shown, units).formula == read(text, units).formula


@pytest.mark.parametrize(
    "text, holds, margin, time",
    [
        # x = e^−t
        ("always (x0 <= 1.1)", True, 0.1, 0.0),
        ("always (x0 < 0.9)", False, -0.1, 0.0),
        ("always[2 s, end] (x0 < 0.2)", True, 0.2 - np.exp(-2.0), 2.0),
        ("always[1 s, end] (x0 < 0.2)", False, 0.2 - np.exp(-1.0), 1.0),
        ("eventually[0 s, 3 s] always (x0 < 0.1)", True, 0.1 - np.exp(-3.0), 3.0),
        ("eventually[0 s, 2 s] always (x0 < 0.1)", False, 0.1 - np.exp(-2.0), 2.0),
        ("(x0 > 0.3) until[1 s, 2 s] (x0 < 0.35)", True, None, None),
        ("(x0 > 0.4) until[1 s, 2 s] (x0 < 0.35)", False, None, None),
    ],
)
def test_a_requirement_on_a_run_that_is_known(text, holds, margin, time):
    verdict = asked(text)
    assert verdict.holds is holds and verdict.strength == "sampled", verdict
    assert verdict.claim == text and verdict.source.startswith("signal temporal logic")
    if margin is not None:
        assert verdict.margin == pytest.approx(margin, abs=1e-6)
        assert verdict.data["time"] == pytest.approx(time, abs=1e-9)
        assert f"at t = {time:g} s" in verdict.worst


@pytest.mark.parametrize(
    "text, words",
    [
        ("always (x0 > 2 implies x0 < 0)", "x0 > 2 was never true"),
        ("always (not (x0 > 2 and x0 > 0) or x0 < 0)", "x0 > 2 and x0 > 0 was never true"),
        ("always (not (x0 > 2 and x0 > 3))", "x0 > 2 or x0 > 3 was never true"),
        ("always (not (x0 > 2 and not (x0 > -1)))", "x0 > 2 or not (x0 > -1) was never true"),
        ("always (x0 < 3) and always (x0 < -1 implies eventually[0 s, 1 s] (x0 > 0))", "x0 < -1"),
        ("always[1 s, 2 s] historically[3 s, 4 s] (x0 < 0)", "held no sample"),
        ("always (abs(x0) >= 0)", "nothing that these signals could do"),
        ("always (x0 < 0.5 or x0 > 0.4)", "nothing that these signals could do"),
        ("always (time >= 0 s)", "nothing that these signals could do"),
        ("eventually (x0 > 0.9)", "true at the start of the run already"),
        ("(x0 > 3) until[0 s, 2 s] (x0 < 1.5)", "true at the start of the run already"),
        ("eventually[0 s, 5 s] (always (x0 < 0.5))", "the last instant of the run alone"),
        ("always[0 s, 5 s] (eventually (x0 < 0.5))", "the last instant of the run alone"),
    ],
)
def test_what_was_never_put_to_the_test_is_undecided(text, words):
    """The logic calls these true; nothing that was seen speaks for them."""
    verdict = asked(text)
    assert verdict.holds is None and verdict.strength is None and words in verdict.worst
    assert check_requirement(Requirement(text), simulated(DECAY, SCENARIO)).holds is True


@pytest.mark.parametrize(
    "text, never",
    [
        ("always (not (x0 > 0.5 and x0 > 2))", "; x0 > 2 was never true"),
        (
            "always (not (x0 > 3 and x0 > 2 and x0 > 0.5))",
            "; x0 > 3 was never true; x0 > 2 was never true",
        ),
        ("always (x0 < 0.5 implies not (x0 < -1))", ""),
        ("always (x0 < 0.5 implies not (x0 < -1 and time > 1 s))", "; x0 < -1 was never true"),
        ("always ((not (x0 > 2 and x0 > 3)) implies x0 < 1.5)", ""),
    ],
)
def test_what_is_ruled_out_beside_something_that_came_true_holds(text, never):
    """That two things never come together is seen where one of them comes; the other one is named."""
    verdict = asked(text)
    assert verdict.holds is True and verdict.worst.endswith(never), verdict.worst
    assert never or "never true" not in verdict.worst


@pytest.mark.parametrize(
    "text",
    [
        "always (x0 < 1.5)",
        "always (x0 < 0.5 or x0 > 0.6 or time < 3 s)",
        "eventually (x0 < 0.1)",
        "always[0 s, 2 s] (x0 < 0.5 implies always[0 s, 1 s] (x0 < 0.5))",
        "eventually[0 s, 4.9 s] (always (x0 < 0.5))",
        "always[0 s, 3 s] (eventually[0 s, 2 s] (x0 < 0.9))",
        "(x0 > 0.3) until[0 s, 2 s] (x0 < 0.5)",
    ],
)
def test_what_signals_could_make_false_is_asked(text):
    assert asked(text).holds


@pytest.mark.parametrize(
    "name, refused", [("tool_error", True), ("overshoot", True), ("tool_off", False)]
)
def test_a_signal_may_not_have_a_name_that_sentences_use_for_something_else(name, refused):
    """A monitor of the law that is called tool_error would be judged in its place, whatever the tool does."""
    follow = Plain(lambda t, y, r: [4.0 * (r[0] - y[0])], references=("y0_d",))
    loop = ClosedLoop(Named(name=name), Sampled(follow, T_s=0.01))
    scenario = Scenario(duration=2.0, reference=Hold("output", (0.4,)))
    if refused:
        with pytest.raises(InputError, match=f"{name} is a signal of this loop"):
            asked("always (y0 < 1 m)", loop, scenario)
    else:
        assert asked("always (y0 < 1 m)", loop, scenario).holds is True


def test_what_the_scenario_gives_is_nothing_that_the_loop_does():
    """A sentence on the reference alone is true of every law; beside the output it is a requirement."""
    case = loads(PISTON)
    alone = asked("eventually (Y_d > 5 mm)", case.loop, case.scenario)
    assert alone.holds is None and "Y_d is what the scenario gives" in alone.worst
    beside = "eventually (Y_d > 5 mm and Y > 5 mm)"
    assert asked(beside, case.loop, case.scenario).holds is True


@pytest.mark.parametrize(
    "sentence, holds",
    [
        ("always (Y_d < 7 mm or Y < 1 mm)", None),
        ("always (Y_d < 5 mm or Y < 6.5 mm)", True),
        ("always (not (Y_d > 7 mm and Y > 1 mm))", None),
        ("always (not (Y_d < -5 mm and Y > 0 mm))", True),
        ("always (Y > 9 mm since Y_d < 7 mm)", None),
        ("always (Y < 7 mm since Y_d < 0.1 mm)", True),
        ("eventually[0.5 s, 1 s] (Y_d < 7 mm or Y > 2 mm)", None),
        ("always (time > 9 s or Y < 7 mm)", True),
        ("always (abs(Y_d - 0 mm) < 7 mm or tool_error > 2 mm)", None),
    ],
)
def test_a_side_that_the_reference_alone_makes_true_leaves_nothing_to_ask(sentence, holds):
    """The reference swings by 6 mm: what asks it for less than 7 mm is true whatever the piston does."""
    case = loads(PISTON)
    verdict = asked(sentence, case.loop, case.scenario)
    assert verdict.holds is holds, verdict.worst
    assert holds or "Y_d is what the scenario gives, and makes it true" in verdict.worst


def test_signals_that_stand_through_the_run_say_nothing_of_it():
    still = replace(PLANT, x0=(0.0,))
    found = asked("always (x0 < 1)", ClosedLoop(still, Feedback(still, ((0.0,),))))
    assert found.holds is None and "x0 did not move in this run" in found.worst


@pytest.mark.parametrize(
    "text, words, not_said",
    [
        ("always[0 s, 20 s] (x0 < 2)", "so far x0 = 1 at t = 0 s", "decides"),
        ("always[0 s, 20 s] (x0 < 2)", "run it longer, scenario.duration: 20 s, or", "decides"),
        ("eventually[0 s, 20 s] (x0 < 0.001)", "so far x0 = 0.00674 at t = 5 s", "decides"),
        (
            "always (x0 < 0.5 implies always[0 s, 1 s] (x0 < 0.6))",
            "after the run's end at 5 s decides: run it longer",
            "so far",
        ),
        ("always (1 / (x0 - 1) < 5)", "not a number at t = 0 s", "run it longer"),
        ("always (time < 60 s and x0 < 3)", "allows: always (time < 60 s): 55 s", "x0 < 3):"),
        ("always (x0 < 3 and x0 < 4)", "x0 = 1", "share of what"),
    ],
)
def test_the_words_say_what_was_seen_so_far_and_what_is_missing(text, words, not_said):
    worst = asked(text).worst
    assert words in worst and not_said not in worst


def test_a_condition_that_is_met_once_is_enough():
    assert asked("always (x0 > 0.99 implies eventually[0 s, 3 s] (x0 < 0.1))").holds is True
    assert asked("always (x0 > 0.99 implies x0 > 1.5)").holds is False


def test_requirements_are_no_claim_about_stability():
    verdicts = verify(DECAY, SCENARIO, [Requirement("always (x0 <= 1.1)", "below")])
    assert verdicts[0].holds and not answers_stability(verdicts)
    assert not Requirement.says_stable and exit_code(verdicts) == 0
    broken = asked("always (x0 < 0.5)")
    assert exit_code([broken]) == 1 and exit_code([replace(broken, counted=False)]) == 2


def test_a_run_that_is_too_short_is_undecided_and_says_how_long_it_has_to_be():
    verdict = asked("always[0 s, 20 s] (x0 <= 1)")
    assert verdict.holds is None and verdict.margin is None
    assert "looks up to t = 20 s" in verdict.worst and "ends at 5 s" in verdict.worst
    assert asked("always[0 s, 20 s] (x0 < 0.5)").holds is False


def test_a_run_that_diverges_meets_nothing():
    """x = e^40t passes the largest number before the end; what it broke before is told with its margin."""
    plant = Linear(A=((40.0,),), B=((1.0,),), C=((1.0,),), x0=(1.0,))
    loop = ClosedLoop(plant, Feedback(plant, ((0.0,),)))
    scenario = Scenario(duration=40.0)
    for text in ("always (x0 > 0)", "eventually (x0 > 2)", "always[0 s, 30 s] (x0 > 0)"):
        verdict = asked(text, loop, scenario)
        assert verdict.holds is False and "diverged" in verdict.worst, text
    broken = asked("always (x0 < 3)", loop, scenario)
    assert broken.holds is False and broken.margin < 0


def swinging(log_period=None):
    """x swings as cos 30 t, sampled by the law every 0.1 s only."""
    plant = Linear(
        A=((0.0, 30.0), (-30.0, 0.0)), B=((0.0,), (0.0,)), C=((1.0, 0.0),), x0=(1.0, 0.0)
    )
    loop = ClosedLoop(plant, Sampled(Feedback(plant, ((0.0,),)), 0.1))
    return loop, Scenario(duration=2.0, log_period=log_period)


def test_the_rows_that_are_kept_change_no_verdict():
    """Between two samples of the law x goes through ±1; whatever the log keeps, the requirement sees it."""
    text = "always (x0 > -0.999)"
    told = [asked(text, *swinging(period)) for period in (None, 0.1, 0.5)]
    assert all(v.holds is False for v in told)
    assert len({v.margin for v in told}) == 1
    assert told[0].margin == pytest.approx(-1e-3, abs=2e-4)
    loop, scenario = swinging(0.5)
    assert simulate(loop, scenario).array("x0").min() > -0.9999, "the rows kept miss it"


@pytest.mark.parametrize("law", ["VDC", "PID"])
def test_derived_signals_are_those_of_the_built_in_claims(law):
    """Tool error and its limit: the same number, instant and answer as `tracking` has, one from each side."""
    case = loads(f"plant: hiab-xs031\ncontroller: {law}\nscenario: {{duration: 4 s}}\n")
    for allowed in ("5 mm", "1 um"):
        number = {"5 mm": 5e-3, "1 um": 1e-6}[allowed]
        claims = [
            Tracking(error=number, settle=3.0),
            Requirement(f"always[3 s, end] (tool_error <= {allowed})", "tool"),
        ]
        tracking, tool = examine(case.loop, case.scenario, claims).verdicts[:2]
        assert tool.holds is tracking.holds and tool.margin == tracking.margin
        assert tool.unit == "m" and tool.claim.startswith("tool: always[3 s, end]")


@pytest.mark.parametrize("low, high", [(1e5, None), (1e5, 1e7), (4e6, None)])
def test_built_in_claims_are_the_sentences_that_they_show(low, high):
    """What the table says of `tracking` and `pressures` asked as a requirement: the same answer, margin and instant."""
    case = loads("plant: hiab-xs031\ncontroller: PID\nscenario: {duration: 4 s}\n")
    built_in = [Tracking(error=0.00123457, settle=2.5), Pressures(low, high)]
    shown = examine(case.loop, case.scenario, built_in).verdicts[:2]
    again = [Requirement(v.claim.split(": ", 1)[1], v.key) for v in shown]
    for first, second in zip(shown, examine(case.loop, case.scenario, again).verdicts):
        assert (second.holds, second.unit) == (first.holds, first.unit)
        assert second.margin == first.margin
        assert f"t = {second.data['time']:.2f} s" in first.worst


@pytest.mark.parametrize(
    "value, unit",
    [(5e-3, "m"), (0.00123456789012345, "m"), (2.3125e7, "Pa"), (0.05, "rad"), (3, "s")],
)
def test_numbers_of_built_in_sentences_read_back_exactly(value, unit):
    assert quantity(written(value, unit), unit) == value


def test_signals_worked_out_of_a_run(two_joint, short):
    from controllers import VDC
    from workbench.verification.observed.requirements import joint_errors
    from workbench.verification.temporal.signals import columns, table

    loop = ClosedLoop(two_joint, Sampled(VDC(model=two_joint), 1e-3))
    run = simulated(loop, short)
    known = table(loop, run.demand)
    asked_for = [
        "time",
        "tool_error",
        "e_q_1",
        "e_q_2",
        "e_tcp_x",
        "e_tcp_y",
        "e_tcp_z",
        "v",
        "p_lowest",
    ]
    found = columns(run, asked_for)
    assert set(asked_for) <= set(known) and known["v"] == "J" and known["e_q_1"] == "rad"
    lengths = np.sqrt(sum(found[f"e_tcp_{a}"] ** 2 for a in "xyz"))
    np.testing.assert_allclose(found["tool_error"], lengths, atol=1e-15)
    np.testing.assert_array_equal(found["e_q_1"], joint_errors(run.fine)["q_1"])
    chambers = [run.fine.log.array(name) for name in two_joint.pressure_names]
    np.testing.assert_array_equal(found["p_lowest"], np.min(chambers, axis=0))
    assert len(found["v"]) == len(run.fine.log) and found["v"].max() == run.storage[1].max()


# ---- case files --------------------------------------------------------------------------------------------------------
HEAD = (
    "plant: ieha-published-linear\ncontroller: PID\n"
    "scenario: {reference: {type: Hold, space: output, point: [2 mm]}, duration: 1 s}\nclaims:\n"
)


def case(text):
    return loads(HEAD + text, "case.yaml")


def test_files_state_requirements_by_name_or_in_a_list():
    named = case(
        "  requirements:\n    reach: always[0.5 s, end] (tool_error < 1 mm)\n"
        "    low: {sentence: always (Y < 1 m), counted: false}\n"
    )
    found = [c for c in named.claims if isinstance(c, Requirement)]
    assert [(c.name, c.counted) for c in found] == [("reach", True), ("low", False)]
    assert len(named.claims) == len(case("  tracking: {settle: 0.5 s}\n").claims) + 2
    listed = case("  requirements: [always (Y < 1 m), always (Y < 2 m)]\n")
    assert [c.name for c in listed.claims if isinstance(c, Requirement)] == ["1", "2"]
    (one,) = (
        c for c in case("  requirements: always (Y < 1 m)\n").claims if isinstance(c, Requirement)
    )
    assert one.name == "" and one.key == "requirements"
    assert not [c for c in case("  requirements: false\n").claims if isinstance(c, Requirement)]


@pytest.mark.parametrize(
    "text, line, key, words",
    [
        (
            "  requirements:\n    a: always (Y < 1 m)\n    b: always (YY < 1 m)\n",
            7,
            "claims.requirements.b",
            "did you mean",
        ),
        (
            "  requirements:\n    a: always (Y < 1 bar)\n",
            6,
            "claims.requirements.a",
            "a length was expected",
        ),
        (
            "  requirements:\n    a: {sentense: always (Y < 1 m)}\n",
            6,
            "claims.requirements.a.sentense",
            "did you mean sentence",
        ),
        ("  requirements:\n    a: {sentence: 3}\n", 6, "claims.requirements.a.sentence", "text"),
        (
            "  requirements:\n    a: {sentence: always (Y < 1 m), name: b}\n",
            6,
            "claims.requirements.a.name",
            "given already",
        ),
        ("  requirements:\n    a: 3\n", 6, "claims.requirements.a", "expected a sentence"),
        ("  requirements: {}\n", 5, "claims.requirements", "expected sentences"),
        ("  requirements: true\n", 5, "claims.requirements", "expected sentences"),
        ("  requirements:\n    a: Y < 1 m\n", 6, "claims.requirements.a", "first instant"),
        (
            "  requirements:\n    a: eventually (always (Y < 1 m))\n",
            6,
            "claims.requirements.a",
            "last instant",
        ),
        (
            "  requirements:\n    a: always (eventually (Y < 1 m))\n",
            6,
            "claims.requirements.a",
            "last instant",
        ),
        ("  requirement: true\n", 5, "claims", "did you mean requirements"),
    ],
)
def test_files_that_ask_amiss(text, line, key, words):
    with pytest.raises(InputError) as caught:
        case(text)
    error = caught.value
    assert words in str(error) and error.mend
    assert (error.file, error.line, error.key) == ("case.yaml", line, key), str(error)


def test_the_schema_knows_requirements():
    from plants.shipped import PLANTS

    schema = json.loads(json.dumps(case_schema(PLANTS, laws(), Claim)))
    check = jsonschema.Draft202012Validator(schema)
    good = (
        "{a: always (Y < 1 m)}",
        "[always (Y < 1 m)]",
        "always (Y < 1 m)",
        "{a: {sentence: x, counted: false}}",
        "false",
    )
    for text in good:
        check.validate(parse(HEAD + f"  requirements: {text}\n").plain())
    for text in ("{}", "3", "{a: 3}", "{a: {sentense: x}}"):
        assert list(check.iter_errors(parse(HEAD + f"  requirements: {text}\n").plain())), text


def test_a_signal_that_this_run_does_not_have_is_undecided_with_the_reason():
    """A sentence is read against the loop it is asked of, in Python as in a file."""
    with pytest.raises(InputError, match="no signal 'tool_error'"):
        asked("always (tool_error < 1)")
    run = simulated(DECAY, SCENARIO)
    broken = run.log.values.copy()
    broken[7, run.log.names.index("x0")] = np.nan
    run = replace(run, log=replace(run.log, values=broken), steps=None)
    verdict = check_requirement(Requirement("always (x0 < 2)"), run)
    assert verdict.holds is None and "x0 is not a number" in verdict.worst


def test_a_margin_below_the_error_of_the_run_is_undecided():
    """x(2 s) = e^−2 to rounding: a limit nearer than the integrator's own error cannot be told from it."""
    from workbench.verification.accuracy import errors

    run = simulated(DECAY, SCENARIO)
    error = errors(run)["x0"]
    x = float(run.log.array("x0")[np.searchsorted(run.log.time, 2.0)])
    assert error > 0
    for away, holds in ((0.5, None), (50.0, True)):
        limit = x + away * error
        assert asked(f"always[2 s, end] (x0 < {limit!r})").holds is holds


def test_a_sentence_is_refused_when_the_claim_is_made():
    with pytest.raises(InputError, match="column"):
        Requirement("always (x0 <")
