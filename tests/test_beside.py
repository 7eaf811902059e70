"""Limits are scanned beside the other claims, figures are drawn meanwhile: nothing of what is found depends on that."""

import os
import sys
import threading
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from ledger_cases import CRANE, PATH, sampled

from controllers import PID
from plants import LinearActuator
from reports import Content, chapters
from reports.document import Drawn, figures
from workbench import Hold, Sampled, Scenario
from workbench.contract import own_text
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.verification import claims as C
from workbench.verification import judge, run_claims
from workbench.verification.beside import GIVES_WAY, Abandoned, beside
from workbench.verification.judge import examine

PATIENCE = 60.0  # s, far beyond what anything here takes
SHORT = Scenario(reference=replace(PATH, leg=0.6))
ASKED = (
    C.SampleTimeLimit(up_to=12e-3, bound=5e-2),
    C.Hypotheses(),
    C.DelayLimit(up_to=6e-3, bound=5e-2),
    C.PracticalStability(runs=2, settle=0.5, bound=5e-2),
    C.Linear(),
    C.ParameterLimit("payload.mass", to=1.5, bound=5e-2),
    run_claims.Settled(),
)


class Later:
    """Work that is done when it is asked for."""

    def __init__(self, work):
        self.work = work

    def result(self):
        return self.work(lambda: None)


@contextmanager
def in_turn(works):
    """As `beside`, one after the other, where the caller asks for it."""
    yield [Later(work) for work in works]


def content(found, loop) -> Content:
    return Content(
        "title",
        "question",
        tuple(found.verdicts),
        found.log,
        plant=loop.plant,
        controller=loop.controller,
        analysis=found.analysis,
    )


# ---- the examination ------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def both():
    """(examination with its limits scanned beside, what was known once the run was made and while limits were scanned; the same
    one after the other)."""
    loop, early = sampled(CRANE), []
    fast = examine(loop, SHORT, ASKED, None, early.append)
    early.sort(key=lambda told: len(told.analysis))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(judge, "beside", in_turn)
        slow = examine(sampled(CRANE), SHORT, ASKED)
    return loop, fast, early, slow


def alike(a, b) -> None:
    """Equal to the last bit, arrays and what holds them alike."""
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            alike(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for one, other in zip(a, b):
            alike(one, other)
    elif isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b)
    else:
        assert a == b or a != a and b != b


def test_every_number_is_the_same_to_the_last_bit(both):
    _, fast, _, slow = both
    assert [v.key for v in fast.verdicts] == [v.key for v in slow.verdicts]
    assert len(fast.verdicts) == len(ASKED)
    for one, other in zip(fast.verdicts, slow.verdicts):
        alike(vars(one), vars(other))
    alike(dict(fast.analysis), {name: slow.analysis[name] for name in fast.analysis})
    assert set(fast.analysis) == set(slow.analysis) >= {"sample_time", "delay", "ledger"}
    np.testing.assert_array_equal(fast.log.values, slow.log.values)


def test_what_is_known_early_is_what_is_known_at_the_end(both):
    _, fast, early, _ = both
    of_run, of_claims = early
    assert of_run.analysis == {}  # of a crane under VDC: nothing rests on its run alone
    assert set(fast.analysis) - set(of_claims.analysis) == {"sample_time", "delay"}
    for told in early:
        assert not told.verdicts and told.log is fast.log
        assert all(fast.analysis[name] is array for name, array in told.analysis.items())


def test_figures_drawn_early_are_those_drawn_at_the_end(both):
    loop, fast, early, _ = both
    drawn = Drawn()
    first, before = (figures(content(told, loop), drawn=drawn) for told in early)
    assert {"machine", "path", "pressures", "energy"} <= set(first) and "ledger" not in first
    assert {"ledger", "returns", "bode"} <= set(before)
    assert not {"sample_time", "delay"} & set(before)
    whole = figures(content(fast, loop), drawn=drawn)
    assert whole == figures(content(fast, loop)) and {"sample_time", "delay"} <= set(whole)
    for pictures in (first, before):
        assert all(whole[name] is picture for name, picture in pictures.items())


@pytest.mark.quick
def test_a_failing_claim_ends_the_scans_and_is_what_is_raised():
    wrong = (*ASKED[:1], C.ParameterLimit("no.such", to=1.5), run_claims.Tracking())
    with pytest.raises(InputError, match="no number 'no.such'"):
        examine(sampled(CRANE), SHORT, wrong)


def test_without_scans_the_run_alone_is_early():
    early = []
    examine(sampled(CRANE), SHORT, (run_claims.Saturation(),), None, early.append)
    (of_run,) = early
    assert of_run.verdicts == [] and len(of_run.log.time) > 2


def test_what_an_actuators_run_shows_is_drawn_once():
    """Errors and limits rest on the run alone, and are the same objects at the end."""
    early = []
    actuator = LinearActuator()
    loop = ClosedLoop(actuator, Sampled(PID(actuator, **PID.suited(actuator)), 1e-3))
    found = examine(
        loop, Scenario(reference=Hold("output", (0.01,)), duration=0.4), None, None, early.append
    )
    first = min(early, key=lambda told: len(told.analysis))
    assert {"tracking", "limits"} <= set(first.analysis)
    assert all(found.analysis[name] is array for name, array in first.analysis.items())


# ---- threads --------------------------------------------------------------------------------------------------------
def test_work_goes_on_beside_the_caller():
    met = threading.Barrier(
        3, timeout=PATIENCE
    )  # both works and the caller: none is done before all have begun
    with beside([lambda look: met.wait() >= 0, lambda look: met.wait() >= 0]) as coming:
        met.wait()
        assert [one.result(PATIENCE) for one in coming] == [True, True]


def priority(look=None):
    """That of the thread it is asked on; the larger, the later its turn."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(
    sys.platform != "linux", reason="threads have priorities of their own on Linux alone"
)
def test_work_beside_gives_way_and_the_caller_does_not(monkeypatch):
    before = priority()
    with beside([priority]) as (there,):
        assert there.result() == min(19, before + GIVES_WAY) and priority() == before

    def refused(*given):
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refused)
    with beside([priority]) as (there,):
        assert there.result() == before, "it is done all the same"


def test_work_nobody_waits_for_ends_where_it_looks():
    begun = threading.Event()

    def work(look):
        begun.set()
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            look()
        return "nobody has ended it"

    with pytest.raises(KeyError, match="the caller's own"), beside([work]) as coming:
        assert begun.wait(PATIENCE)
        raise KeyError("the caller's own")
    assert isinstance(coming[0].exception(), Abandoned)


# ---- figures --------------------------------------------------------------------------------------------------------
def planned(made, *basis):
    def draw():
        made.append(basis)
        return None

    return chapters.Planned(draw, basis)


def test_a_figure_is_drawn_anew_where_what_it_shows_is_another_object():
    drawn, made, data = Drawn(), [], {"v": np.ones(3)}
    for basis in ((None, data), (None, data), (None, dict(data)), (None,), (None, data)):
        drawn.of("ledger", planned(made, *basis))
    assert len(made) == 4
    drawn.of("flows", planned(made, None, data))
    assert len(made) == 5


@pytest.mark.parametrize("chapter", chapters.CHAPTERS, ids=lambda chapter: chapter.name)
def test_a_chapter_sees_the_arrays_that_it_declares(chapter):
    """Else a figure could be drawn before something it shows is known, and stay as it is."""
    seen = chapters._seen(chapter, Content("t", "q", analysis={n: {} for n in chapters.analyses()}))
    assert set(seen.analysis) == set(chapter.analysis) and seen.verdicts == ()


# ---- the state of the library's own text ----------------------------------------------------------------------------
def test_a_module_that_another_thread_imports_is_looked_at_when_it_is_whole(monkeypatch):
    """Half of it would count as another text, and everything would be traced anew; none of it, and a change in it be missed."""
    module = ModuleType("plants.half")
    module.__spec__ = type("Spec", (), {"_initializing": True})()
    module.first = 1.0
    before = own_text.own_version()
    monkeypatch.setitem(sys.modules, "plants.half", module)
    assert own_text.own_version() == before
    module.second = 2.0
    module.__spec__._initializing = False
    assert own_text.own_version() == before
    module.second = 3.0
    assert own_text.own_version() != before
    module.second = 2.0
    assert own_text.own_version() == before


def test_threads_see_what_their_caller_has_set():
    told = ContextVar("told", default="nothing")
    token = told.set("code is steady")
    try:
        with beside([lambda look: told.get()]) as coming:
            assert coming[0].result() == "code is steady"
    finally:
        told.reset(token)
