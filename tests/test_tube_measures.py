"""What a tube tells of its samples (errors, the tool's error, the accompanying function) against log, ledger and other runs."""

from dataclasses import replace

import numpy as np
import pytest
from test_tube import ASKED, loop
from test_tube_crane import first_samples, read

import fluidproof as fp
from workbench.contract.errors import InputError
from workbench.numerics.calculus import trace
from workbench.run.simulate import simulate
from workbench.verification.run import of_log, run
from workbench.verification.tube.beside import other
from workbench.verification.tube.checker import judge
from workbench.verification.tube.checker.judge import measured
from workbench.verification.tube.claim_settings import bounds, errors_of, sentence, widths
from workbench.verification.tube.measures import measures, named
from workbench.verification.tube.posed import before, posed
from workbench.verification.tube.search import tiny


def told_of(made, loop_, scenario):
    """tool_error, v and the joints' errors of a run, at its samples: from the log's outputs and the ledger of the loop."""
    one = of_log(loop_, scenario, simulate(loop_, scenario), made.demand)
    traced = trace(loop_, one.demand.live)
    X = one.log.values[:, : traced.n_states]
    t = one.log.time
    w = one.demand.at(t)
    begun = np.array(traced.start(0.0, one.demand.start, w[0], traced.constants(loop_))).ravel()
    states = before(X, begun, traced)
    v = one.ledger.storage(loop_, t, states, w)
    wanted = dict(zip(one.demand.live, w.T))
    errors = {f"e_{q}": wanted[f"{q}_d"] - one.log.array(q) for q in ("q_1", "q_2")}
    return errors | {"tool_error": one.tool_error, "v": v}


@pytest.mark.parametrize("loads", [False, True])
def test_what_is_told_of_samples_holds_runs_from_corners(loads):
    """Bounds over the nodes hold every run of the box, and are no more than a few times as wide as what corners reach."""
    name = "tube-crane-loads" if loads else "tube-crane"
    case, claim = read("scenario.duration=12 ms", name=name)
    made, question, c = first_samples(case, claim)
    low, high = measured(c)
    assert c.told.tolist() == ["e_q_1", "e_q_2", "tool_error", "v"]
    half = widths(claim, case.loop)
    numbers = question.free.numbers
    largest = np.zeros(4)
    for signs in np.random.default_rng(3).choice([-1.0, 1.0], (6, len(half) + len(numbers))):
        found = told_of(made, *other(made, half, numbers, signs))
        seen = np.column_stack([found[name] for name in c.told])[: len(low)]
        assert ((low <= seen + 1e-15) & (seen <= high + 1e-15)).all()
        largest = np.maximum(largest, np.abs(seen).max(axis=0))
    most = np.maximum(np.abs(low), np.abs(high)).max(axis=0)
    assert (most < [1.1, 1.1, 1.2, 7.0] * largest).all()


@pytest.mark.quick
def test_values_are_those_of_log_and_ledger_where_nothing_is_uncertain(monkeypatch):
    case, claim = read("scenario.duration=5 ms")
    question = posed(run(case.loop, case.scenario), widths(claim, case.loop))
    low, high = measured(tiny(question))
    made = run(case.loop, case.scenario)
    found = told_of(made, case.loop, case.scenario)
    nominal = np.column_stack([found[name] for name in question.tube.told])[: len(low)]
    assert (low + high)[1:] / 2 == pytest.approx(nominal[1:], rel=1e-6, abs=1e-12)
    assert found["v"].min() > 0 and found["tool_error"].min() > 0
    with monkeypatch.context() as few:
        few.setattr(judge, "AT_ONCE", 2)
        assert np.array_equal(measured(tiny(question)), (low, high))


def test_names_and_units_of_what_can_be_told():
    crane = fp.machine("hiab-xs031").plant
    under = lambda law: fp.ClosedLoop(crane, fp.Sampled(getattr(fp, law)(crane), 1e-3))
    assert named(under("VDC"))["v"] == "J" and "v" not in named(under("PID"))
    assert named(under("VDC"))["tool_error"] == "m"
    pistons = dict.fromkeys(("e_x_t2", "e_x_1", "e_x_2"), "m")
    assert named(under("PID")) == errors_of(under("PID")) == pistons
    assert named(loop()) == {"e_y": "1"}
    assert errors_of(under("VDC")) == {"tool_error": "m"} and errors_of(loop()) == {"e_y": "1"}


def test_bounds_that_are_asked_in_units_and_words():
    case, claim = read("scenario.duration=5 ms")
    asked = replace(
        claim, error="2 mm", within={"v": ("0 J", "3 J"), "p_a1": ("1 bar", "185 bar"), "e_q_2": ("-1 mrad", "2 mrad")}
    )  # fmt: skip
    found = bounds(asked, case.loop)
    assert found["tool_error"] == (-2e-3, 2e-3) and found["v"] == (0.0, 3.0)
    assert found["p_a1"] == (1e5, 185e5) and found["e_q_2"] == pytest.approx((-1e-3, 2e-3))
    text = sentence(asked, case.loop, widths(asked, case.loop))
    assert ", its tool no more than 2 mm from the reference at every sample" in text
    assert ", v between 0 J and 3 J at every sample, p_a1 between 1 bar and 185 bar, e_q_2" in text
    with pytest.raises(InputError, match="within.v"):
        bounds(replace(asked, within={"v": ("0 m", "1 m")}), case.loop)
    with pytest.raises(InputError, match="within.w"):
        bounds(replace(asked, within={"w": (0, 1)}), case.loop)
    with pytest.raises(InputError, match="within.v"):
        bounds(replace(ASKED, within={"v": (0, 1)}), loop())


def test_a_name_that_a_state_has_is_that_state_s(monkeypatch):
    """Bounds of a state `v`, or `e_y`, are not those of what a tube tells by the same name."""
    own = loop()
    assert "e_y" in named(own)
    from workbench.verification.tube import measures as module

    real = module.names
    monkeypatch.setattr(module, "names", lambda signals: (*real(signals), "e_y"))
    assert named(own) == {}
    traced = trace(own, ("y_d",))
    assert measures(own, traced, set(range(traced.n_states))).names == ()


def test_errors_in_several_units_are_bounded_one_by_one(monkeypatch):
    from workbench.verification.tube import claim_settings as module

    monkeypatch.setattr(module, "named", lambda loop: {"e_q": "rad", "e_x": "m", "v": "J"})
    claim = replace(ASKED, error=1.0)
    with pytest.raises(InputError, match="error: outputs have several units .e_q in rad, e_x in m"):
        module.error_of(claim, None)
    monkeypatch.setattr(module, "named", lambda loop: {"v": "J"})
    with pytest.raises(InputError, match="error: no output of this loop has a reference"):
        module.error_of(claim, None)


def test_what_no_sample_reads_is_left_out_with_the_reason():
    case, _ = read("scenario.duration=5 ms")
    made = run(case.loop, case.scenario)
    traced = trace(case.loop, made.demand.live)
    everything = measures(case.loop, traced, set(range(traced.n_states)))
    assert everything.names == ("e_q_1", "e_q_2", "tool_error", "v") and not everything.left
    few = measures(case.loop, traced, {1})
    assert few.names == ("e_q_2",)
    assert few.left["e_q_1"] == few.left["v"] == "it depends on q_1, which no sample reads"
