"""A law called from Python near a point of a run: its memory is found, its derivative is right, what has none says why."""

import random
from collections import deque

import numpy as np
import pytest
from scipy.linalg import block_diag, expm

from workbench import ClosedLoop, Delayed, Hold, InputError, Sampled, Scenario, verify
from workbench.contract.plain import Plain
from workbench.interop.linear_plant import LinearPlant
from workbench.verification import claims as C
from workbench.verification.linear.called_law import Asked, _slope
from workbench.verification.linear.kept_numbers import numbers
from workbench.verification.linear.loop import Point
from workbench.verification.linear.modes_of_run import slowest_and_unstable
from workbench.verification.linear.smooth import smooth
from workbench.verification.run import run as simulated

T = 0.02
PLANT = LinearPlant((-1.3, 0.4, 0.0, -2.1), (0.7, 1.9), (1.0, 0.0), ("a", "b"), ("u",), ("a",))


class PI:
    """u = K_p e + K_i ∫e; the sum lies in an attribute, or in the memory it is handed."""

    def __init__(self, K_p, K_i, own=True):
        self.K_p, self.K_i, self.own, self.sum = K_p, K_i, own, 0.0

    def initial(self):
        return (0.0,)

    def step(self, t, z, y, r):
        e = r[0] - y[0]
        if self.own:
            self.sum += T * e
            return z, [self.K_p * e + self.K_i * self.sum]
        z = (z[0] + T * e,)
        return z, [self.K_p * e + self.K_i * z[0]]


class Late:
    """u = K times the error three samples ago."""

    def __init__(self, K):
        self.K, self.line = K, deque([0.0] * 3, maxlen=3)

    def step(self, t, z, y, r):
        self.line.append(r[0] - y[0])
        return z, [self.K * self.line[0]]


def over(law, delay=0.0, duration=2.0, reference=0.2):
    law = Sampled(Plain(law, references=("a_d",)), T_s=T)
    loop = ClosedLoop(PLANT, Delayed(law, delay) if delay else law)
    return simulated(loop, Scenario(duration, Hold("output", (reference,))))


def matrix(run, row=-1):
    row %= len(run.log.time)
    loop = smooth(run.loop)
    return Asked(loop, run).closed(Point([0.0, 0.0], [0.0], ""), row)


def by_hand(K_p, K_i, memory):
    """Eigenvalues of plant and sum over a sample: a_{k+1} = Φ a + Γ u, s⁺ = s − T a, u = −K_p a + K_i s⁺."""
    A, B = np.reshape(PLANT.A, (2, 2)), np.reshape(PLANT.B, (2, 1))
    held = expm(T * np.block([[A, B], [np.zeros((1, 3))]]))
    Φ, Γ = held[:2, :2], held[:2, 2:]
    c = np.array([[1.0, 0.0]])
    whole = [[Φ - Γ @ c * (K_p + T * K_i), Γ * K_i], [-T * c, np.eye(1)]]
    return block_diag(np.block(whole), np.zeros((memory, memory)))


def spectrum(M):
    return np.sort_complex(np.linalg.eigvals(M))


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("K_i", [3.0, -0.06])
def test_the_loop_with_a_called_law_has_the_eigenvalues_of_the_same_by_hand(own, K_i):
    found = matrix(over(PI(2.5, K_i, own)))[0]
    wanted = by_hand(2.5, K_i, len(found) - 3)
    assert spectrum(found) == pytest.approx(spectrum(wanted), abs=1e-8)


def test_a_line_of_past_values_is_memory_and_a_dead_time_is_counted():
    def radius(M):
        return np.abs(np.linalg.eigvals(M)).max()

    A, B = np.reshape(PLANT.A, (2, 2)), np.reshape(PLANT.B, (2, 1))
    held = expm(T * np.block([[A, B], [np.zeros((1, 3))]]))
    line = np.eye(5, k=-1)  # a_k, then what was measured one to five samples ago
    for samples in (2, 4):
        M = np.zeros((2 + samples, 2 + samples))
        M[:2, :2] = held[:2, :2]
        M[:2, -1:] = -6.0 * held[:2, 2:]
        M[2:, 2:] = line[:samples, :samples]
        M[2, 0] = 1.0
        run = over(Late(6.0), delay=(samples - 2) * T)
        assert radius(matrix(run)[0]) == pytest.approx(radius(M), abs=1e-8)


def test_a_sum_that_grows_slowly_is_seen_in_the_modes():
    """1/K of 103 s, in a run of 2 s; with the sign turned it decays as slowly."""
    wanted = np.log(np.abs(spectrum(by_hand(2.5, -0.06, 0))).max()) / T
    growing = slowest_and_unstable(over(PI(2.5, -0.06))).unstable[0]
    assert growing.s.real == pytest.approx(wanted, rel=1e-5) and wanted > 0
    found = slowest_and_unstable(over(PI(2.5, 0.06)))
    assert not found.unstable and found.reasons == ()


# ---- what has no derivative ---------------------------------------------------------------------
def dithered(t, y, r):
    return [r[0] - y[0] + 1e-6 * random.random()]


def closed_over():
    total = [0.0]

    def law(t, y, r):
        total[0] += r[0] - y[0]
        return [r[0] - y[0] + total[0]]

    return law


def bent(t, y, r):
    return [abs(y[0])]


class Keeper:
    """A law that keeps every measurement, and takes the mean of them."""

    def __init__(self):
        self.kept = []

    def step(self, t, z, y, r):
        self.kept.append(y[0])
        return z, [-sum(self.kept) / len(self.kept)]


class Recorder:
    """A law that keeps every measurement for whoever looks at it afterwards."""

    def __init__(self):
        self.kept, self.far = [], set()

    def step(self, t, z, y, r):
        self.kept.append(y[0])
        self.far.add(y[0] > 0.5)
        return z, [-y[0]]


class Cell:
    __slots__ = ("sum",)

    def __init__(self, sum):
        self.sum = sum


class Elsewhere:
    """A sum that lies where no float of memory or attributes is."""

    def __init__(self, kind, K_i=-0.4):
        self.cell = Cell(kind(0))
        self.kind, self.K_i = kind, K_i

    def step(self, t, z, y, r):
        e = r[0] - y[0]
        self.cell.sum = self.kind(self.cell.sum + 1e9 * T * e)
        return z, [40 * e + self.K_i * 1e-9 * float(self.cell.sum)]


class Trips:
    """A gain that is doubled for good once there was an error, which no float remembers."""

    def __init__(self):
        self.off = Cell(False)

    def step(self, t, z, y, r):
        e = r[0] - y[0]
        u = 2.0 * e if self.off.sum else e
        self.off.sum = self.off.sum or e != 0.0
        return z, [u]


class Wound:
    """A sum behind a corner at rest."""

    def __init__(self):
        self.sum = 0.0

    def step(self, t, z, y, r):
        self.sum += T * (r[0] - y[0])
        return z, [abs(y[0]) + self.sum]


@pytest.mark.parametrize(
    "law, words",
    [
        (Elsewhere(float), "more than its floats"),
        (Elsewhere(int), "more than its floats"),
        (Elsewhere(np.float32), "more than its floats"),
        (Trips(), "more than its floats"),  # at rest both gains command nothing
        (Wound(), "bent at this point of the run, and remembers"),
        (dithered, "twice alike"),
        (closed_over(), "twice alike"),
        (bent, "bent"),
        (Keeper(), "changes its shape"),
    ],
)
def test_what_has_no_derivative_says_why(law, words):
    run = over(law, reference=0.0, duration=1.0)
    with pytest.raises(InputError, match=words):
        matrix(run)
    found = slowest_and_unstable(run)
    assert found.places == () and words in found.words
    assert bool(found.unread) == (law is not bent)


def test_a_record_that_nobody_reads_is_no_memory():
    """The loop has the eigenvalue of plant and gain; what the user's own law keeps is not touched."""
    law = Recorder()
    found = matrix(over(law, reference=0.0, duration=1.0))[0]
    assert spectrum(found)[-1] == pytest.approx(spectrum(by_hand(1.0, 0.0, 0))[-2], abs=1e-8)
    assert law.kept == [] and law.far == set()


@pytest.mark.parametrize("law, holds", [(Elsewhere(float), None), (bent, True)])
def test_what_grows_unread_is_undecided_and_a_law_without_memory_is_not(law, holds):
    """e grows by e in 100 s through the sum, which no run of 8 s shows; u = |y| has nothing that could."""
    loop = over(law).loop
    asked = (C.PracticalStability(runs=2, duration=8.0, settle=1.0, longest=8.0),)
    (found,) = verify(loop, Scenario(8.0, Hold("output", (0.2,))), asked)
    assert found.holds is holds, found.worst
    assert holds or "need not show" in found.worst


def test_every_float_is_found_and_written_back_where_it_stood():
    class Thing:
        def __init__(self):
            self.a, self.count, self.b = 1.5, 3, {"x": (2.5, [3.5]), "y": np.array([[4.5, 5.5]])}

    thing = Thing()
    found = []
    numbers(thing, lambda v: found.append(v) or v)
    assert found == [1.5, 2.5, 3.5, 4.5, 5.5]
    left = iter([10.0, 20.0, 30.0, 40.0, 50.0])
    numbers(thing, lambda v: next(left))
    assert (thing.a, thing.count, thing.b["x"]) == (10.0, 3, (20.0, [30.0]))
    assert thing.b["y"].tolist() == [[40.0, 50.0]]


@pytest.mark.parametrize("bend, refused", [(5e-4, False), (1.5e-3, True)])
def test_a_corner_counts_from_a_thousandth_of_the_slope_on(bend, refused):
    run = over(lambda t, y, r: [-y[0] - bend * abs(y[0])], reference=0.0, duration=1.0)
    if refused:
        with pytest.raises(InputError, match="bent"):
            matrix(run)
    else:
        assert np.abs(np.linalg.eigvals(matrix(run)[0])).max() < 1


def test_a_corner_away_from_zero_is_one_too():
    """5 + 2 x + |x − 1| at x = 1, where half a step off sees it half as large; a parabola there is smooth."""
    at, h = np.array([1.0, -2.0]), np.array([0.1, 0.2])
    with pytest.raises(InputError, match="bent"):
        _slope(lambda x: np.array([5 + 2 * x[0] + abs(x[0] - 1)]), at, h)
    found = _slope(lambda x: np.array([5 + 2 * x[0] ** 2, x[0] * x[1] + 7]), at, h)
    assert found == pytest.approx(np.array([[4.0, 0.0], [-2.0, 1.0]]))


class Softer:
    """u = K e/(1 + s), s⁺ = s + T (e² − s): curved at rest, where s has the eigenvalue 1 − T and moves nothing."""

    def __init__(self):
        self.s = 0.0

    def step(self, t, z, y, r):
        e = r[0] - y[0]
        self.s += T * (e * e - self.s)
        return z, [2.0 * e / (1.0 + self.s)]


def test_a_curve_is_no_corner():
    found = matrix(over(Softer(), reference=0.0, duration=1.0))[0]
    plant = spectrum(by_hand(2.0, 0.0, 1))[:-1]  # without the sum that this law has not
    assert spectrum(found) == pytest.approx(np.append(plant, 1.0 - T), abs=1e-6)


def test_the_law_is_started_and_asked_at_the_instants_of_the_run():
    class Timed:
        def __init__(self):
            self.seen = []

        def start(self, t, z, y, r):
            return (t, list(y), list(r))

        def step(self, t, z, y, r):
            self.seen = [*self.seen, (t, z)]
            return z, [0.0]

    run = over(Timed(), duration=0.2)
    law = Asked(smooth(run.loop), run)
    memory = law.until(5)
    seen = memory.own[0].seen
    assert [t for t, _ in seen] == pytest.approx([0.0, T, 2 * T, 3 * T, 4 * T])
    begun, y, r = seen[0][1]
    assert begun == 0.0 and y == run.log.array("a")[:1].tolist() and r == [0.2]


def test_what_the_law_remembers_is_that_of_the_row_in_whatever_order_rows_are_asked():
    run = over(PI(2.5, 3.0, True), reference=0.2, duration=0.4)
    first, last = (Asked(smooth(run.loop), run) for _ in range(2))
    ends = last.until(18).read().tolist()
    assert last.until(7).read().tolist() == first.until(7).read().tolist() != ends
    assert first.until(18).read().tolist() == ends


def test_more_numbers_than_can_be_asked_are_refused():
    class Many:
        def __init__(self):
            self.line = [0.0] * 200  # and the command that is held

        def step(self, t, z, y, r):
            self.line = [y[0], *self.line[:-1]]
            return z, [-y[0]]

    run = over(Many(), duration=0.4)
    with pytest.raises(InputError, match="201 numbers"):
        matrix(run)
