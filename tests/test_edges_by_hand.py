"""Edges of switches whose places are known: a law of two states and one memory, in closed form, asked along moves by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.machine_limits import Limit
from workbench.verification.practical.branches import edges
from workbench.verification.practical.branches.edges import (
    _of_memory,
    along_memory,
    of_plant,
    outwards,
    possible,
)
from workbench.verification.practical.branches.ways import AT_ONCE as ASKED_ONCE
from workbench.verification.practical.branches.ways import COMMANDS as AT_ONCE
from workbench.verification.practical.branches.ways import FAR, GAINS, Edge, Way
from workbench.verification.practical.branches.ways import MEMORY as REMEMBERS
from workbench.verification.practical.starts import Start
from workbench.verification.practical.switches.margins import Beside, Extent, together

STATES = (SimpleNamespace(name="a", unit="m"), SimpleNamespace(name="b", unit="Pa"))


def machine(limits=(), p_top=None, pressures=()):
    return SimpleNamespace(
        states=STATES, p_top=p_top, pressure_names=pressures, machine_limits=lambda: limits
    )


def a_run(a=(0.1, 0.2, 0.15), b=(-1.0, -1.5, -2.0), plant=None, completed=True):
    """A run whose states were these."""
    log = {"a": np.array(a, float), "b": np.array(b, float)}
    status = SimpleNamespace(completed=completed)
    return SimpleNamespace(
        log=SimpleNamespace(time=np.arange(float(len(a))), array=log.get, status=status),
        loop=SimpleNamespace(plant=plant or machine()),
        kept={},
    )


class Law:
    """Margins, commands and memory as functions of (a, b, z); they span `span` of (a, b) to both sides."""

    users = False
    whole_first = staticmethod(sorted)

    def __init__(
        self,
        margins,
        commands,
        memory=lambda a, b, z: [z],
        z=2.0,
        covered=0.0,
        span=lambda a, b: 0.0,
    ):
        self.of = margins, commands, memory
        self.z, self.span = z, span
        self.went = np.array([covered])
        self.rows = []
        self.asked = set()

    def at(self, run, row):
        self.rows.append(row)
        return np.array([run.log.array("a")[row], run.log.array("b")[row]]), np.array([self.z])

    def ask(self, run, row, points):
        self.asked.add(row)
        a, b, z = points
        found = [np.array([np.broadcast_to(v, a.shape) for v in f(a, b, z)]) for f in self.of]
        margins, commands, memory = found
        wide = self.span(a, b)
        return Beside(margins - wide, margins + wide, commands, memory, np.zeros((0, a.size)))

    def covered(self, run):
        return self.went

    def shown(self, run, row, points):
        self.asked.add(row)
        return {"length": points[0] + 0.5, "other": 0 * points[1] + 0.25}

    def margins(self, run):
        a, b = run.log.array("a"), run.log.array("b")
        margins = np.array(self.of[0](a, b, self.z + 0 * a), float)
        wide = self.span(a, b)
        return np.arange(len(a)), margins - wide, margins + wide


def WIDE(a, b):
    return 0.25


def extent(*spans):
    low, high = np.array(spans, float).T
    return Extent(low, high)


# ---- which switches took one side alone --------------------------------------------------------------------------------
def test_what_runs_had_of_a_switch():
    """Least and largest of all instants and runs; a switch that nobody came to is on neither side; nor is one at its edge."""
    nan = np.nan
    one = Extent.of(np.array([[3.0, -1.0], [2.0, 5.0], [nan, nan]]), np.array([[4, 0.5]] * 3))
    assert one.low.tolist()[:2] == [-1.0, 2.0] and np.isnan(one.low[2])
    assert one.high.tolist() == [4.0] * 3
    found = extent((0.1, 5), (0, 5), (-5, 0), (-5, -0.2), (-1, 1), (nan, nan))
    assert found.one_sided().tolist() == [0, 3]
    assert found.nearest(0) == 0.1 and found.nearest(3) == -0.2
    both = together([extent((1, 2), (nan, nan)), extent((-3, 1), (4, 6))])
    assert both.low.tolist() == [-3, 4] and both.high.tolist() == [2, 6]


# ---- what a law does at an edge ----------------------------------------------------------------------------------------
BEHIND = 0.5 + 1e-9


def change(f, memory=lambda s: 0 * s, inside=0.5, move=(1.0, 0.0, 0.0)):
    """What is said of commands f(s) and of a memory, s the share of a move, between `inside` and just behind it."""
    along = int(np.argmax(np.abs(move)))
    law = Law(lambda *x: [x[0]], lambda *x: f(x[along]), lambda *x: [memory(x[along])])
    way = Way(ASKED_ONCE, law, a_run(), 0, np.zeros(3), np.array(move, float), 0, 1.0)
    return way.change(inside, inside + 1e-9)


def stepped(height, slope=0.0, level=0.0):
    return lambda s: [level + slope * s + height * (s >= BEHIND)]


def bent(before, after, level=0.0):
    return lambda s: [level + np.where(s < BEHIND, before, after) * (s - BEHIND)]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    "height, slope, level, jumps",
    [
        (3.0, 0.0, 0.0, True),
        (6e-6, 0.0, 5.0, True),  # rounding is 1e-6 of what is commanded
        (4e-6, 0.0, 5.0, False),
        (6e-9, 0.0, 5e-3, True),
        (1.2e-3, 10.0, 0.0, True),  # a tenth of 10·0.001 and the jump itself
        (1.0e-3, 10.0, 0.0, False),
    ],
)
def test_a_jump_is_beyond_rounding_and_no_small_part_of_what_changes_near_the_edge(
    height, slope, level, jumps, sign
):
    f = stepped(sign * height, slope * sign, sign * level)
    assert change(f) == (AT_ONCE if jumps else "")


def test_each_value_has_its_own_rounding_and_memory_is_told_from_commands():
    two = lambda s: [5e3 + 0 * s, 1.0 + 1e-4 * (s >= BEHIND)]
    assert change(two) == AT_ONCE
    still = lambda s: [1.0 + 0 * s]
    jump = lambda s: 2.0 + 1.0 * (s >= BEHIND)
    assert change(still, jump) == REMEMBERS
    assert change(stepped(1.0), jump) == AT_ONCE


@pytest.mark.parametrize(
    "before, after, level, turns",
    [
        (2.0, 2.0, 0.0, False),
        (2.0, 0.0, 0.0, False),
        (2.0, -0.08, 0.0, False),
        (2.0, -0.12, 0.0, True),
        (2.0, 4.08, 0.0, False),
        (2.0, 4.12, 0.0, True),
        (-2.0, 0.08, 0.0, False),
        (-2.0, 0.12, 0.0, True),
        (0.0, 1.2e-5, 5.0, True),  # 1e-6 of 5 over half the move
        (0.0, 0.8e-5, 5.0, False),
    ],
)
def test_a_slope_turns_by_more_than_it_was(before, after, level, turns):
    assert change(bent(before, after, level)) == (GAINS if turns else "")


def test_slopes_count_of_any_command_but_not_of_memory_nor_along_it_nor_where_the_way_begins():
    turned = bent(2.0, -9.0)
    assert change(lambda s: [0 * s, *turned(s)]) == GAINS
    assert change(lambda s: [3.0 * s], lambda s: turned(s)[0]) == ""
    assert change(turned, move=(0.0, 0.0, 1.0)) == ""
    assert change(lambda s: [5.0 + 4.0 * np.maximum(s, 0)], inside=0.0) == ""


def test_a_slope_before_an_edge_ends_before_a_jump_that_is_none():
    """10 before and −0.52 behind turn; with the small jump in it the slope before would be 10.8."""
    f = lambda s: [np.where(s < BEHIND, 10.0, -0.52) * (s - BEHIND) + 4e-4 * (s >= BEHIND)]
    assert change(f) == GAINS


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_an_edge_is_halved_in_until_both_shares_meet(side):
    """The least margin counts of one that was positive, the largest of one that was negative: zero at a = 0.6 and at 1.1."""
    law = Law(lambda a, b, z: [b, side * (0.85 - a)], lambda a, b, z: [a], span=WIDE)
    origin = np.array([0.1, 7.0, 0.0])
    way = Way(ASKED_ONCE, law, a_run(), 0, origin, np.array([2.0, 0.0, 0.0]), 1, side)
    inside, outside = way.edge(0.1, 0.9)
    assert inside <= 0.25 <= outside and outside - inside == pytest.approx(0.8 / 16**7)


# ---- where edges are ---------------------------------------------------------------------------------------------------
def moves_of(monkeypatch, *moves):
    monkeypatch.setattr(edges, "of_plant", lambda run, spread, width: np.array(moves, float))


RIGHT, LEFT, UP = (2.0, 0.0, 0.0), (-2.0, 0.0, 0.0), (0.0, 30.0, 0.0)


def jumping(at):
    """u jumps by 4 where the switch a < at takes its other side, likewise with b."""
    return Law(
        lambda a, b, z: [at - a, 9.0 + 0 * b, b - 20.0],
        lambda a, b, z: [10 * a + 4.0 * (a > at) + 7.0 * (b > 20.0)],
    )


def test_an_edge_is_told_by_how_far_it_is_from_where_the_run_starts(monkeypatch):
    """Looked for from each of the rows until every switch has one; seen from row 0, a = 0.1 and b = −1."""
    moves_of(monkeypatch, RIGHT, LEFT, UP)
    run = a_run()
    seen = extent((0.7, 0.8), (9, 9), (-22, -21))
    law = jumping(0.9)
    first, second = outwards(run, 0.02, law, seen)
    assert (first.switch, first.change) == (0, AT_ONCE)
    assert first.move == pytest.approx([0.8, 0.0], abs=1e-6) and not first.by_memory
    assert second.switch == 2 and second.move == pytest.approx([0.0, 21.0], abs=1e-5)
    assert list(dict.fromkeys(law.rows)) == [
        0,
        1,
        2,
    ]  # shares 0, 0.3, 0.65 and 1 of three rows: 0, 1, 1, 2


def test_an_edge_from_a_later_row_counts_from_the_start_of_the_run(monkeypatch):
    """From a = 0.2 two more lead beyond 2.15, from where the run starts they do not: 2.05 from its start."""
    moves_of(monkeypatch, RIGHT, LEFT)
    law = jumping(2.15)
    (edge,) = outwards(a_run(), 0.02, law, extent((1.95, 2.05), (9, 9), (1, -1)))
    assert edge.move == pytest.approx([2.05, 0.0], abs=1e-6)
    law = jumping(2.15)
    assert not list(outwards(a_run(), 0.02, law, extent((-1, 1), (-1, 1), (-1, 1))))
    assert law.rows == [], "no switch is left"


def test_rows_are_shares_of_the_run(monkeypatch):
    moves_of(monkeypatch, RIGHT)
    law = Law(lambda a, b, z: [5.0 - a], lambda a, b, z: [a])
    assert not list(outwards(a_run([0.0] * 101, [0.0] * 101), 0.02, law, extent((5, 5))))
    assert list(dict.fromkeys(law.rows)) == [0, 30, 65, 100]


def test_edges_to_both_sides_but_one_a_side_and_none_without_a_change(monkeypatch):
    """|a − 0.1| < 0.5: along the first move to each side; where the law goes on, none."""
    margins = lambda a, b, z: [0.5 - np.abs(a - 0.1)]
    moves_of(monkeypatch, RIGHT, (3.0, 1.0, 0.0), LEFT, (-1.0, 2.0, 0.0), UP)
    law = Law(margins, lambda a, b, z: [a + 1.0 * (np.abs(a - 0.1) > 0.5)])
    found = list(outwards(a_run([0.1], [-1.0]), 0.02, law, extent((0.2, 0.5))))
    assert [e.move[0] for e in found] == pytest.approx([0.5, -0.5], abs=1e-6)
    assert not list(outwards(a_run(), 0.02, Law(margins, lambda a, b, z: [a]), extent((0.2, 0.5))))


def test_where_the_law_goes_on_along_one_move_another_is_tried(monkeypatch):
    """The first move leads over a + b = 3 where nothing changes, the second, likewise to the right, to where u jumps."""
    moves_of(monkeypatch, (4.0, 8.0, 0.0), (8.0, 4.0, 0.0))
    law = Law(lambda a, b, z: [3.0 - a - b], lambda a, b, z: [np.where(a + b > 3.0, a > b, 0.0)])
    (edge,) = outwards(a_run([0.0], [0.0]), 0.02, law, extent((3, 3)))
    assert edge.move == pytest.approx([2.0, 1.0], abs=1e-5)


def test_a_move_across_one_that_led_over_an_edge_is_left_out(monkeypatch):
    moves_of(monkeypatch, RIGHT, UP, LEFT)
    far = lambda a, b: np.abs(a - 0.1) + np.abs(b + 1.0) / 20
    law = Law(lambda a, b, z: [0.5 - far(a, b)], lambda a, b, z: [1.0 * (far(a, b) > 0.5)])
    found = list(outwards(a_run([0.1], [-1.0]), 0.02, law, extent((0.2, 0.5))))
    assert [e.move[0] for e in found] == pytest.approx([0.5, -0.5], abs=1e-6)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_of_a_margin_that_spans_the_end_that_was_nearer_to_the_edge_counts(monkeypatch, side):
    """0.8 off its middle is at the edge, 0.55 off its end is."""
    moves_of(monkeypatch, RIGHT)
    law = Law(lambda a, b, z: [side * (0.9 - a)], lambda a, b, z: [1.0 * (a > 0.65)], span=WIDE)
    (edge,) = outwards(a_run(), 0.02, law, extent(sorted((0.5 * side, 0.9 * side))))
    assert edge.move == pytest.approx([0.55, 0.0], abs=1e-6)


def test_an_edge_hardly_off(monkeypatch):
    moves_of(monkeypatch, RIGHT)
    (edge,) = outwards(a_run(), 0.02, jumping(0.122), extent((0.02, 0.1), (9, 9), (-1, 1)))
    assert edge.move == pytest.approx([0.022, 0.0], abs=1e-9)


def test_other_gains_are_no_jump(monkeypatch):
    moves_of(monkeypatch, RIGHT)
    law = Law(lambda a, b, z: [a - 0.9], lambda a, b, z: [a - 3 * np.maximum(a - 0.9, 0)])
    (edge,) = outwards(a_run(), 0.02, law, extent((-0.8, -0.7)))
    assert edge.change == GAINS


def test_a_law_whose_memory_has_another_shape_has_no_edges(monkeypatch):
    moves_of(monkeypatch, (2.0, 0.0, 0.0, 0.0))
    law = jumping(0.9)
    law.went = np.array([0.0, 0.0])
    assert not list(outwards(a_run(), 0.02, law, extent((0.7, 0.8), (9, 9), (-22, -21))))


# ---- how far the machine goes ------------------------------------------------------------------------------------------
def test_no_edge_lies_beyond_a_limit_of_the_machine(monkeypatch):
    moves_of(monkeypatch, RIGHT)
    seen = extent((0.7, 0.8), (9, 9), (-1, 1))
    for end, found in ((0.89, 0), (2.5, 1)):
        run = a_run(plant=machine((Limit("stroke", ("a",), -1.0, end),)))
        assert len(list(outwards(run, 0.02, jumping(0.9), seen))) == found


def allowed(plant, points, a=(0.0, 0.1), b=(0.0, 0.0)):
    points = np.array(points, float).T[:, None, :]
    law = Law(lambda *x: [x[0]], lambda *x: [x[0]])
    return possible(a_run(a, b, plant), law, 0, points)[0].tolist()


def test_where_a_machine_can_be():
    """Every limit of one signal, the tightest of two; a pressure below its supply's; where the run was counts as well."""
    two = (Limit("stroke", ("a",), -1.0, 3.0), Limit("stop", ("a",), -2.0, 2.0))
    plant = machine(two, p_top=4.0, pressures=("b",))
    points = [(1.9, 0, 0), (2.1, 0, 0), (-0.9, 0, 0), (-1.1, 0, 0), (0, 3.9, 0), (0, 4.1, 0)]
    assert allowed(plant, points) == [True, False, True, False, True, False]
    assert allowed(plant, [(0, -9.0, 0)]) == [True], (
        "a pressure has no lower limit but those stated"
    )
    assert allowed(plant, [(2.4, 0, 0), (2.6, 0, 0)], a=(0.0, 2.5)) == [True, False]
    assert allowed(plant, [(-1.4, 0, 0), (-1.6, 0, 0)], a=(0.0, -1.5)) == [True, False]
    assert allowed(machine(), [(1e9, -1e9, 0)]) == [True]
    vacuum = machine((Limit("vacuum", ("b",), -1.0),), p_top=4.0, pressures=("b",))
    assert allowed(vacuum, [(0, -0.9, 0), (0, -1.1, 0), (0, 4.1, 0)]) == [True, False, False]
    assert allowed(plant, [(2.0, 4.0, 0), (-1.0, 0, 0)]) == [True, True], "at its limits"


def test_lengths_that_a_law_shows_are_held_within_their_strokes():
    """length = a + 0.5 and length + other = a + 0.75; sums of what is not shown, and other kinds of limits, are left out."""
    one = machine((Limit("stroke", ("length",), 0.2, 1.0),))
    points = [(0.45, 0, 0), (0.55, 0, 0), (-0.25, 0, 0), (-0.35, 0, 0)]
    assert allowed(one, points) == [True, False, True, False]
    both = machine((Limit("stroke", ("length", "other"), 0.5, 1.25),))
    assert allowed(both, points) == [True, False, True, False]
    assert (
        allowed(machine((Limit("flow", ("length",), 0.2, 1.0, kind="flow"),)), points) == [True] * 4
    )
    assert allowed(machine((Limit("stroke", ("length", "away"), 0.2, 1.0),)), points) == [True] * 4
    ends = machine((Limit("stroke", ("length",), 0.5, 1.0),))
    assert allowed(ends, [(0.0, 0, 0), (0.5, 0, 0)]) == [True, True]


def test_moves_of_a_plant(monkeypatch):
    """Each state both ways, by the machine's size or what other starts have; all at once as far as the first of them goes."""
    monkeypatch.setattr(edges, "sizes", lambda run, spread: {"a": spread, "b": 2.0})
    monkeypatch.setattr(edges, "size", lambda run, unit: {"m": 0.06, "Pa": 0.5}[unit])
    asked = []

    def other_starts(run, count, spread, amounts):
        asked.append((count, spread, amounts))
        return [Start({"a": 0.01, "b": -1.5}), Start({"b": 1.0})]

    monkeypatch.setattr(edges, "drawn", other_starts)
    found = of_plant(a_run(), 0.02, 3)
    alone = [[0.06, 0, 0], [-0.06, 0, 0], [0, 2, 0], [0, -2, 0]]
    assert found == pytest.approx(np.array([*alone, [0.01, -1.5, 0], [0, 1, 0]]))
    assert asked == [(2, 0.02, {"a": 0.02, "b": 2.0})]
    monkeypatch.setattr(edges, "size", lambda run, unit: {"m": 0.06, "Pa": 8.0}[unit])
    assert of_plant(a_run(), 0.02, 3)[4] == pytest.approx([0.03, -4.5, 0.0])


# ---- where memory leads ------------------------------------------------------------------------------------------------
def test_moves_of_what_a_law_remembers():
    law = Law(lambda *x: [x[0]], lambda *x: [x[0]])
    law.went = np.array([0.005, 0.0, 2.0])
    whole = np.array([[0, 0, 0.5, 0, 0], [0, 0, 0, 0, 200.0]])
    assert _of_memory(a_run(), law) == pytest.approx(np.concatenate([whole, -whole])) and FAR == 100


def counting(at, went=0.1):
    """Off once z is beyond `at`; z was 2 where it is asked, and covered `went`."""
    return Law(lambda a, b, z: [z - at + a], lambda a, b, z: [a * (z - at + a < 0)], covered=went)


@pytest.mark.parametrize("at, went, found", [(9.0, 0.1, 1), (13.0, 0.1, 0), (13.0, 0.2, 1)])
def test_memory_leads_a_hundred_times_as_far_as_it_went(at, went, found):
    law = counting(at, went)
    seen = extent((2.0 - at, 2.2 - at))
    edges_found = list(along_memory(a_run(), law, seen))
    assert len(edges_found) == found
    assert law.rows == [1], "from where it was nearest: at the largest a"
    assert all(e.by_memory and e.switch == 0 and e.change == AT_ONCE for e in edges_found)


def test_memory_is_followed_down_as_well_from_where_the_least_margin_was_nearest():
    law = Law(lambda a, b, z: [z + 1.0 - a], lambda a, b, z: [b * (z + 1.0 > a)], covered=1.0)
    (edge,) = along_memory(a_run(), law, extent((2.8, 2.9)))
    assert law.rows == [1] and edge.by_memory
    law = Law(lambda a, b, z: [z + 1.0 + a], lambda a, b, z: [b * (z + 1.0 > -a)], covered=1.0)
    assert list(along_memory(a_run(), law, extent((3.1, 3.2)))) and law.rows == [0]


@pytest.mark.parametrize("side, row", [(1.0, 2), (-1.0, 2)])
def test_memory_is_followed_from_where_the_end_of_a_margin_was_nearest(side, row):
    """The middle is nearest at a = 0.2, the end at b = −2, and at the first row the law came to nothing."""
    margins = lambda a, b, z: [side * np.where(b == -1.0, np.nan, 3.0 + z - a)]
    law = Law(margins, lambda a, b, z: [1.0 * (z > 0.0)], covered=1.0, span=lambda a, b: 0.1 - b)
    list(along_memory(a_run(), law, extent(sorted((0.4 * side, 8.0 * side)))))
    assert law.rows == [row]


def test_memory_that_never_moved_and_a_run_that_ended_early_lead_nowhere():
    seen = extent((-7.0, -6.8))
    assert not list(along_memory(a_run(), counting(9.0, 0.0), seen))
    assert not list(along_memory(a_run(completed=False), counting(9.0), seen))
    nowhere = Law(lambda a, b, z: [np.nan * a], lambda a, b, z: [a], covered=1.0)
    assert not list(along_memory(a_run(), nowhere, seen)) and nowhere.rows == []


def test_an_edge_that_no_state_of_the_plant_leads_to():
    assert Edge(0, np.array([0.0, 0.0]), AT_ONCE).by_memory
    assert not Edge(0, np.array([0.0, -1.0]), AT_ONCE).by_memory
