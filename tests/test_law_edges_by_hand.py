"""Edges of laws and of what tunes them, at numbers written down: levers, drives too few, targets that cannot rest, first gains."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.gain_search import bearing
from controllers.mpc import prepare, stated
from controllers.pid_tuning import record, search
from controllers.vdc import bodies, suited
from controllers.vdc.drives import metered_section
from controllers.vdc.drives.metered_section import MeteredPart
from workbench.contract.errors import InputError
from workbench.verification.linear.systems import LinearSystem


# ---- virtual decomposition control -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "J",
    [
        [[0.5, 0.0], [0.0, -3.0]],
        [[0.4, 0.3], [-0.2, 1.5]],
        [[0.4, 0.3], [-0.2, 1.5], [0.7, -0.9]],
    ],
)
def test_levers_are_the_rows_of_the_pseudoinverse(J):
    """1/|column of J⁺| of every drive; of one drive a coordinate, with a diagonal J, |J_ii|."""
    inverse = np.linalg.pinv(np.array(J))
    assert bodies.levers(J) == pytest.approx(1 / np.linalg.norm(inverse, axis=0))


def loose(monkeypatch, rows, n=2):
    monkeypatch.setattr(suited.drive_forces, "rows_at", lambda model, q: rows)
    monkeypatch.setattr(suited.coordinates, "freedoms", lambda model: ["lift", "tilt", "reach"][:n])
    model = SimpleNamespace(lead=range(n), name="crane", pose_and_rates=lambda x: (x, None))
    plant = SimpleNamespace(mechanism=model, initial=lambda: [0.5, 1.5], inner=lambda x: x)
    return suited._loose(plant)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_a_coordinate_that_no_drive_holds_is_named(monkeypatch, scale):
    """By the direction in which the drives' lengths stay, if they move by less than 1e-6 of what they do at most."""
    diagonal = lambda a, b: [[scale * a, 0.0], [0.0, scale * b]]
    assert loose(monkeypatch, diagonal(1.0, 1.01e-6)) is None
    assert loose(monkeypatch, diagonal(-1.01e-6, 1.0)) is None
    for rows, free in (
        (diagonal(1.0, 0.99e-6), "tilt"),
        (diagonal(0.99e-6, 1.0), "lift"),
        ([[scale, scale * 0.9], [scale * -0.72e-6, scale * 0.8e-6]], "tilt"),
        ([[scale * 0.1, scale]], "lift"),
        ([[scale, scale * 0.1]], "tilt"),
        ([], "lift"),
    ):
        why = loose(monkeypatch, rows)
        assert f"{len(rows)} drives, which leave {free} free" in why.message
        assert "crane has 2 coordinates (lift, tilt)" in why.message
    assert loose(monkeypatch, [[scale, 0.0], [0.0, scale], [scale, scale]]) is None
    three = [[scale * 3.0, 0.0, 0.0], [0.0, scale * 0.1, scale * 2.0], [0.0, 0.0, scale * 1.0]]
    assert loose(monkeypatch, three, 3) is None
    assert "leave tilt free" in loose(monkeypatch, three[:2], 3).message


def test_room_of_a_metered_section_is_a_share_of_the_higher_relief(monkeypatch):
    """Of head and rod, whichever is higher; nothing else of its valves counts."""
    part = object.__new__(MeteredPart)
    object.__setattr__(part, "label", "lift")
    q = {
        "inverse lift": np.array([-0.4]),
        "push lift": np.array([50e5]),
        "inside lift": np.array([30e5]),
    }
    for reliefs in ((150e5, 200e5), (200e5, 150e5)):
        monkeypatch.setattr(
            metered_section, "whole", lambda drive, own=reliefs: (9e9, 9e9, *own, 9e9)
        )
        found = part.monitors(q, SimpleNamespace(range=(-math.inf, math.inf)))
        assert list(found.values()) == [pytest.approx([share]) for share in (0.6, 0.25, 0.15)]


# ---- delays that are tried -------------------------------------------------------------------------------------------
def test_what_must_be_borne_is_a_rung_only_beyond_what_the_loop_has(monkeypatch):
    monkeypatch.setattr(bearing, "dead_time", lambda controller: 2e-3)
    loop = SimpleNamespace(period=0.01, controller=None)
    at = lambda floor: bearing.ladder(loop, "delay", 0.02, floor).values
    assert 2e-3 not in at(2e-3) and len(at(2e-3)) == len(at(None))
    assert at(2.1e-3)[0] == 2.1e-3


# ---- a predictive law that cannot end where it is told to ------------------------------------------------------------
@pytest.mark.parametrize(
    "R, terminal, relinearise, miss, refused",
    [
        ((0.5,), "none", False, 1.1e-7, True),
        ((0.5,), "none", False, 0.9e-7, False),
        ((0.5,), "none", True, 1.1e-7, False),
        ((0.0,), "none", False, 1.1e-7, False),
        ((0.0, 0.0), "none", False, 1.1e-7, False),
        ((0.0, 0.2), "none", False, 1.1e-7, True),
        ((0.0,), "cost", False, 1.1e-7, True),
        ((0.0,), "set", True, 1.1e-7, False),
    ],
)
def test_references_that_are_no_rest_are_refused_where_rest_is_weighed(
    monkeypatch, R, terminal, relinearise, miss, refused
):
    """Weights on u − u_s, terminal costs and sets are about a steady state; a path of its own has one for every sample."""

    def gone(q):
        raise InputError("no Riccati equation", mend="none")

    monkeypatch.setattr(stated, "terminal_law", gone)
    law = SimpleNamespace(
        R=R, terminal=terminal, relinearise=relinearise, follows=(SimpleNamespace(name="y"),)
    )
    q = SimpleNamespace(target=(None, None, miss))
    if refused:
        with pytest.raises(InputError, match="y cannot all be brought to rest"):
            stated._ended(law, q)
    elif terminal == "none":
        assert stated._ended(law, q) == (q, None)
    else:
        with pytest.raises(InputError, match="no Riccati equation"):
            stated._ended(law, q)


def ready(monkeypatch, felt, relinearise=False):
    """Two states and a command on its way, two disturbances, three outputs of which the last and the first are followed."""
    model = SimpleNamespace(
        A=np.eye(3), n=2, B_d=np.zeros((3, 2)), C=np.ones((3, 3)), C_d=2 * np.ones((3, 2)), T=0.1
    )
    q = SimpleNamespace(track=(2, 0), felt=np.array(felt), model=model)
    seen = prepare.Filter(L="L", W="W", V="V", start="P", reads=(1,))
    monkeypatch.setattr(prepare, "model_at", lambda law, x, u: model)
    monkeypatch.setattr(prepare, "problem_of", lambda law, model: (q, "terminal"))
    monkeypatch.setattr(prepare, "_filter", lambda law, model: seen)
    monkeypatch.setattr(prepare, "condensed", lambda q: "dense")
    monkeypatch.setattr(prepare, "_rows", lambda law: [4, 5, 6])
    monkeypatch.setattr(prepare, "_with_path", lambda law, made: ("with a path", made))
    named = lambda *labels: tuple(SimpleNamespace(name=name) for name in labels)
    law = SimpleNamespace(
        follows=named("z", "x"), model=SimpleNamespace(states=named("s", "v")), measured=named("x", "y", "z"),
        commands=named("u"), disturbances=("u", "load"), extra="extra", N=20, relinearise=relinearise,
    )  # fmt: skip
    return prepare.prepared(law, np.array([0.5, -1.5]), None)


FELT = [[False, False, False], [True, False, False], [True, False, True]]


def test_everything_a_sample_of_a_predictive_law_needs(monkeypatch):
    """(x, d) begins with nothing on its way and no disturbance; outputs that are followed must be felt at some sample."""
    made = ready(monkeypatch, FELT)
    assert made.start_x.tolist() == [0.5, -1.5, 0.0, 0.0, 0.0]
    assert made.C_a.tolist() == [[1.0] * 3 + [2.0] * 2] * 3 and made.rows == [4, 5, 6]
    assert (made.L, made.W, made.V, made.kalman_start, made.reads) == ("L", "W", "V", "P", (1,))
    assert (made.dense, made.terminal, made.extra) == ("dense", "terminal", "extra")
    labels = {"x": ["s", "v"], "y": ["x", "y", "z"], "u": ["u"], "d": ["u", "load"]}
    assert made.labels == labels and made.tangents is None
    told, inner = ready(monkeypatch, FELT, relinearise=True)
    assert told == "with a path" and inner.rows == [4, 5, 6]
    with pytest.raises(InputError, match="no command moves z of SimpleNamespace within 20 samples"):
        ready(monkeypatch, [[True, True, False]] * 3)
    with pytest.raises(InputError, match="no command moves z, x of"):
        ready(monkeypatch, [[False, True, False]] * 3)


# ---- a PID's first gains ---------------------------------------------------------------------------------------------
def test_the_bandwidth_of_a_loop_is_where_it_first_falls(monkeypatch):
    monkeypatch.setattr(record, "gain_crossovers", lambda L: [70.0, 20.0, 50.0])
    L = LinearSystem([[0.2]], [[0.0]], [[0.0]], [[0.5]], 0.01)
    assert record._peaks(L)[2] == 20.0
    monkeypatch.setattr(record, "gain_crossovers", lambda L: [])
    assert record._peaks(L)[2] == 0.0


class Searched(SimpleNamespace):
    """A search over one command, whose response falls as 1/ω; margins are told by K_p, and everything asked is kept."""

    free = ("K_p", "K_i", "K_d")

    def program(self, K, i, guides):
        assert guides == search.TRIED and K.shape == (1, 3)
        L = np.zeros((2, 3, 4))
        L[:, :, 1] = [[2.0, 0.25, 0.05], [-0.5, -0.5, 0.1]]  # of both sides the larger counts
        return SimpleNamespace(ω=np.array([5.0, 20.0, 80.0]), L=L, noise=self.limit)

    def least(self, K, enough):
        self.asked.append((K[0].tolist(), enough))
        return self.margins(K[0])


def searched(monkeypatch, margins, own=(3.0, 1.0, 0.2), limit=None, m=0.75):
    law = SimpleNamespace(n=1, u_max=10.0, commands=(SimpleNamespace(name="u"),))
    monkeypatch.setattr(search, "innermost", lambda controller: law)
    monkeypatch.setattr(search, "gains", lambda loop, free: np.array([own]))
    monkeypatch.setattr(search, "sizes", lambda loop, free: np.array([1e3, 1e3, 10.0])[: len(own)])
    loop = SimpleNamespace(controller=None)
    made = Searched(margins=margins, asked=[], loop=loop, m=m, limit=limit)
    return made, search._first(made)


def guess(size, ω, damped):
    K_p = 0.7 / size
    return [K_p, K_p * ω / 20, damped * K_p / ω]


def test_the_first_gains_are_the_fastest_that_keep_the_margin(monkeypatch):
    """From the highest frequency down, without K_d and then with it; K_p/10 ω is the size of the last."""
    made, (K, scales, α) = searched(monkeypatch, lambda K: 0.8 if K[0] < 2 else 0.1)
    assert α == 0.8 and K[0] == pytest.approx(guess(0.5, 20.0, 0.0))
    assert scales[0] == pytest.approx(guess(0.5, 20.0, 0.1))
    tried = [given for given, _ in made.asked]
    assert tried[0] == [3.0, 1.0, 0.2], "its own gains first"
    assert tried[1] == pytest.approx(guess(0.1, 80.0, 0.0)) and len(tried) == 3
    assert [enough for _, enough in made.asked] == [1e-9, 0.1, 0.1]
    made, (K, _, α) = searched(monkeypatch, lambda K: 0.75 if K[2] > 0.05 else 0.2)
    assert α == 0.75 and K[0] == pytest.approx(guess(0.1, 80.0, 2.0)) and len(made.asked) == 5


def test_where_none_keeps_the_margin_the_best_is_taken(monkeypatch):
    """The loop's own gains among them, if they are no louder than allowed; m bounds what has to be told apart."""
    best = guess(0.5, 20.0, 0.0)
    found = searched(monkeypatch, lambda K: 0.5 if np.allclose(K, best) else 0.3)
    made, (K, scales, α) = found
    assert α == 0.5 and K[0] == pytest.approx(best) and len(made.asked) == 7
    assert scales[0] == pytest.approx(guess(0.5, 20.0, 0.1))
    made, (K, scales, α) = searched(monkeypatch, lambda K: 0.6 if K[0] == 3.0 else 0.3)
    assert α == 0.6 and K[0].tolist() == [3.0, 1.0, 0.2]
    assert scales[0].tolist() == [3.0, 1.0, 0.2], "no less than a thousandth of what is usual"
    made, (K, _, α) = searched(monkeypatch, lambda K: 0.9 if K[0] == 3.0 else 0.3)
    assert {enough for _, enough in made.asked[1:]} == {0.75}
    loud = (np.array([1.0, 0.0, 4.0]), 3.7)
    made, (K, _, α) = searched(monkeypatch, lambda K: 0.6 if K[0] == 3.0 else 0.3, limit=loud)
    assert α == 0.3 and made.asked[0][0] != [3.0, 1.0, 0.2]
    just = (np.array([1.0, 0.0, 4.0]), 3.8)
    assert searched(monkeypatch, lambda K: 0.6 if K[0] == 3.0 else 0.3, limit=just)[1][2] == 0.6
    _, (_, scales, _) = searched(
        monkeypatch, lambda K: 0.6 if K[0] == 3.0 else 0.3, (3.0, 0.0, 0.0)
    )
    assert scales[0].tolist() == [3.0, 1.0, 0.01]


def test_gains_cross_over_by_the_proportional_one_wherever_it_stands(monkeypatch):
    """Of K_i first and K_p second it is K_p's response that crosses over."""
    monkeypatch.setattr(Searched, "free", ("K_i", "K_p"))
    L = np.zeros((1, 3, 3))
    L[0, :, 1], L[0, :, 2] = [9.0, 9.0, 9.0], [2.0, -0.5, 0.1]
    program = SimpleNamespace(ω=np.array([5.0, 20.0, 80.0]), L=L, noise=None)
    monkeypatch.setattr(Searched, "program", lambda self, K, i, guides: program)
    made, (K, _, α) = searched(monkeypatch, lambda K: 0.8 if K[1] < 2 else 0.1, own=(1.0, 3.0))
    K_p = 0.7 / 0.5
    assert α == 0.8 and K[0] == pytest.approx([K_p * 20.0 / 20, K_p])


@pytest.mark.parametrize("wrong", [True, False])
def test_where_nothing_is_stable_that_is_said(monkeypatch, wrong):
    words = "goes down when the command goes up" if wrong else "crossovers from 5 to 80 rad/s tried"
    with pytest.raises(InputError, match=words):
        searched(monkeypatch, lambda K: 0.2 if wrong and K[0] < -6 and K[2] == 0 else 0.0)
