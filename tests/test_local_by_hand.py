"""Local stability with margins, and regions of attraction: what is made of numbers that are given, and in which order."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.linear import local_claim as module
from workbench.verification.regions import claims as regions
from workbench.verification.verdict import Verdict

ASKED = SimpleNamespace(gain=2.0, phase=0.5, counted=True)


def row(phase=0.75, up=3.0, down=0.25, delay=2e-3, disk=0.6, name="1"):
    return {
        "actuator": name,
        "phase": phase,
        "gain_up": up,
        "gain_down": down,
        "delay": delay,
        "disk": disk,
    }


# ---- margins over what is asked ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "one, share, nearest",
    [
        (row(), 1.5, (0.25, "rad", 0.5)),
        (row(phase=0.4), 0.8, (-0.1, "rad", 0.5)),
        (row(up=1.2), 0.6, (-0.8, "1", 2.0)),
        (row(down=0.8), 0.625, (-0.3, "1", 0.5)),
        (row(down=0.0), 1.5, (0.25, "rad", 0.5)),
        (row(phase=math.inf), 1.5, (None, "rad", 0.5)),
        (row(up=2.0), 1.0, (0.25, "rad", 0.5)),
        (row(phase=0.25, up=1.2), 0.5, (-0.25, "rad", 0.5)),
    ],
)
def test_the_margin_that_lacks_most(one, share, nearest):
    """Phase over 0.5, gain over 2, and 1/2 over the gain downwards; where all suffice what is left of the phase."""
    assert module._share(one, ASKED) == pytest.approx(share)
    left, unit, limit = module._nearest(one, ASKED)
    assert (left, unit, limit) == (
        nearest[0] if nearest[0] is None else pytest.approx(nearest[0]),
        *nearest[1:],
    )


@pytest.mark.parametrize(
    "margin, T, rate",
    [
        (3.0, None, 3.0),
        (-2.0, None, -2.0),
        (0.2, 0.01, -math.log(0.8) / 0.01),
        (-0.1, 0.01, -math.log(1.1) / 0.01),
        (1.0, 0.01, math.inf),
    ],
)
def test_the_rate_of_the_slowest_mode(margin, T, rate):
    assert module._rate(margin, T) == pytest.approx(rate)


def test_combinations_of_valve_sides_are_noted():
    assert module._sides(1, 0) == ()
    (note,) = module._sides(3, 2)
    assert "3 of 4 combinations" in str(note) and note.holds is None


def test_margins_of_each_actuator_are_the_worst_of_all_sides(monkeypatch):
    """And the frequency response is that of the first side."""
    sides = [SimpleNamespace(A=k, B=0, C=0, T=0.01) for k in (1, 2)]
    found = {
        (0, 1): ((3.0, 0.2, 0.9, 4e-3), 0.5),
        (0, 2): ((2.5, 0.3, 1.0, 3e-3), 0.7),
        (1, 1): ((None, None, None, None), None),
        (1, 2): ((4.0, 0.1, 0.8, 5e-3), 0.9),
    }
    monkeypatch.setattr(module, "break_loop", lambda A, B, C, i, T: (i, A))
    keys = ("gain_up", "gain_down", "phase_margin", "delay_margin")
    monkeypatch.setattr(
        module, "loop_margins", lambda L: SimpleNamespace(**dict(zip(keys, found[L][0])))
    )
    monkeypatch.setattr(module, "disk_margin", lambda L: SimpleNamespace(α=found[L][1]))
    monkeypatch.setattr(module, "response", lambda L: L)
    commands = [SimpleNamespace(name=n) for n in ("u_lift", "v")]
    run = SimpleNamespace(loop=SimpleNamespace(controller=SimpleNamespace(commands=commands)))
    rows, loops = module.margins_of(run, sides)
    assert rows[0] == {
        "actuator": "lift",
        "gain_down": 0.3,
        "gain_up": 2.5,
        "phase": 0.9,
        "delay": 3e-3,
        "disk": 0.5,
    }
    assert rows[1] == {
        "actuator": "v",
        "gain_down": 1.0,
        "gain_up": 0.0,
        "phase": 0.0,
        "delay": 0.0,
        "disk": 0.0,
    }
    assert loops == {"lift": (0, 1), "v": (1, 1)}


@pytest.mark.parametrize("T, top", [(0.01, 100 * math.pi), (None, 1e3)])
def test_a_response_is_drawn_up_to_half_the_rate_of_samples(T, top):
    L = SimpleNamespace(T=T, response=lambda ω: (1 / (1j * ω))[:, None, None])
    ω, values = module.response(L)
    assert len(ω) == 300 and (ω[0], ω[-1]) == pytest.approx((0.1, top))
    assert values == pytest.approx(1 / (1j * ω))


# ---- the verdict at rest -------------------------------------------------------------------------------------------------------
def judged(
    monkeypatch,
    holds=True,
    margins=(0.2, 0.1),
    rows=None,
    residual=(1e-3, 2e-3),
    steep=(),
    cylinders=1,
):
    """Two sides of a valve, the second one slower; what is said of them."""
    sides = [
        SimpleNamespace(A=m, T=0.01, states=("x",), residual=r, deflated=3, leak=0.5)
        for m, r in zip(margins, residual)
    ]

    def stability(A, T, states):
        spectrum = SimpleNamespace(margin=A, eigenvalues=[A])
        return SimpleNamespace(
            spectrum=spectrum, holds=holds if A == min(margins) else True, why=f"why {A}"
        )

    monkeypatch.setattr(module, "linearised", lambda run: sides)
    monkeypatch.setattr(module, "stability", stability)
    monkeypatch.setattr(module, "_refuse_timed", lambda run: None)
    monkeypatch.setattr(module, "steep_states", lambda found: list(steep))
    given = [row(), row(phase=0.6, name="2")] if rows is None else rows
    monkeypatch.setattr(module, "margins_of", lambda run, found: (given, "loops"))
    run = SimpleNamespace(loop=SimpleNamespace(plant=SimpleNamespace(cylinders=[0] * cylinders)))
    return module.check_linear(ASKED, run)


def test_the_slowest_side_and_the_actuator_with_least_decide(monkeypatch):
    found = judged(monkeypatch)
    assert found.holds is True and found.strength == "numerical" and found.counted
    assert (found.margin, found.unit, found.limit) == (pytest.approx(0.1), "rad", 0.5)
    assert found.worst.startswith(
        "actuator 2: gain 0.25 … 3, phase 34.4°, delay near 2 ms, disk 0.6"
    )
    assert found.data["rate"] == pytest.approx(-math.log(0.9) / 0.01) and found.data[
        "eigenvalues"
    ] == [0.1]
    assert (found.data["deflated"], found.data["leak"], found.data["loops"]) == (3, 0.5, "loops")
    assert "2 of 2 combinations" in str(found.assumptions[0])
    assert found.claim == "linearised at rest: stable, gain margin ≥ 2, phase margin ≥ 28.6°"
    lacking = judged(monkeypatch, rows=[row(), row(up=1.9)])
    assert lacking.holds is False and lacking.margin == pytest.approx(-0.1)
    assert judged(monkeypatch, rows=[row(phase=0.5)]).holds is True


@pytest.mark.parametrize("holds, strength", [(False, "numerical"), (None, None)])
def test_what_is_not_stable_has_no_margins(monkeypatch, holds, strength):
    found = judged(monkeypatch, holds)
    assert (found.holds, found.strength, found.worst) == (holds, strength, "why 0.1")
    assert "margins" not in found.data


def test_where_there_is_nothing_to_linearise(monkeypatch):
    off = judged(monkeypatch, residual=(1e-3, 1.01e-2))
    assert off.holds is None and "no equilibrium (rates up to 0.01" in off.worst
    assert off.data == {"residual": 1.01e-2} and judged(monkeypatch, residual=(1e-3, 0.99e-2)).holds
    assert judged(monkeypatch, residual=(math.nan, math.nan)).holds is None
    steep = judged(monkeypatch, steep="abcde")
    assert steep.holds is None and "no slope at rest: a, b, c, d change" in steep.worst

    def refuses(run):
        raise InputError("no derivative")

    monkeypatch.setattr(module, "linearised", refuses)
    found = module.check_linear(ASKED, None)
    assert found.holds is None and found.worst == "cannot linearise: no derivative"


# ---- regions of attraction -----------------------------------------------------------------------------------------------------
def signals(*names, unit="m"):
    return [SimpleNamespace(name=n, unit=unit, kind="") for n in names]


def limited(factor, T=0.01):
    return SimpleNamespace(T=T, next=lambda x: factor * x)


@pytest.mark.parametrize(
    "factor, gone", [(10.0, True), (1.0, False), (-10.0, True), (math.nan, True)]
)
def test_a_run_that_leaves(factor, gone):
    """Ten times as far a sample: LEAVES times after so many."""
    many = math.floor(math.log10(regions.LEAVES) + 1e-9)
    found = regions._leaves(limited(factor), np.array([0.5, -2.0]))
    assert bool(found) is gone
    if abs(factor) == 10.0:
        assert found == many
    if math.isnan(factor):
        assert found == 1
    assert regions._leaves(limited(factor, None), np.array([1.0])) == 0


def test_references_that_stand_still_and_others():
    log = {"x_d": [2.0, 2.0], "dx_d": [0.5, 0.5]}

    class Log(dict):
        array = staticmethod(lambda name: np.array(log[name]))

    refs = signals("x_d", "dx_d", "away")
    run = SimpleNamespace(
        loop=SimpleNamespace(controller=SimpleNamespace(references=refs)), log=Log(log)
    )
    assert regions.reference(run) == ([2.0, 0.5, 0.0], True)
    log["x_d"] = [3.0, 2.0]
    assert regions.reference(run) == ([3.0, 0.0, 0.0], False)
    assert regions._at(run.loop, [3.0, 0.0, 0.0]).startswith("x_d = 3 m, dx_d = ")
    none = SimpleNamespace(controller=SimpleNamespace(references=()))
    assert regions._at(none, []) == "zero"


def test_the_direction_along_which_a_region_is_made_large():
    plant = SimpleNamespace(states=signals("a", "b", "c"))
    loop = lambda *measured: SimpleNamespace(
        plant=plant, controller=SimpleNamespace(measured=signals(*measured))
    )
    assert regions._first(loop("y", "c", "b")) == "c" and regions._first(loop("y")) == "a"
    assert regions._state(plant, {"b": "20 mm"}, np.array([1.0, 2.0, 3.0, 99.0]), "start") == [
        1.0,
        0.02,
        3.0,
    ]
    with pytest.raises(InputError, match="start.c"):
        regions._state(plant, {"c": "5 bar"}, np.zeros(3), "start")


BLANK = Verdict("region-of-attraction", "text", None, None, worst="")


@pytest.fixture
def asked():
    plant = SimpleNamespace(states=signals("a", "b"))
    commands = signals("u", unit="V")
    run = SimpleNamespace(
        loop=SimpleNamespace(plant=plant, controller=SimpleNamespace(commands=commands))
    )
    reach = {1: 1.5, 2: 1.25, 3: 0.8}
    region = SimpleNamespace(
        reach=lambda d: reach[int(abs(d[0]))],
        holds=lambda d: reach[int(abs(d[0]))] >= 1,
        u_max=np.array([3.0]),
    )
    return run, region


def of_starts(asked, *sizes, leaves=0.0):
    run, region = asked
    starts = tuple({"a": float(k)} for k in sizes)
    own = limited(leaves)
    deviations = [np.array([float(k)]) for k in sizes]
    claim = SimpleNamespace(starts=starts)
    return regions._of_starts(
        claim, run, own, region, np.zeros(1), deviations, {"a": "m"}, 1e-6, BLANK
    )


def test_starts_are_inside_a_region_or_leave_or_are_left_open(asked):
    """The nearest to the edge decides; what is outside is violated only where a run leaves from there."""
    found = of_starts(asked, 1, 2)
    assert found.holds is True and found.strength == "proof" and found.margin == pytest.approx(0.25)
    assert found.worst.startswith("nearest the edge: a = 2 m, which could be 1.25 times as far")
    found = of_starts(asked, 1, 3, leaves=10.0)
    assert (
        found.holds is False
        and found.strength == "sampled"
        and found.worst.startswith("from a = 3 m the loop leaves")
    )
    found = of_starts(asked, 3, 1)
    assert (
        found.holds is None
        and found.worst == "not inside: a = 3 m; the largest region found reaches 0.8 of the way"
    )


def test_how_far_a_region_reaches_along_a_direction(asked):
    run, region = asked
    way, units = np.array([2.0]), {"a": "m", "b": "m"}
    found = regions._of_direction(run, region, way, {"a": "-40 mm"}, units, 1e-6, BLANK)
    assert found.holds is True and found.margin == pytest.approx(0.05) and found.unit == "m"
    assert found.worst.startswith("a off by up to 50 mm, all else at rest; limits leave ±3 V")
    found = regions._of_direction(run, region, way, {"a": "-40 mm", "b": 1.0}, units, 1e-6, BLANK)
    assert found.worst.startswith("up to 1.25 times the direction stated")


@pytest.mark.parametrize(
    "holds, said",
    [
        (True, "no region found"),
        (None, "no region found; away from its limits: unsure"),
        (False, "unstable away from its limits: unsure"),
    ],
)
@pytest.mark.parametrize("T", [None, 0.01])
def test_without_a_region(monkeypatch, holds, said, T):
    s = SimpleNamespace(holds=holds, why="unsure", spectrum=SimpleNamespace(margin=-0.3))
    monkeypatch.setattr(regions, "stability", lambda M, T, states: s)
    monkeypatch.setattr(regions, "too_many", lambda n: "")
    own = SimpleNamespace(M=np.eye(2), T=T, states=())
    say_no = lambda worst, **more: replace(BLANK, worst=worst, **more)
    found = regions._none_found(own, say_no, ())
    assert found.worst == said and found.holds is (False if holds is False else None)
    if holds is False:
        assert (found.margin, found.unit, found.strength) == (
            -0.3,
            "1/s" if T is None else "1",
            "numerical",
        )
