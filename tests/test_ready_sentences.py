"""Built-in requirements as sentences: what the table prints reads back, asks the monitor the same, and gives the numbers of a sum
that is written out here."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_requirements import TIME, ran

from workbench.contract.machine_limits import Limit
from workbench.contract.units import as_shown, quantity
from workbench.verification.observed import oscillation, overshoot, shares
from workbench.verification.observed.machine import check_machine_limits
from workbench.verification.run_claims import MachineLimits, Overshoot
from workbench.verification.temporal import ready
from workbench.verification.temporal.sentence import read

RNG = np.random.default_rng(7)


@pytest.mark.quick
@pytest.mark.parametrize(
    "sentence, table",
    [
        (ready.saturation(0.01), {"at_limit": "1"}),
        (ready.saturation(1 / 3), {"at_limit": "1"}),
        (ready.overshoot(0.1), {"overshoot": "1"}),
        (ready.borne("at spool lift", 0.02), {"at spool lift": "1"}),
        (ready.within(Limit("x", ("a", "b c"), -0.3, 0.7, "m")), {"a": "m", "b c": "m"}),
        (ready.within(Limit("x", ("always",), high=3e5, unit="Pa")), {"always": "Pa"}),
        (
            ready.settled(1e-4, {"q_1": "rad"}, 0.05, ["u_1"]),
            {"swing_q_1": "rad", "chatter_u_1": "1"},
        ),
    ],
)
def test_what_is_printed_is_what_is_asked(sentence, table):
    again = read(sentence.text, table)
    column = {name: RNG.uniform(-0.01, 0.02, len(TIME)) for name in table}
    assert again.on(TIME, column).holds == sentence.on(TIME, column).holds
    assert again.on(TIME, column).margin == sentence.on(TIME, column).margin


def test_numbers_of_many_digits_are_printed_with_six():
    """Further digits of a computed limit are rounding; names keep their digits."""
    limit = Limit("x", ("s_1.234567", "p"), 0.9299999999999999, 1 / 3 + 2, "m")
    assert ready.within(limit).shown == (
        "always (s_1.234567 + p >= 0.93 m and s_1.234567 + p <= 2.33333 m)"
    )
    written = read("always (p < 0.05 m)", {"p": "m"})
    assert written.shown == written.text


def limited(limits, **columns):
    plant = {"machine_limits": lambda: limits, "limits": dict}
    run = ran(plant=plant, units=dict.fromkeys(columns, "m"), **columns)
    run.loop.controller = SimpleNamespace(commands=("u",), inner=None)
    return run


@pytest.mark.parametrize("shift", [0.0, 0.2, 0.45])
@pytest.mark.parametrize("bearable", [False, True])
def test_limits_of_a_machine_have_the_numbers_of_their_rooms(shift, bearable):
    """Room, share of the time at the limit, and what is broken, from the definition."""
    a, b = 0.4 * np.sin(TIME) + shift, 0.1 * np.cos(2 * TIME)
    limit = Limit("two", ("a", "b"), -0.5, 0.6, "m", "valve", "travel", "two.x", bearable)
    found = check_machine_limits(MachineLimits(share=0.2), limited((limit,), a=a, b=b))
    room = np.minimum(a + b + 0.5, 0.6 - (a + b))
    at = room <= 1.1e-6 if bearable else room < -1.1e-6
    (row,) = found.data["limits"]
    assert row["margin"] == room.min() and row["share"] == np.mean(at)
    borne = bearable and at.any()
    assert found.margin == (0.2 - np.mean(at) if borne else room.min())
    assert (found.unit, found.limit) == (("1", 0.2) if borne else ("m", row["limit"]))
    assert found.holds is bool(np.mean(at) <= 0.2 if bearable else not at.any())
    asked = (
        "always (`at two` <= 20 %)" if bearable else "always (a + b >= -0.5 m and a + b <= 0.6 m)"
    )
    assert row["sentence"] == asked


def test_the_share_at_a_limit_grows_to_that_of_the_run():
    limit = Limit("spool", ("a",), -1.0, 1.0, "m", "valve", "travel", "x", True)
    a = np.array([0, 1, 1, 0, -1, 0, 0, 0, 0.0])
    run = limited((limit,), a=a)
    assert np.array_equal(shares.at_machine_limit(run, "at spool") * 9, [0, 1, 2, 2, 3, 3, 3, 3, 3])
    assert shares.at_machine_limit(run, "at spoon") is None


# ---- overshoot ------------------------------------------------------------------------------------------------------------
def stepped(y, wanted, names=("y",), time=TIME):
    """A run whose outputs are to follow what is wanted, columns."""
    columns = {n: column for n, column in zip(names, y)}
    columns |= {f"{n}_d": column for n, column in zip(names, wanted)}
    run = ran(time=time, plant={"has_tool": False, "limits": dict}, **columns)
    run.demand = SimpleNamespace(
        reference=SimpleNamespace(space="output"), wanted=[(n, 0) for n in names]
    )
    return run


@pytest.fixture(autouse=True)
def without_a_floor(monkeypatch):
    monkeypatch.setattr(overshoot, "signal_floor", lambda plant, name: 1e-6)


def test_overshoot_of_a_step_is_that_of_textbooks():
    """ζ = 0.3: exp(−π ζ/√(1 − ζ²)) = 37 % of a step from 2 to 5, and downwards alike."""
    ζ = 0.3
    t = np.linspace(0, 20, 20001)
    ω = np.sqrt(1 - ζ**2)
    y = 1 - np.exp(-ζ * t) * (np.cos(ω * t) + ζ / ω * np.sin(ω * t))
    most = np.exp(-np.pi * ζ / ω)
    for way in (3.0, -3.0):
        run = stepped([2 + way * y], [np.full_like(t, 2 + way)], time=t)
        for share, holds in ((0.38, True), (0.37, False)):
            found = overshoot.check_overshoot(Overshoot(share=share), run)
            assert found.holds is holds and found.strength == "sampled"
            assert found.margin == pytest.approx(share - most, abs=1e-6)
            assert found.claim == f"overshoot: always (overshoot <= {100 * share:g} %)"


def test_overshoot_of_several_outputs_and_of_none():
    d = np.linspace(0, 1, 9)
    still = np.zeros(9)
    run = stepped([1.2 * d, 5 * d, 1.3 * d], [d, still, d], ("y", "z", "w"))
    found = overshoot.check_overshoot(Overshoot(), run)
    assert found.holds is False and found.worst.startswith("w: 30 %")
    assert found.data == pytest.approx({"y": 0.2, "w": 0.3}), "z is asked for no way"
    run = stepped([1.05 * d], [d])
    assert overshoot.check_overshoot(Overshoot(share=0.05 + 1e-12), run).holds
    run = stepped([still], [still])
    nothing = overshoot.check_overshoot(Overshoot(), run)
    assert nothing.holds is None and "asked to move" in nothing.worst


# ---- settled ---------------------------------------------------------------------------------------------------------------
def test_what_grows_is_beyond_any_floor():
    growing = SimpleNamespace(amplitude=1e-9, trend="growing", frequency=1.0, detected=True)
    run = ran(q_1=0.0, units={"q_1": "rad"}, plant={"joint_names": ("q_1",)})
    run.demand = SimpleNamespace(reference=None)
    seen = oscillation.Oscillations(run, {"q_1": growing}, {})
    sentence = ready.settled(1e-4, {"q_1": "rad"}, 0.05, [])
    assert sentence.on(TIME, seen.columns).holds is False
    calm = oscillation.Oscillations(run, {}, {})
    assert sentence.on(TIME, calm.columns).holds and calm.worst(0.05) is None


def test_small_angles_are_written_in_milliradians_and_read_back():
    for value, text in ((1e-4, "0.1 mrad"), (float(np.radians(0.02)), "0.02 deg")):
        assert ready.written(value, "rad") == text and quantity(text, "rad") == value


def test_default_sizes_are_those_that_are_read():
    for value, unit, text in (
        (0.0349066, "rad", "2 deg"),
        (0.00012345, "m", "0.123 mm"),
        (0.005, "rad", "5 mrad"),
    ):
        assert ready.written(as_shown(value, unit), unit) == text


def test_numbers_that_no_short_one_reads_back_are_shown_in_the_unit_that_people_use():
    for value, unit, shown in ((46200000.00000001, "Pa", "462 bar"), (0.034906585, "rad", "2 deg")):
        assert (
            read(f"always (x <= {value!r} {unit})", {"x": unit}).shown == f"always (x <= {shown})"
        )
