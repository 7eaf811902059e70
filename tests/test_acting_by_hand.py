"""What actuators at work add up to: shares of a state, ranges, pressures, steps of a stiff drive. Drives say as much as is read."""

from dataclasses import dataclass
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.vdc.body_gain import BodyGain, symmetric
from plants import LinearActuator
from plants.drives.tip_force import TipForce
from plants.multibody import acting
from plants.valve_circuits.states import TABLE_1, segment
from workbench.contract.errors import InputError
from workbench.verification.ledger import claims as ledger_claims
from workbench.verification.linear.family import _matrix


def machine(*drives, supply=None, states=()):
    """Actuators a, b, … with these drives."""
    named = [SimpleNamespace(name="abc"[k], drive=d) for k, d in enumerate(drives)]
    return SimpleNamespace(actuators=named, supply=supply, states=states)


@dataclass
class Stiff:
    """A drive with one state (name, unit); error: what its step may err by, None where it asks for none."""

    state: tuple[str, str] | None = None
    error: float | None = None
    pulse: float = 0.0
    watched: tuple = ("", ())
    pressure_limits: tuple = ()
    range: tuple[float, float] | None = None

    def states(self, name):
        return () if self.state is None else (SimpleNamespace(name=self.state[0] + name),)

    def step_errors(self, name):
        return () if self.error is None else (self.error,)

    def edges(self, name):
        return self.watched

    def pressures(self, name):
        return (f"p_{name}",) if self.state else ()

    def limits(self, name):
        return {} if self.range is None else {f"u_{name}": self.range}


def of(name, unit):
    return SimpleNamespace(name=name, unit=unit)


def test_values_are_dealt_in_order():
    assert acting.dealt([1, 2, 3, 4, 5, 6], [2, 0, 3]) == [[1, 2], [], [3, 4, 5], [6]]
    assert acting.dealt([1], [1]) == [[1], []]


def test_a_mechanism_whose_drives_ask_for_nothing_has_equal_steps():
    assert acting.adaptive(machine(Stiff(("p_", "Pa")), Stiff())) is None


def test_errors_of_steps():
    """Of its own state what the drive says, of others what their unit says, of any other unit 1e-9."""
    states = (of("s", "m"), of("v", "rad/s"), of("p_a", "Pa"), of("p_b", "Pa"), of("h", "kg"))
    asked = acting.adaptive(
        machine(Stiff(("p_", "Pa"), 7.0), Stiff(("p_", "Pa")), states=states),
    )
    assert asked.errors == (1e-9, 2e-8, 7.0, 0.1, 1e-9)
    assert (asked.period, asked.watched, asked.edges) == (0.0, "", ())


def test_steps_end_at_the_edges_of_one_drive_alone():
    states = (of("p_a", "Pa"), of("p_b", "Pa"))
    one = Stiff(("p_", "Pa"), 1.0, 0.02, ("x_a", (0.0, 1.0)))
    still = Stiff(("p_", "Pa"), 1.0)
    other = Stiff(("p_", "Pa"), 1.0, 0.05, ("x_b", (2.0,)))
    for pair in ((one, still), (still, one)):
        alone = acting.adaptive(machine(*pair, states=states))
        assert (alone.period, alone.watched, alone.edges) == (0.02, "x_a", (0.0, 1.0))
    both = acting.adaptive(machine(one, other, states=states))
    assert (both.period, both.watched, both.edges) == (0.0, "", ())


def test_equal_pulses_are_one():
    drives = [Stiff(("p_", "Pa"), 1.0, 0.02) for _ in range(2)]
    assert acting.adaptive(machine(*drives, states=(of("p_a", "Pa"),))).period == 0.02


def test_pressures_that_all_chambers_allow():
    """The lowest of the lows, the highest of the highs; a drive without chambers counts not, one that states none ends it."""
    chamber = lambda *ends: Stiff(("p_", "Pa"), pressure_limits=ends)
    assert acting.pressure_limits(machine(chamber(0.0, 3.0), chamber(-1.0, 2.0), Stiff())) == (
        -1,
        3,
    )
    assert acting.pressure_limits(machine(chamber(0.0, 3.0), chamber())) == ()
    assert acting.pressure_limits(machine(Stiff())) == ()


def test_ranges_of_inputs_and_lengths():
    drives = machine(
        Stiff(range=(-1.0, 1.0)), Stiff(), supply=SimpleNamespace(limits=lambda: {"P": (0.0, 5.0)})
    )
    assert acting.limits(drives) == {"u_a": (-1.0, 1.0), "P": (0.0, 5.0)}
    assert acting.limits(machine(Stiff(range=(0.0, 2.0)))) == {"u_a": (0.0, 2.0)}
    spanned = [
        SimpleNamespace(name=name, span=span)
        for name, span in (("a", (0.1, 0.4)), ("b", (-inf, inf)), ("c", (-inf, 2.0)))
    ]
    assert acting.spans(spanned) == {"s_a": (0.1, 0.4), "s_c": (-inf, 2.0)}


def test_a_line_that_never_changes():
    """A supply whose pressure is no state and settles nothing, where every chamber takes its oil."""
    fed = lambda **k: SimpleNamespace(pressures=lambda n: ("p",), pressure_limits=(), **k)
    supply = lambda states=(), settles=False, p_r=0.0: SimpleNamespace(
        states=lambda: states, settles=settles, most=SimpleNamespace(p_r=p_r)
    )
    own = supply()
    assert acting.constant_line(machine(fed(needs_supply=True), Stiff(), supply=own)) is own.most
    assert acting.constant_line(machine(fed(needs_supply=False), supply=own)) is None
    assert acting.constant_line(machine(fed(needs_supply=True))) is None
    for changing in (supply(states=("P",)), supply(settles=True)):
        assert acting.constant_line(machine(fed(needs_supply=True), supply=changing)) is None

    above = supply(p_r=1e5)
    assert acting.highest_line(machine(fed(needs_supply=True), Stiff(), supply=above)) is above.most
    assert acting.highest_line(machine(fed(needs_supply=True), supply=own)) is None
    assert acting.highest_line(machine(fed(needs_supply=False), supply=above)) is None
    assert acting.highest_line(machine(fed(needs_supply=True))) is None


def test_a_force_at_a_tip_acts_on_a_joint_that_turns():
    drive = TipForce(L=2.0)
    assert drive.turns and drive.is_law and drive.limit is None
    assert drive.force([], 0.0, 0.5, [3.0], None) == 6.0
    assert drive.force([], 0.0, 0.5, [], None) == 0.0
    assert drive.powers([], 0.0, 0.5, [3.0], None) == [3.0] and drive.power_names("tip") == ("tip",)


def test_every_row_of_table_1_is_found_with_its_own_valves():
    """Where a valve of the row may be either, both ways; no row of an opening is found with the opposite one."""
    for name, row in TABLE_1.items():
        assert row.directions in ((row.sign,), (1, 0, -1)), name
        for either in (True, False):
            valves = [either if wanted is None else wanted for wanted in row[2:]]
            for direction in row.directions:
                assert segment(direction, row.sign, *valves) == name
    shut = (False,) * 5
    assert [segment(d, s, *shut) for d, s in ((1, 1), (-1, -1), (0, 0))] == ["+1a", "-1a", "0"]
    assert segment(1, -1, *shut) is None and segment(-1, 1, *shut) is None
    pump = (False, False, True, False, False)
    assert segment(-1, -1, *pump) == "-2a" and segment(1, 1, *pump) == "+2a"
    assert segment(1, 0, True, True, True, True, True) is None


# ---- a few more parts -----------------------------------------------------------------------------------------------------
def test_the_numbers_of_the_identified_actuator():
    """[Alfayad16] has them; three lags in a row are slower than the drive of the load by their sum."""
    own = LinearActuator()
    assert (own.λ_1, own.λ_2, own.λ_3, own.λ_F) == (1.14e-3, 1.14e-3, 1.11e-3, 0.43e-6)
    assert (own.K, own.K_F, own.X_max) == (115.4, -6.3e-6, 0.5e-3)
    v = own.K * 1e-4
    assert own.rhs(0.0, [v, v, v, 0.0, 0.0], [1e-4, 0.0]) == [0.0, 0.0, 0.0, 0.0, v]


def test_an_entry_without_bound_bounds_no_entry():
    """Half a bound is none: the middle of 0 … ∞ is no number."""
    for row in ([0.0, inf], [-inf, 0.0], [-inf, inf]):
        found = _matrix(np.array([[1.0, 2.0], row]), 0, 1, 2)
        assert found.mid.tolist() == [[0.0, 0.0]] and np.isinf(found.rad).all()
    kept = _matrix(np.array([[9.0, 9.0], [1.0, 2.0], [-4.0, 4.0]]), 1, 2, 1)
    assert kept.mid.tolist() == [[1.5], [0.0]] and kept.rad == pytest.approx(np.array([[0.5], [4]]))


def test_a_gain_of_a_body_counts_by_its_symmetric_part():
    K = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    K[0, 1], K[1, 0] = 3.0, -1.0
    found = symmetric(K.ravel())
    assert found[0, 1] == found[1, 0] == 1.0 and np.diag(found).tolist() == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(BodyGain("tilt.B1", tuple(K.ravel())).K, K.ravel())
    K[0, 1] = 4.0  # the symmetric part 1.5: 1 · 2 − 1.5² < 0
    with pytest.raises(InputError, match="K_A of tilt.B1 is not positive definite"):
        BodyGain("tilt.B1", tuple(K.ravel()))
    with pytest.raises(InputError, match="expected 36 numbers, row by row, got 2"):
        BodyGain("tilt.B1", (1.0, 2.0))


def test_why_an_inequality_is_neither_met_nor_violated(monkeypatch):
    """What is violated anywhere is violated: neither a run that ended, nor rates of rounding alone take it back."""
    monkeypatch.setattr(ledger_claims, "power_floor", lambda run: 1e-6)
    monkeypatch.setattr(ledger_claims, "coarse", lambda loop, log: log.skips)
    status = SimpleNamespace(completed=True, message="stopped at 2 s")
    log = SimpleNamespace(status=status, skips=False)
    run = SimpleNamespace(log=log, loop=None)
    none, some = np.zeros(3, bool), np.array([False, True, False])
    why = lambda bad, top=1.0, most=0.0: ledger_claims._unseen(run, None, most, bad, top)
    assert why(none) == why(some) == why(some, 1e-7) == ""
    assert "rounding for this machine" in why(none, 1e-6) and why(none, 1.1e-6) == ""
    assert "not a number" in why(some, most=np.nan)
    log.skips = True
    assert "skips samples" in why(none) and why(some) == ""
    status.completed = False
    assert why(none) == "it holds until the run stopped at 2 s" and why(some) == ""
