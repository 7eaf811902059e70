"""Numbers of the plant that are known to bounds only: tubes hold for each of them, and for nothing that they do not."""

from dataclasses import replace

import numpy as np
import pytest

from tests.test_tube import ASKED, NODES, SINE, Integral, asked, loop, taken
from workbench import InputError, simulate
from workbench.contract.parameters import bind
from workbench.verification.run import run
from workbench.verification.tube.beside import other
from workbench.verification.tube.checker import file as files
from workbench.verification.tube.checker import words
from workbench.verification.tube.checker.judge import Lap
from workbench.verification.tube.checker.program import CODE
from workbench.verification.tube.checker.section import constant
from workbench.verification.tube.checker.zonotope import Deviations, enclosed, unchanged
from workbench.verification.tube.claim_settings import check_asked, varied, widths
from workbench.verification.tube.end import alike

BOTH = replace(ASKED, parameters={"k": (3.975, 4.02), "b": (2.98, 3.015)})


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """(verdict, certificate) of a loop of which two numbers are known to half a hundredth."""
    path = str(tmp_path_factory.mktemp("tube") / "tube.npz")
    verdict = asked(loop(), replace(BOTH, certificate=path))
    return verdict, files.load(path) if verdict.holds else None


def test_a_tube_holds_for_all_times_whatever_the_numbers_are(proved):
    verdict, c = proved
    assert verdict.holds and verdict.strength == "proof" and verdict.data["ends"] == "period"
    assert "with k between 3.9" in verdict.claim and "b between" in verdict.claim
    assert any(a.text.startswith("but for k, b") for a in verdict.assumptions)
    assert c.names[constant(c)].tolist() == ["k", "b"]
    assert "k ± 0.0249999, b ± 0.02" in words.proved(c) and verdict.margin > 0


def test_runs_of_other_numbers_stay_in_the_tube_and_fill_most_of_it(proved):
    """Corners of starts and numbers, and others; numbers shift where the loop settles, for ever."""
    c = proved[1]
    made = run(loop(), SINE)
    half, free = widths(BOTH, made.loop), varied(BOTH, made.loop)
    rng = np.random.default_rng(5)
    corners = np.array(np.meshgrid(*[(-1.0, 1.0)] * 4)).reshape(4, -1).T
    hull = np.zeros(c.z.shape)
    for share in [*corners, *rng.uniform(-1, 1, (12, 4))]:
        x = simulate(*other(made, half, free, share)).values[: len(c.z)]
        z = np.column_stack([x[:, :2], [0.0, *x[:-1, 2]]])[1:]
        e = np.abs(z - c.z[1:, :3])
        assert (e <= c.reach[1:, 0, c.section][:, :3] * (1 + 1e-9) + 1e-12).all()
        hull[1:, :3] = np.maximum(hull[1:, :3], e)
    first = int(c.after[-1])
    before = slice(first // 2, first)
    wide = c.reach[:, 0, c.section]
    assert np.median(wide[before, :2] / hull[before, :2]) < 2


def test_numbers_of_which_one_lets_runs_go_apart_are_not_held():
    """A leak that may be negative, and one so uncertain that what it adds grows without end."""
    quick = replace(SINE, duration=0.8)
    for bounds, wanted in (
        ((-8.0, 9.0), "times these starts and bounds"),
        ((0.5, 8.0), "not closer"),
    ):
        verdict = asked(loop(), replace(ASKED, parameters={"k": bounds}), quick)
        assert verdict.holds is None and wanted in verdict.worst


def test_an_unstable_loop_is_not_held_whatever_else_is_known_to_bounds():
    verdict = asked(loop(Integral(K=-6.0)), replace(ASKED, parameters={"b": (2.99, 3.01)}))
    assert verdict.holds is None


def test_up_to_the_end_of_a_run_runs_of_the_same_numbers_are_closer_at_the_end(tmp_path):
    """They come closer, although the tube as a whole is wider; where they do not the tube says nothing."""
    claim = replace(
        ASKED,
        starts={"p": 2e-4, "y": 2e-4},
        parameters={"b": (2.98, 3.02)},
        certificate=str(tmp_path / "tube.npz"),
    )
    verdict = asked(loop(), claim, replace(SINE, duration=1.2))
    assert verdict.holds and verdict.data["ends"] == "horizon"
    c = files.load(claim.certificate)
    states, wide = alike(c)
    assert [str(c.names[i]) for i in states] == ["p", "y", "I"]
    assert (wide[-1, [0, 2]] < 0.3 * c.reach[-2, 0, states[[0, 2]]]).all()
    assert wide[0] == pytest.approx([2e-4, 2e-4, 0.0], abs=1e-12)
    slow = asked(loop(Integral(K=0.3, K_i=0.01)), claim, replace(SINE, duration=0.3))
    assert slow.holds is None and "not closer" in slow.worst


def test_what_cannot_be_varied_is_refused_by_its_key():
    for parameters, wanted in [
        ({"g": (1, 2)}, "parameters: the plant has no number 'g'"),
        ({"k": (5, 4)}, "parameters.k: low"),
        ({"k": (4.1, 5)}, "parameters.k: the run has 4"),
        ({"k": ("3 bar", "5 bar")}, "expected"),
    ]:
        with pytest.raises(InputError, match=wanted):
            check_asked(replace(ASKED, parameters=parameters), loop())


def test_a_number_without_a_width_is_the_stored_one():
    verdict = asked(loop(), replace(ASKED, parameters={"k": (4.0, 4.0)}))
    assert verdict.holds


# ---- certificates ------------------------------------------------------------------------------------------------------
def worse(c):
    """Certificates that claim more of a number than is so, by name."""
    k = int(np.flatnonzero(constant(c))[0])
    row = int(np.flatnonzero(c.section == k)[0])
    one = np.arange(c.states) == k
    bent = c.z.copy()
    bent[NODES // 2, row] += 1e-9
    first = int(c.after[-1])
    turned = c.segments.copy()
    turned[first, 0, 0] *= 1.1
    doubled = c.segments.copy()
    doubled[first, row, 0] *= 1.001
    yield from {
        "half": replace(c, half=c.half * (1 + 0.02 * one)),
        "x0": replace(c, x0=c.x0 + 0.02 * one),
        "fresh": replace(c, fresh=1e-3 * one),
        "z": replace(c, z=bent),
        "segments where laps begin": replace(c, segments=turned),
        "a number's own segment": replace(c, segments=doubled),
        "a number that flows": replace(c, flow=doubling(c.flow, k)),
        "not handed on": replace(c, jump=doubling(c.jump, k)),
        "not started from": replace(c, start=doubling(c.start, k)),
    }.items()


def doubling(p, i):
    """A program whose output i is twice what it was."""
    codes = np.append(p.codes, CODE["twice"])
    outputs = p.outputs.copy()
    outputs[i] = len(p.codes)
    return replace(
        p,
        codes=codes,
        left=np.append(p.left, p.outputs[i]),
        right=np.append(p.right, -1),
        number=np.append(p.number, 0.0),
        outputs=outputs,
    )


def test_a_certificate_that_claims_more_of_a_number_is_refused(proved):
    c = proved[1]
    assert taken([("as it is", c)])
    assert not taken(worse(c))


def test_a_lap_that_leads_elsewhere_for_the_same_numbers_is_measured(proved):
    """What is kept for the numbers must come back to itself; what is off is the ball's, and a number is never off."""
    lap = Lap(proved[1])
    own = np.arange(len(lap.own))
    none = np.zeros((len(lap.stays), len(lap.stays)))
    here = lambda G: lap.size(Deviations(G, G.shape[1], none), own)[1]
    assert len(own) == 2 and here(lap.G) < 1e-100
    for row in np.flatnonzero(~lap.stays):
        off = lap.G.copy()
        off[row, 1] += 1e-6
        far = np.linalg.norm(lap.X[:, row]) * 1e-6
        assert far * (1 - 1e-9) <= here(off) <= far * 1.01
    for row in np.flatnonzero(lap.stays):
        off = lap.G.copy()
        off[row, 0] -= 1e-15
        assert here(off) == np.inf


def test_a_state_is_constant_only_where_its_text_says_so(proved):
    c = proved[1]
    k = int(np.flatnonzero(constant(c))[0])
    late = replace(c, lag=0.5 * c.T)
    assert constant(late)[k]
    for program in ("jump", "flow"):
        assert not constant(replace(c, **{program: doubling(getattr(c, program), k)}))[k]
    assert not constant(replace(late, release=doubling(c.release, k)))[k]
    assert constant(replace(c, release=doubling(c.release, k)))[k]


def test_the_loop_with_numbers_as_states_is_that_of_these_numbers(proved):
    """The text of the larger loop, at another number, beside the loop that was built with it."""
    from workbench.numerics.calculus import trace
    from workbench.verification.tube.checker import interval as iv
    from workbench.verification.tube.checker.samples import as_it_is, constants

    c = proved[1]
    rng = np.random.default_rng(2)
    for _ in range(5):
        x, k, b, r = rng.uniform(-0.3, 0.3, 4), rng.uniform(3, 5), rng.uniform(2, 4), rng.uniform()
        built = bind(loop(), {"plant.k": k, "plant.b": b})
        traced = trace(built, ("y_d",))
        for name in ("jump", "flow", "start"):
            true = np.array(getattr(traced, name)(0.0, x, [r], traced.constants(built))).ravel()[:4]
            given = [iv.Interval(v) for v in (0.0, *x, k, b, r)]
            found = getattr(c, name).run(iv, [*given, *constants(c)], as_it_is)
            assert [float(f.mid) for f in found[:4]] == pytest.approx(true, rel=1e-12)


# ---- sets --------------------------------------------------------------------------------------------------------------
@pytest.mark.quick
def test_a_row_that_is_one_entry_1_moves_without_rounding():
    M = np.array([[0.7, 0.1, 0.3], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    off = np.zeros((3, 3))
    off[2, 0] = 1e-9
    assert unchanged(M, off).tolist() == [False, True, False]
    Z = Deviations(np.array([[1.0, 0.2], [0.0, 0.1 + 0.2], [0.3, 0.0]]), 2, np.zeros((3, 3)))
    Z.moved(M, off, np.array([0.0, 0.0, 0.1]))
    assert (
        Z.G[1].tolist() == [0.0, 0.1 + 0.2, 0.0, 0.0] and (np.abs(Z.G[[0, 2], 2:]).sum(1) > 0).all()
    )
    Z.moved(M, off, np.array([0.0, 1e-300, 0.0]))
    assert np.abs(Z.G[1]).sum() > 0.1 + 0.2


def test_segments_that_leave_a_state_alone_are_merged_into_such():
    H = np.random.default_rng(1).normal(size=(4, 30))
    H[2] = 0.0
    for part in enclosed(H):
        assert not part[2].any()
    directions = np.random.default_rng(2).normal(size=(50, 4))
    whole = sum(np.abs(directions @ part).sum(axis=1) for part in enclosed(H))
    assert (whole >= np.abs(directions @ H).sum(axis=1)).all()
