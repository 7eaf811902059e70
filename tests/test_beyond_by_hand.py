"""Limits of a machine, overshoot and what time drives, on logs that are written down: what is worst, where, and what breaks."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.contract.machine_limits import Limit
from workbench.verification.observed import overshoot, response
from workbench.verification.observed.machine import check_machine_limits, limits_of

TIME = np.linspace(0.0, 10.0, 101)


class Log(dict):
    array = dict.__getitem__
    time = TIME


def a_run(completed=True, limits=(), commands=("u",), **signals):
    log = Log(signals)
    log.status = SimpleNamespace(
        completed=completed, message="gone", t_end=4.0, state=[], followed=True
    )
    plant = SimpleNamespace(machine_limits=lambda: limits)
    loop = SimpleNamespace(plant=plant, controller=SimpleNamespace(commands=commands))
    return SimpleNamespace(log=log, loop=loop, kept={}, end="" if completed else "gone")


def at(k, value, level=0.5):
    found = np.full(101, level)
    found[k] = value
    return found


CLAIM = SimpleNamespace(share=0.05, counted=True)
STROKE = Limit("stroke of lift", ("s",), 0.2, 1.0, "m", "stroke", key="l_2")
SPOOL = Limit("travel", ("x",), -2.0, 2.0, "V", "valve", key="u_max", bearable=True)
FLOW = Limit("flow", ("Q_1", "Q_2"), high=3.0, unit="m^3/s", kind="flow", key="Q_max")


# ---- limits of a machine ---------------------------------------------------------------------------------------------------
def limited(limits, claim=CLAIM, **signals):
    return check_machine_limits(claim, a_run(limits=limits, **signals))


@pytest.mark.parametrize(
    "s, holds, margin, limit",
    [
        (at(30, 0.95), True, 0.05, 1.0),
        (at(30, 0.25), True, 0.05, 0.2),
        (at(30, 1.1), False, -0.1, 1.0),
        (at(30, 0.1), False, -0.1, 0.2),
        (at(30, 1.0), True, 0.0, 1.0),
        (at(30, 1.0 + 0.7e-6), True, -0.7e-6, 1.0),
        (at(30, 1.0 + 0.9e-6), False, -0.9e-6, 1.0),
    ],
)
def test_a_limit_that_no_machine_passes(s, holds, margin, limit):
    """A millionth of its room of 0.8 m is rounding."""
    found = limited([STROKE], s=s)
    assert found.holds is holds and found.margin == pytest.approx(margin) and found.limit == limit
    assert found.unit == "m" and found.instant == pytest.approx(3.0) and "(l_2)" in found.worst
    (row,) = found.data["limits"]
    assert row["broken"] is not holds and row["reached"] == pytest.approx(1 - margin / 0.8)
    assert row["share"] == pytest.approx(0.0 if holds else 1 / 101)
    assert ("beyond it for 0.99 % of the time" in found.worst) is not holds


@pytest.mark.parametrize("many, holds", [(5, True), (6, False)])
def test_a_limit_that_a_machine_bears_for_a_share_of_the_time(many, holds):
    """Five of 101 rows are less than a twentieth of them, six are more."""
    x = np.where(np.arange(101) < many, 2.0, 0.0)
    found = limited([SPOOL], x=x)
    assert found.holds is holds
    assert found.worst.endswith(f"; at it for {100 * many / 101:.2g} % of the time, 5 % may be")
    share = found.data["limits"][0]["share"]
    assert share == pytest.approx(many / 101)
    assert (found.margin, found.unit, found.limit) == (pytest.approx(0.05 - share), "1", 0.05)
    assert limited([SPOOL], SimpleNamespace(share=0.0, counted=False), x=x).holds is False


def test_a_limit_that_is_never_reached_leaves_room_in_its_own_unit():
    found = limited([SPOOL], x=np.full(101, 0.5))
    assert found.holds is True and "at it for" not in found.worst
    assert found.unit == SPOOL.unit and found.margin == pytest.approx(SPOOL.high - 0.5)


def test_the_limit_that_is_broken_most_is_told_first():
    calm = {"s": at(30, 0.99), "x": at(20, 1.0), "Q_1": at(5, 1.0), "Q_2": at(5, 1.5)}
    found = limited([STROKE, SPOOL, FLOW], **calm)
    assert found.holds is True and found.worst.startswith("nearest: stroke of lift 0.99 m")
    assert found.claim == "the machine's limits are kept: strokes, valve travel, pump flow"
    broken = limited([STROKE, SPOOL, FLOW], **calm | {"Q_2": at(5, 2.5)})
    assert broken.holds is False and broken.worst.startswith("nearest: flow ")
    assert [row["broken"] for row in broken.data["limits"]] == [False, False, True]
    both = limited([STROKE, FLOW], **calm | {"Q_2": at(5, 2.5), "s": at(30, 1.9)})
    assert both.worst.startswith("nearest: stroke of lift 1.9 m")


def test_what_is_not_asked_of_a_machine():
    command = Limit("command", ("u",), -1.0, 1.0, "V", "command")
    plant = SimpleNamespace(machine_limits=lambda: [command, STROKE])
    assert limits_of(plant) == [STROKE]
    none = limited([command])
    assert none.holds is None and none.worst == "the plant states no limits" and none.counted
    open_ = check_machine_limits(CLAIM, a_run(limits=[SPOOL], commands=(), x=at(3, 9.0)))
    assert open_.holds is None
    gone = check_machine_limits(CLAIM, a_run(False, [STROKE], s=at(3, 0.5)))
    assert gone.holds is False and gone.worst == "gone"


# ---- overshoot --------------------------------------------------------------------------------------------------------------
def beyond(monkeypatch, reference=True, share=0.1, **outputs):
    """Outputs as (actual, wanted)."""
    run = a_run(**{name: actual for name, (actual, _) in outputs.items()})
    run.demand = SimpleNamespace(reference="r" if reference else None)
    errors = {name: wanted - actual for name, (actual, wanted) in outputs.items()}
    monkeypatch.setattr(overshoot, "joint_errors", lambda run: errors)
    monkeypatch.setattr(overshoot, "signal_floor", lambda plant, name: 1e-3)
    return overshoot.check_overshoot(
        SimpleNamespace(share=share, counted=True), run
    ), overshoot.overshoot(run)


STEP = np.where(TIME < 1.0, 0.0, 2.0)


@pytest.mark.parametrize(
    "height, share, where",
    [(2.18, 0.09, 50), (2.22, 0.11, 50), (-0.18, 0.09, 50), (-0.22, 0.11, 50), (1.9, 0.0, 0)],
)
def test_what_goes_beyond_the_ends_of_its_way(monkeypatch, height, share, where):
    """Of a step from 0 to 2 that begins at 0.2: the way is 2."""
    found, largest = beyond(monkeypatch, a=(at(50, height, 0.2), STEP))
    assert found.holds is (share <= 0.1) and found.margin == pytest.approx(0.1 - share)
    assert largest.max() == pytest.approx(share) and found.data == {"a": pytest.approx(share)}
    assert found.worst.endswith(f"at t = {TIME[where]:.2f} s") and found.limit == 0.1


def test_the_output_that_overshoots_most(monkeypatch):
    """Where an output starts is part of its way; one that is asked for no way is left out."""
    a, b, still = (
        (at(50, 2.1, 1.0), STEP),
        (at(70, 4.36, 4.0), STEP),
        (at(20, 7.0, 5.0), 5.0 + 0 * TIME),
    )
    found, largest = beyond(monkeypatch, a=a, b=b, c=still)
    assert set(found.data) == {"a", "b"} and found.holds is True
    assert found.data == {"a": pytest.approx(0.05), "b": pytest.approx(0.09)}
    assert found.worst.startswith("b: 9 % beyond its way, at t = 7.00 s")
    assert (
        largest[50] == pytest.approx(0.05)
        and largest[70] == pytest.approx(0.09)
        and largest[0] == 0
    )
    none, nothing = beyond(monkeypatch, c=still)
    assert none.holds is None and nothing is None and "no output is asked to move" in none.worst
    assert beyond(monkeypatch, reference=False, a=a)[1] is None


# ---- what time drives --------------------------------------------------------------------------------------------------------
class Goes:
    """A disturbance that goes on; or one that ends."""

    def __init__(self, duration=None):
        if duration is not None:
            self.duration = duration

    def sample(self, t, order):
        return None


@pytest.mark.parametrize(
    "push, timed, said",
    [
        (20.0, False, ""),
        (Goes(), False, "disturbance F"),
        (Goes(5.1), False, "disturbance F"),
        (Goes(5.0), False, ""),
        (20.0, True, "the plant's own motion in time"),
    ],
)
def test_what_drives_a_loop_by_time_itself(monkeypatch, push, timed, said):
    """Beyond half of a run of 10 s, or an instant that is asked for; a plant is asked once whether time matters."""
    monkeypatch.setattr(response, "ends", lambda motion: getattr(motion, "duration", np.inf))
    monkeypatch.setattr(response, "_timed", lambda run: timed)
    scenario = SimpleNamespace(length=lambda: 10.0, disturbances={"G": 1.0, "F": push})
    run = SimpleNamespace(scenario=scenario, kept={})
    assert response.driven(run) == said
    assert run.kept == ({} if said.startswith("disturbance") else {"moves_in_time": timed})
    monkeypatch.setattr(response, "_timed", lambda run: not timed)
    assert response.driven(run) == said or not run.kept


@pytest.mark.parametrize("after, said", [(5.0, "disturbance F"), (7.0, ""), (9.0, "")])
def test_what_ends_before_an_instant_drives_nothing_after_it(monkeypatch, after, said):
    monkeypatch.setattr(response, "_timed", lambda run: False)
    scenario = SimpleNamespace(length=lambda: 4.0, disturbances={"F": Goes(7.0)})
    run = SimpleNamespace(scenario=scenario, kept={})
    assert response.driven(run, after=after) == said
    assert response.driven(run) == "disturbance F"


@pytest.mark.parametrize("rate, timed", [(0.0, False), (1e-13, False), (1e-9, True)])
def test_a_plant_called_from_python_is_asked_whether_time_matters(rate, timed):
    signals = lambda *names: [SimpleNamespace(name=n) for n in names]
    asked = []

    def rhs(t, x, u):
        asked.append((list(x), list(u)))
        return [x[0] + u[0], 2.0 * u[1] + rate * t]

    plant = SimpleNamespace(
        states=signals("x"), inputs=signals("u", "d"), defaults=lambda: {"d": 3.0}, rhs=rhs
    )
    controller = SimpleNamespace(commands=signals("u"))
    run = a_run(x=TIME, u=2 * TIME)
    run.loop = SimpleNamespace(hosted=True, plant=plant, controller=controller)
    run.scenario = SimpleNamespace(length=lambda: 10.0)
    assert response._timed(run) is timed
    assert asked[0] == ([5.0], [10.0, 3.0]) and len(asked) == response.INSTANTS

    def refuses(t, x, u):
        raise InputError("no flow")

    plant.rhs = refuses
    assert response._timed(run) is False


def test_what_swings_beside_the_response_to_what_drives(monkeypatch):
    """A worst one, (signal, kind, Hz, …), or none; without another start the two cannot be told apart."""
    seen = {None: ("a", "limit cycle", 2.0), "other": None}
    brief = {"said": ""}
    made = lambda worst: SimpleNamespace(worst=lambda chatter: worst, brief=brief["said"])
    monkeypatch.setattr(response, "oscillations", lambda run, floor, other=None: made(seen[other]))
    monkeypatch.setattr(response, "pace", lambda f: f" at {f:g} Hz")
    drives, starts = {}, {}
    monkeypatch.setattr(response, "driven", lambda run: drives["by"])
    monkeypatch.setattr(response, "companion", lambda run: starts["other"])
    ask = lambda by, other: (
        drives.update(by=by),
        starts.update(other=other),
        response.swings(None, 1e-3, 0.05),
    )[2]
    own = ask("", None)
    assert (own.driver, own.open, own.words(0.05)) == ("", False, "limit cycle of a at 2 Hz")
    told = ask("disturbance F", "other")
    assert (told.driver, told.open, told.words(0.05)) == ("disturbance F", False, "")
    open_ = ask("disturbance F", None)
    assert (open_.driver, open_.open, open_.words(0.05)) == ("disturbance F", True, "")
    seen[None] = None
    assert ask("disturbance F", None).driver == ""
    brief["said"] = "a moves, too few periods"
    slow = ask("disturbance F", "other")
    assert (slow.driver, slow.open, slow.words(0.05)) == ("disturbance F", False, "")


@pytest.mark.parametrize(
    "completed, left, none", [(True, "", False), (False, "", True), (True, "x leaves", True)]
)
def test_a_run_from_another_start_that_ends_well(monkeypatch, completed, left, none):
    other = SimpleNamespace(
        log=SimpleNamespace(status=SimpleNamespace(completed=completed)), left=(1.0, left)
    )
    monkeypatch.setattr(response, "drawn", lambda run, many, spread: ["start"] * many)
    monkeypatch.setattr(response, "scenario_from", lambda run, start, base: (start, base))
    monkeypatch.setattr(response, "simulated", lambda loop, scenario: other)
    plant = SimpleNamespace(no_other_starts="")
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant), scenario="base", kept={})
    assert response.companion(run) is (None if none else other) and "companion" in run.kept
    plant.no_other_starts = "a record"
    assert response._companion(run) is None
