"""The checker of exported certificates on loops of one state, whose inequalities are solved by hand: both sides of every edge."""

import itertools
import json
from fractions import Fraction as F

import numpy as np
import pytest
import scipy.linalg

from workbench.verification.rigorous import recheck as r


def text(M):
    """Nested numbers as the strings of a certificate, nothing rounded."""
    if isinstance(M, list | tuple | np.ndarray):
        return [text(v) for v in M]
    return str(F(M)) if not isinstance(M, float) else M.hex()


def accepted(document) -> bool:
    return r.recheck(document)[0]


# ---- V = xᵀPx ------------------------------------------------------------------------------------------------------------
def quadratic(time, A, rate=0, P=((3,),), radius=None, X=None, **changes):
    return {
        "format": "quadratic-certificate-1",
        "time": time,
        "matrices": [text(M) for M in A],
        "P": text(P),
        "rate": text(rate),
        "radius": None if radius is None else text(radius),
        "X": None if X is None else text(X),
    } | changes


EPS = F(1, 10**12)


@pytest.mark.parametrize("ρ", [None, F(0), F(1, 3)])
@pytest.mark.parametrize("rate", [F(0), F(1, 4)])
@pytest.mark.parametrize("x", [F(5), F(-1, 7)])
def test_a_rate_of_one_state(ρ, rate, x):
    """a + rate + ρ < 0 for a flow, |a| + ρ < 1 − rate for samples; nothing holds at the edge itself."""
    more = {} if ρ is None else {"radius": [[ρ]], "X": [[x]]}
    edge = -(rate + (ρ or 0))
    assert accepted(quadratic("continuous", [[[edge - EPS]]], rate, **more))
    assert not accepted(quadratic("continuous", [[[edge]]], rate, **more))
    edge = 1 - rate - (ρ or 0)
    for sign in (1, -1):
        assert accepted(quadratic("sampled", [[[sign * (edge - EPS)]]], rate, **more))
        assert not accepted(quadratic("sampled", [[[sign * edge]]], rate, **more))
        assert not accepted(quadratic("sampled", [[[F(0)]], [[sign * edge]]], rate, **more))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("radius", [False, True])
def test_the_rate_of_several_states_is_an_eigenvalue(seed, radius):
    """Largest rate: half the least eigenvalue of −AᵀP − PA by P, or 1 − √ of the largest of AᵀPA by P; X changes nothing."""
    rng = np.random.default_rng(seed)
    n = 3
    S, turn = rng.normal(size=(2, n, n))
    P = np.round(S @ S.T + np.eye(n), 6)
    P = (P + P.T) / 2
    A = np.round(-2 * np.linalg.inv(P) @ (np.eye(n) + turn - turn.T), 6)
    most = scipy.linalg.eigh(-(A.T @ P + P @ A), P, eigvals_only=True)[0] / 2
    X = np.round(rng.normal(size=(n, n)), 4)
    more = {"radius": np.zeros((n, n)), "X": X} if radius else {}
    for factor, good in ((1 - 1e-9, True), (1 + 1e-9, False)):
        found = r.recheck(quadratic("continuous", [A], float(most * factor), P, **more))
        assert found[0] is good and ("± radius" in found[1]) is (good and radius)
    A = np.round(A / 20, 6)
    most = 1 - np.sqrt(scipy.linalg.eigh(A.T @ P @ A, P, eigvals_only=True)[-1])
    for factor, good in ((1 - 1e-9, True), (1 + 1e-9, False)):
        assert accepted(quadratic("sampled", [A], float(most * factor), P, **more)) is good


def test_a_radius_is_paid_for_by_row_sums():
    """A = diag(−a), P = I: row i has 2 a_i to spare and pays Σ_j (ρ_ij + ρ_ji); equal rows need no scale."""
    radius = [[F(1, 5), F(1, 3)], [F(1, 7), F(11, 105) + F(1, 105) * 10]]
    pays = [
        2 * radius[0][0] + radius[0][1] + radius[1][0],
        2 * radius[1][1] + radius[0][1] + radius[1][0],
    ]
    one = [[1, 0], [0, 1]]
    for off, good in ((EPS, True), (-EPS, False)):
        a = max(pays) / 2 + off
        found = quadratic("continuous", [[[-a, 0], [0, -a]]], 0, one, radius, one)
        assert accepted(found) is good
    wide = [[F(1), F(0)], [F(0), F(1)]]
    alone = [[F(0), F(1, 4)], [F(0), F(0)]]
    for a, good in ((F(1, 8) + EPS, True), (F(1, 8), False)):
        assert accepted(quadratic("continuous", [[[-a, 0], [0, -a]]], 0, wide, alone, wide)) is good


@pytest.mark.parametrize(
    "change, why",
    [
        ({"time": "later"}, "neither continuous nor sampled"),
        ({"rate": "-1/9"}, "out of range"),
        ({"matrices": []}, "no matrices"),
        ({"P": [["-1"]]}, "positive definite"),
        ({"P": [["0"]]}, "positive definite"),
        ({"P": [["1", "0"], ["1", "1"]]}, "not symmetric"),
        ({"radius": [["0"]], "X": [["0"]]}, "not invertible"),
        ({"radius": [["0"]], "X": [["1", "0"]]}, "wrong shape"),
        ({"matrices": [[["-1"], ["1"]]]}, "wrong shape"),
        ({"rate": 0.5}, "must be a string"),
        ({"rate": "1.5"}, "not a number"),
        ({"rate": "0x1.zp0"}, "not a number"),
        ({"rate": "1/0"}, "not a number"),
        ({"rate": "1" * 2001}, "2001 characters"),
        ({"format": "other"}, "unknown format"),
    ],
)
def test_a_document_that_is_no_certificate_is_refused_with_the_reason(change, why):
    good = quadratic("continuous", [[[-2]]])
    assert accepted(good) and accepted(good | {"rate": "0" * 1999 + "1"})
    found, words = r.recheck(good | change)
    assert not found and why in words


def test_a_rate_of_one_sample_or_more_is_out_of_range():
    assert not accepted(quadratic("sampled", [[[0]]], 1))
    assert accepted(quadratic("sampled", [[[0]]], F(999, 1000)))
    assert accepted(quadratic("continuous", [[[-3]]], 2))
    assert r.recheck([]) == (False, "unknown format None") == r.recheck({})
    assert "not a certificate of its format" in r.recheck({"format": "quadratic-certificate-1"})[1]


# ---- sectors -------------------------------------------------------------------------------------------------------------
def sector(time, criterion, a, b, low, high, p, τ, λ=0, slope=None, c=1):
    return {
        "format": "sector-certificate-1",
        "time": time,
        "criterion": criterion,
        **{k: text([[v]]) for k, v in zip("ABCP", (a, b, c, p))},
        **{k: text([[v]]) for k, v in zip(("low", "high", "tau", "lambda"), (low, high, τ, λ))},
        "slope": None if slope is None else text([[slope]]),
    }


def falls(form) -> bool:
    """Whether a form (xx, xw, ww) of two numbers is negative definite, xw being the coefficient of x w."""
    xx, xw, ww = form
    return xx < 0 and xx * ww - xw * xw / 4 > 0


def circle(sampled, a, b, c, low, high, p, τ):
    """τ (w − low c x)(high c x − w) and the change of p x²."""
    form = [-τ * low * high * c * c, τ * (low + high) * c, -τ]
    move = (p * (a * a - 1), -2 * p * a * b, p * b * b) if sampled else (2 * p * a, -2 * p * b, 0)
    return [u + v for u, v in zip(form, move)]


VALUES = [F(-3, 2), F(-1, 3), F(2, 5)]


@pytest.mark.parametrize("sampled", [False, True])
def test_the_circle_criterion_of_one_state(sampled):
    """On a grid on both sides of the edge, against the form multiplied out by hand."""
    seen = set()
    for a, b, c, (low, high), p, τ in itertools.product(
        VALUES,
        (F(1, 2), F(3)),
        (F(1), F(-2)),
        ((F(0), F(1)), (F(-1, 4), F(2)), (F(1, 5), F(1, 3))),
        (F(1), F(7, 3)),
        (F(1), F(5)),
    ):
        good = falls(circle(sampled, a, b, c, low, high, p, τ))
        time = "sampled" if sampled else "continuous"
        assert accepted(sector(time, "circle", a, b, low, high, p, τ, c=c)) is good
        seen.add(good)
    assert seen == {True, False}


def with_λ(sampled, a, b, c, low, high, p, τ, λ, slope):
    """The sector moved to [0, high − low], a to a − b low c; 2 w λ ẏ, or 2 w λ Δy + λ slope Δy² with the slope moved, too."""
    own = a - b * low * c
    form = circle(sampled, own, b, c, F(0), high - low, p, τ)
    if not sampled:
        return [form[0], form[1] + 2 * λ * c * own, form[2] - 2 * λ * c * b]
    x, w = c * (own - 1), -c * b
    s = λ * (slope - low)
    return [
        form[0] + s * x * x,
        form[1] + 2 * λ * x + 2 * s * x * w,
        form[2] + 2 * λ * w + s * w * w,
    ]


@pytest.mark.parametrize("sampled", [False, True])
def test_popov_and_jury_lee_of_one_state(sampled):
    seen = set()
    for a, b, c, (low, high), λ, τ, slope in itertools.product(
        VALUES,
        (F(1, 2), F(3, 2)),
        (F(1), F(-2, 3)),
        ((F(0), F(1)), (F(-1, 4), F(1, 2))),
        (F(0), F(1, 20), F(1, 5), F(2)),
        (F(1), F(5)),
        (F(1, 3), F(1), F(3)) if sampled else (None,),
    ):
        good = falls(with_λ(sampled, a, b, c, low, high, F(4, 3), τ, λ, slope))
        kind = ("sampled", "jury-lee") if sampled else ("continuous", "popov")
        assert accepted(sector(*kind, a, b, low, high, F(4, 3), τ, λ, slope, c)) is good
        seen.add(good)
    assert seen == {True, False}


def test_what_a_sector_certificate_must_have():
    own = ("continuous", "circle", F(-1), F(1), F(0), F(1), F(1), F(1))
    assert accepted(sector(*own))

    def refused(**change):
        return r.recheck(sector(*own) | {k: text([[v]]) for k, v in change.items()})[1]

    assert "wrong sign" in refused(tau=0) and "wrong sign" in refused(tau=-1)
    assert "wrong sign" in refused(**{"lambda": -1}) and "has no λ" in refused(**{"lambda": 1})
    assert "sector is empty" in refused(low=1) and "sector is empty" in refused(low=2)
    assert "positive definite" in refused(P=0)
    for time, kind in (("sampled", "popov"), ("continuous", "jury-lee"), ("continuous", "other")):
        found = r.recheck(sector(time, kind, *own[2:], 1, 1))
        assert not found[0] and "do not fit" in found[1]
    assert "neither" in r.recheck(sector(*own) | {"time": "now"})[1]


# ---- saturation ----------------------------------------------------------------------------------------------------------
def saturated(
    time, a=F(1, 2), b=F(2), k=F(-1), g=F(-1, 2), p=F(1), τ=F(1), limit=F(1), inside=((F(1),),)
):
    return {
        "format": "saturation-certificate-1",
        "time": time,
        **{name: text([[v]]) for name, v in zip("ABKPG", (a, b, k, p, g))},
        "limit": text([[limit]]),
        "tau": text([[τ]]),
        "inside": [text(list(x)) for x in inside],
    }


@pytest.mark.parametrize("time", ["continuous", "sampled"])
def test_a_saturated_loop_of_one_state(time):
    """[fall, cross; cross, corner] ≻ 0 with the entries multiplied out by hand, on a grid on both sides of the edge."""
    seen = set()
    for a, b, k, g, p, τ in itertools.product(
        (F(1, 2), F(6, 5)),
        (F(2), F(-1, 3)),
        (F(-1), F(1)),
        (F(0), F(-1, 2)),
        (F(1), F(9, 4)),
        (F(1, 4), F(3)),
    ):
        own = a + b * k
        if time == "continuous":
            fall, cross, corner = -2 * p * own, p * b - g * τ, 2 * τ
        else:
            fall, cross, corner = p - own * own * p, own * p * b - g * τ, 2 * τ - b * b * p
        good = fall > 0 and fall * corner > cross * cross
        found = saturated(time, a, b, k, g, p, τ, limit=F(9), inside=())
        assert accepted(found) is good
        seen.add(good)
    assert seen == {True, False}


def test_a_region_between_its_planes_with_its_states():
    """(k − g)² ≤ limit² p with the edge itself, x² p ≤ 1 likewise."""
    p = F(1, 4)
    own = {"a": F(1, 2), "b": F(2), "k": F(-1), "p": p, "τ": F(1, 2), "g": F(-1, 2)}
    assert accepted(saturated("continuous", **own, limit=F(1), inside=((F(2),), (F(-2),))))
    assert not accepted(saturated("continuous", **own, limit=F(1) - EPS, inside=()))
    assert not accepted(saturated("continuous", **own, inside=((F(0),), (2 + EPS,))))
    for change in ({"limit": F(-1)}, {"limit": F(0)}, {"τ": F(0)}):
        assert "not positive" in r.recheck(saturated("continuous", **(own | change)))[1]
    assert "neither" in r.recheck(saturated("x", **own))[1]
    words = r.recheck(saturated("continuous", **own, inside=((F(1),), (F(0),))))[1]
    assert "2 named states are inside" in words


# ---- terminal ingredients ---------------------------------------------------------------------------------------------------
def terminal(**changes):
    """x⁺ = a x + b u, u = −k x on |x| ≤ 1 with e x + f u ≤ g; multipliers by hand."""
    d = {
        "a": F(3, 2),
        "b": F(1),
        "k": F(1),
        "q": F(1),
        "s": F(0),
        "r": F(1),
        "p": F(8, 3),
        "w": F(1),
        "c": F(9, 2),
    }
    d |= {"e": F(1), "f": F(2), "g": F(1)} | changes
    own, row = d["a"] - d["b"] * d["k"], d["e"] - d["f"] * d["k"]
    by = lambda v: [max(v, F(0)), max(-v, F(0))]
    return {
        "format": "terminal-certificate-1",
        **{name: text([[d[name.lower()]]]) for name in "ABKQRSPWEF"},
        "H": text([[1], [-1]]),
        "h": text([d.get("h", F(1))] * 2),
        "g": text([d["g"]]),
        "c": text(d["c"]),
        "duals": {
            "radius": text(d.get("radius", [[1, 0], [0, 1]])),
            "kept": text([by(own), by(-own)]),
            "limits": text([d.get("y", by(row))]),
        },
    }


def test_a_terminal_cost_of_one_state():
    """p (1 − a_k²) ≥ q − 2 s k + r k², with equality allowed: 8/3 · 3/4 = 2 here."""
    assert accepted(terminal()) and not accepted(terminal(p=F(8, 3) - EPS))
    for s, good in ((F(1, 4), True), (-EPS, False)):
        assert accepted(terminal(s=s, c=F(8))) is good
    # a_k = 3/2 − 1.1 = 0.4: 1 + 1.21 = 2.21 = p · 0.84
    edge = F(221, 84)
    for off, good in ((0, True), (-EPS, False)):
        assert accepted(terminal(k=F(11, 10), p=edge + off, g=F(6, 5), c=F(9))) is good
    for b, k in ((F(2), F(1, 2)), (F(-1), F(-1))):
        need = (1 + k * k) / (1 - F(1, 4))
        assert accepted(terminal(b=b, k=k, p=need, c=F(20), g=F(3)))
        assert not accepted(terminal(b=b, k=k, p=need - EPS, c=F(20), g=F(3)))


def test_a_terminal_set_of_one_state():
    """Kept where |a − b k| ≤ 1, admissible where |e − f k| ≤ g, with the edges; bounded by its multipliers."""
    assert not accepted(terminal(g=1 - EPS)) and accepted(terminal(g=F(1)))
    assert accepted(terminal(e=F(5, 2), g=F(1, 2))) and not accepted(
        terminal(e=F(5, 2), g=F(1, 2) - EPS)
    )
    words = lambda **more: r.recheck(terminal(**more))[1]
    assert "origin is not inside" in words(h=F(0)) and "origin is not inside" in words(g=F(-1))
    assert accepted(terminal(e=F(2), g=F(0)))  # e − f k = 0
    assert "not shown bounded" in words(radius=[[0, 0], [0, 1]])
    assert "wrong number or sign" in words(radius=[[1, -1], [0, 1]])
    assert "wrong number or sign" in words(radius=[[1], [0, 1]])
    assert "direction without" in words(radius=[[1, 0]])
    # A multiplier that leaves δ of the row leaves δ times the radius of the set, 1 here.
    for y, reach in (([F(0), F(3, 2)], 2), ([F(1, 2), F(0)], 2), ([F(0), F(1, 2)], 1)):
        assert accepted(terminal(g=F(reach), y=y))
        assert "limits: a row is not shown kept" in words(g=reach - EPS, y=y)
    # With radius multipliers of 1/2 the set is only known to be within (1/2)/(1 − 1/2) = 1, with 1/4 likewise (1/4)/(3/4) < 1.
    half = [[F(1, 2), 0], [0, F(1, 2)]]
    assert accepted(terminal(g=F(1), y=[F(0), F(0)], radius=half))
    assert not accepted(terminal(g=F(1) - EPS, y=[F(0), F(0)], radius=half))
    double = [[F(1, 2), 0], [0, 1]]
    assert not accepted(terminal(g=F(2) - EPS, y=[F(0), F(0)], radius=double))
    assert accepted(terminal(g=F(2), y=[F(0), F(0)], radius=double))


def test_a_stage_cost_that_sees_the_state():
    """[c q + w − a² w, c s − a b w; ·, c r − b² w] ≻ 0 and q r ≥ s²."""
    # a = 3/2, w = 1: (c − 5/4)(c − 1) > 9/4 above c = (9/4 + √(1/16 + 9))/2
    edge = F(9, 8) + F(int(np.sqrt(145) * 10**15), 10**15 * 8)
    assert accepted(terminal(c=edge + EPS)) and not accepted(terminal(c=edge - EPS))
    words = lambda **more: r.recheck(terminal(**more))[1]
    assert "does not see" in words(w=F(0)) and "does not see" in words(w=F(-1), c=F(9))
    assert "does not see" in words(c=F(0)) and "does not see" in words(c=F(-9))
    assert "does not see" in words(s=F(1) + EPS, c=F(100), p=F(9))
    assert "differ in number" in r.recheck(terminal() | {"h": ["1"]})[1]
    assert "differ in number" in r.recheck(terminal() | {"g": ["1", "1"]})[1]
    assert (
        "without multipliers"
        in r.recheck(terminal() | {"E": [["1"], ["1"]], "F": [["2"], ["2"]], "g": ["1", "1"]})[1]
    )


# ---- elimination, files -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "M, strict, weak",
    [
        ([[1]], True, True),
        ([[0]], False, True),
        ([[-1]], False, False),
        ([[2, 1], [1, 1]], True, True),
        ([[1, 1], [1, 1]], False, True),
        ([[1, 2], [2, 1]], False, False),
        ([[0, 1], [1, 5]], False, False),
        ([[0, 0], [0, 5]], False, True),
        ([[5, 0], [0, 0]], False, True),
        ([[1, 3], [-3, 1]], True, True),  # its symmetric part
        ([[4, 2, 0], [2, 2, 1], [0, 1, 1]], False, True),
        ([[4, 2, 0], [2, 2, 1], [0, 1, 2]], True, True),
    ],
)
def test_definite_by_elimination(M, strict, weak):
    own = [[F(v) for v in row] for row in M]
    assert (r.definite(own), r.definite(own, strict=False)) == (strict, weak)


def test_both_sides_of_an_inequality_get_the_same_powers_of_two():
    """What makes M's diagonal lie near 1 multiplies the error's rows and columns likewise; a diagonal of zero stays."""
    M, error = r.scaled([[F(1000), F(3)], [F(3), F(1, 1000)]], [[F(7), F(5)], [F(5), F(2)]])
    assert all(F(1, 4) <= M[i][i] <= 4 for i in range(2))
    a = error[0][0] / 7
    b = error[1][1] / 2
    assert M[0][0] == 1000 * a and M[1][1] == b / 1000
    assert M[0][1] / 3 == M[1][0] / 3 == error[0][1] / 5 and (M[0][1] / 3) ** 2 == a * b
    assert r.scaled([[F(0)]], [[F(3)]]) == [[[F(0)]], [[F(3)]]]


def test_the_command(tmp_path, capsys, monkeypatch):
    good, bad, junk = (tmp_path / name for name in ("good", "bad", "junk"))
    good.write_text(json.dumps(quadratic("continuous", [[[-2]]], 1)))
    bad.write_text(json.dumps(quadratic("continuous", [[[-2]]], 3)))
    junk.write_text("{")
    assert (
        r.main([str(good)]) == 0
        and "accepted: V = xᵀPx falls like e^(−2·1 t) for 1" in capsys.readouterr().out
    )
    assert r.main([str(bad)]) == 1 and "refused: " in capsys.readouterr().out
    assert r.main([str(junk)]) == 1 and "cannot read" in capsys.readouterr().err
    assert r.main([]) == 2 == r.main(["a", "b"]) and "usage" in capsys.readouterr().err
    monkeypatch.setattr(r, "MOST_BYTES", len(good.read_text()))
    assert r.main([str(good)]) == 0
    monkeypatch.setattr(r, "MOST_BYTES", len(good.read_text()) - 1)
    assert r.main([str(good)]) == 1
