"""Friction driven along a speed, and identified from it: independent integration, closed forms, honest intervals, refusals."""

import json
from dataclasses import replace
from math import exp

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import curve_fit
from scipy.stats import binom
from test_friction import LAWS, name

from plants import (
    BengisuAkay,
    BrownMcPhee,
    CoulombViscous,
    Frictionless,
    LuGre,
    ModifiedLuGre,
    Stribeck,
)
from workbench import InputError, Signal
from workbench.commands.cli import main
from workbench.identification import Points, Record, fit_friction
from workbench.numerics import sliding
from workbench.numerics.sliding import drive, steady

NUMBERS = {"F_c": 1230.0, "F_s": 1990.0, "v_s": 0.0121, "b": 5100.0}
BRISTLES = LuGre(**NUMBERS, σ_0=8.1e6, σ_1=3.2e4)
FILM = ModifiedLuGre(**NUMBERS, σ_0=8.1e6, σ_1=3.2e4, v_b=0.03, τ_hp=0.04, τ_hn=0.3, τ_h0=2.5)
V = np.concatenate([np.geomspace(6e-4, 0.15, 30), -np.geomspace(5e-4, 0.14, 30)])
T = np.arange(0, 3, 2e-3)
SWING = 0.06 * np.sin(2 * np.pi * 1.1 * T) * (T < 2) + 0.002 * np.sin(2 * np.pi * 3 * T) * (T >= 2)


def record(law, σ=8.0, seed=0, t=T, v=SWING, unit="m/s"):
    F = drive(law, t, v).F + σ * np.random.default_rng(seed).normal(size=t.size)
    return Record(t, v, F, (Signal("v", unit),), (Signal("F", "N"),))


def points(law, σ=8.0, seed=0, v=V):
    return Points(v, steady(law, v)[0] + σ * np.random.default_rng(seed).normal(size=v.size))


# ---- driven along a speed -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("law", [BRISTLES, FILM], ids=name)
def test_forces_are_those_of_an_independent_integrator(law):
    t = T[:700]
    speed = lambda s: np.interp(s, t, SWING[:700])
    run = solve_ivp(
        lambda s, z: law.rate(speed(s), z),
        (0, t[-1]),
        [0.0] * len(law.states("")),
        method="Radau",
        rtol=1e-9,
        atol=1e-13,
        t_eval=t,
        max_step=2e-3,
    )
    F = np.array([law.force(v, list(z)) for v, z in zip(SWING, run.y.T)])
    made = drive(law, t, SWING[:700])
    assert np.abs(made.F - F).max() < 3e-4 * np.abs(F).max()
    coarse, fine = (np.abs(drive(law, t, SWING[:700], parts=k).F - F).max() for k in (1, 4))
    assert fine < 0.5 * coarse


def test_compiled_and_interpreted_give_the_same_numbers(monkeypatch):
    for law in (BRISTLES, FILM):
        fast = drive(law, T, SWING, slopes=True, parts=2)
        with monkeypatch.context() as m:
            m.setattr(sliding, "library", lambda source: None)
            m.setattr(sliding, "_known", {})
            slow = drive(law, T, SWING, slopes=True, parts=2)
        np.testing.assert_allclose(fast.F, slow.F, rtol=1e-9, atol=1e-9 * np.abs(slow.F).max())
        np.testing.assert_allclose(
            fast.slopes, slow.slopes, rtol=1e-6, atol=1e-9 * np.abs(slow.slopes).max(axis=0).max()
        )
        np.testing.assert_allclose(
            drive(law, T, SWING, parts=2).F, slow.F, rtol=1e-9, atol=1e-9 * np.abs(slow.F).max()
        )


def test_slopes_in_closed_form():
    """One grip F, σ_1 = 0, constant speed: f = F (1 − e^{−s}) + b v, s = σ_0 v t/F."""
    law, v = replace(BRISTLES, F_s=1230.0, σ_1=0.0), 0.003
    t = np.linspace(0, 0.3, 200)
    run = drive(law, t, np.full(t.size, v), slopes=True)
    s = law.σ_0 * v * t / law.F_c
    column = lambda n: run.slopes[:, run.names.index(n)]
    np.testing.assert_allclose(run.F, law.F_c * (1 - np.exp(-s)) + law.b * v, rtol=1e-9)
    np.testing.assert_allclose(column("σ_0"), v * t * np.exp(-s), rtol=1e-7, atol=1e-16)
    np.testing.assert_allclose(
        column("F_c") + column("F_s"), 1 - np.exp(-s) * (1 + s), rtol=1e-7, atol=1e-12
    )
    np.testing.assert_allclose(column("b"), v, rtol=1e-12)
    g = exp(-((v / law.v_s) ** 2))
    np.testing.assert_allclose(
        column("F_s")[-1] / (column("F_c") + column("F_s"))[-1], g, rtol=1e-7
    )


@pytest.mark.parametrize(
    "law", [law for law in LAWS if not isinstance(law, Frictionless)], ids=name
)
def test_steady_forces_and_their_slopes(law):
    v = np.array([-0.1, -0.004, 0.0, 0.01, 0.3])
    F, J = steady(law, v)
    np.testing.assert_allclose(F, [law.steady(x) for x in v], rtol=1e-13)
    assert np.isfinite(J).all() and J.shape[0] == 5
    scale = np.tanh(4) if isinstance(law, BrownMcPhee) else 1.0
    assert J[:, sliding._functions(law).names.index("b")] == pytest.approx(v * scale, rel=1e-12)


# ---- truths are found -----------------------------------------------------------------------------------------------
STATIC = [
    CoulombViscous(F_c=1230.0, b=5100.0, width=1e-3),
    Stribeck(**NUMBERS),
    BengisuAkay(**NUMBERS, ξ=64.0),
    BrownMcPhee(**NUMBERS),
    BRISTLES,
]


@pytest.mark.parametrize("law", STATIC, ids=name)
def test_steady_points_give_the_numbers_of_the_curve(law):
    exact = fit_friction(type(law)(), points(law, σ=0.0))
    noisy = fit_friction(type(law)(), points(law, seed=3))
    for e, n in zip(exact.estimates, noisy.estimates):
        assert e.value == pytest.approx(getattr(law, e.name), rel=1e-5)
        assert abs(n.value - getattr(law, n.name)) < 4 * n.σ and n.identified
    assert exact.converged and noisy.converged
    held = {"width", "n", "σ_0", "σ_1"} & set(vars(law))
    assert set(noisy.held) == held


def test_intervals_hold_what_they_promise():
    """95 % intervals of Brown–McPhee's numbers over 60 experiments: as many miss as may."""
    law, misses = BrownMcPhee(**NUMBERS), np.zeros(4)
    for seed in range(60):
        found = fit_friction(law, points(law, seed=seed), start=True)
        misses += [not e.low <= getattr(law, e.name) <= e.high for e in found.estimates]
    assert misses.max() <= binom.ppf(0.9999, 60, 0.05) and misses.sum() >= 1


def test_scipy_finds_the_same_minimum_and_covariance():
    law, data = Stribeck(**NUMBERS), points(Stribeck(**NUMBERS), seed=5)
    f = lambda v, F_c, F_s, v_s, b: (
        (F_c + (F_s - F_c) * np.exp(-((v / v_s) ** 2))) * np.tanh(v / law.width) + b * v
    )
    θ, C = curve_fit(f, data.v, data.F, list(NUMBERS.values()), xtol=1e-14, ftol=1e-14)
    found = fit_friction(Stribeck(), data)
    assert [e.value for e in found.estimates] == pytest.approx(θ, rel=1e-5)
    assert found.covariance == pytest.approx(C, rel=1e-3)


@pytest.mark.long
@pytest.mark.parametrize("law", [BRISTLES, FILM], ids=name)
def test_a_record_of_reversals_gives_the_bristles_too(law):
    found = fit_friction(type(law)(), record(law))
    for e in found.estimates:
        if e.identified:
            assert abs(e.value - getattr(law, e.name)) < 4.5 * e.σ, e
    sure = {"F_c", "F_s", "v_s", "σ_0", "σ_1"} | ({"τ_hp", "τ_hn"} if law is FILM else set())
    assert sure <= {e.name for e in found.estimates if e.identified}
    assert found.percent[0] > 98


@pytest.mark.parametrize(
    "cls", [CoulombViscous, Stribeck, BrownMcPhee, LuGre], ids=lambda cls: cls.__name__
)
def test_a_record_may_begin_in_motion(cls):
    """With bristles bent as by steady sliding; a law without memory has none to begin with."""
    true = having(cls)
    t, v = T[:900], 0.09 * np.cos(2 * np.pi * 1.3 * T[:900])
    start = [true.steady(v[0]) / true.σ_0 - true.b * v[0] / true.σ_0] if true.states("") else []
    F = drive(true, t, v, start=start).F
    found = fit_friction(cls(), [Record(t, v, F, (Signal("v", "m/s"),), (Signal("F", "N"),))])
    assert np.abs(drive(found.law, t, v, start=start).F - F).max() < 2e-3 * np.abs(F).max()
    assert found.law.F_c == pytest.approx(true.F_c, rel=5e-3) and found.law.b == pytest.approx(
        true.b, rel=2e-2
    )


def having(cls):
    given = {**NUMBERS, "σ_0": 8.1e6, "σ_1": 3.2e4}
    return cls(**{f: x for f, x in given.items() if f in cls.__dataclass_fields__})


def test_points_and_records_together_and_an_offset():
    law, shifted = BRISTLES, points(BRISTLES, seed=4)
    shifted = Points(shifted.v, shifted.F + 77.0)
    found = fit_friction(LuGre(), [shifted, record(law, seed=2)], offset=True)
    assert found.offsets == pytest.approx((77.0, 0.0), abs=6.0)
    assert all(abs(e.value - getattr(law, e.name)) < 4.5 * e.σ for e in found.estimates)
    assert (
        abs(fit_friction(LuGre(), shifted)["b"].value - law.b) < 300
    )  # both directions: an offset hides in neither number


def test_an_exponent_when_asked_for():
    law = replace(BRISTLES, n=1.4)
    found = fit_friction(LuGre(), points(law, σ=1.0), free=["n"])
    assert abs(found["n"].value - 1.4) < 4 * found["n"].σ < 0.2
    assert fit_friction(LuGre(), points(law, σ=1.0)).percent[0] < found.percent[0]


# ---- what data cannot tell ------------------------------------------------------------------------------------------
def test_steady_points_do_not_know_the_bristles():
    found = fit_friction(FILM, points(FILM))
    assert any(
        n.startswith(
            "σ_0, σ_1, τ_hp, τ_hn, τ_h0: steady sliding does not contain them; held at σ_0 = 8.1e+06"
        )
        for n in found.notes
    )
    assert found.held["σ_0"] == 8.1e6 and "σ_0" not in {e.name for e in found.estimates}
    with pytest.raises(InputError, match="there is no estimate 'σ_0'"):
        found["σ_0"]


def test_fast_points_do_not_know_the_breakaway():
    fast = V[np.abs(V) > 0.03]
    found = fit_friction(Stribeck(), points(Stribeck(**NUMBERS), v=fast))
    assert not found["v_s"].identified or any(
        "Stribeck effect" in n or "rest on the shape" in n for n in found.notes
    )
    slow = fit_friction(Stribeck(), points(Stribeck(**NUMBERS), v=V[np.abs(V) < 0.02]))
    assert any(
        "fastest speed is" in n and "through the Stribeck effect only" in n for n in slow.notes
    )
    one = fit_friction(Stribeck(), points(Stribeck(**NUMBERS), v=V[V > 0]))
    assert any("one direction only" in n for n in one.notes)
    assert not fit_friction(Stribeck(), points(Stribeck(**NUMBERS))).notes


def test_a_number_at_its_bound_has_an_interval_too():
    """Friction that falls with speed drives b to zero; how far it could be from there is that of linear regression on v."""
    falling = BrownMcPhee(**{**NUMBERS, "b": 0.0})
    found = fit_friction(CoulombViscous(), points(falling))
    assert found.law.b < 1e-9 and not found["b"].identified
    A = np.stack([np.tanh(V / 1e-3), V], axis=1)
    left = found.residuals[0]
    σ = np.sqrt(left @ left / (V.size - 2) * np.linalg.inv(A.T @ A)[1, 1])
    assert found["b"].σ == pytest.approx(σ, rel=1e-3) and "b" in " ".join(found.notes)


def test_no_stribeck_effect_is_said_and_never_below_coulomb():
    flat = CoulombViscous(F_c=1230.0, b=5100.0, width=1e-5)
    found = fit_friction(LuGre(), points(flat))
    assert found.law.F_s >= found.law.F_c * (1 - 1e-12) and found["F_c"].value == pytest.approx(
        1230.0, rel=0.02
    )
    assert (
        any("no Stribeck effect" in n for n in found.notes)
        or not found["v_s"].identified
        or found["F_s"].value < 1300
    )
    type(found.law)(**vars(found.law))  # a law that its own class accepts


def test_memory_that_a_law_lacks_is_seen():
    data = record(BRISTLES)
    assert any("is no noise" in n for n in fit_friction(BrownMcPhee(), data).notes)
    assert not any(
        "is no noise" in n
        for n in fit_friction(BrownMcPhee(), record(BrownMcPhee(**NUMBERS))).notes
    )


@pytest.mark.parametrize(
    "data, options, words",
    [
        (Points([0.1] * 9, range(9)), {}, "the speed is constant"),
        (Points(range(9), [3.0] * 9), {}, "the force is constant"),
        (Points([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]), {}, "3 data are too few for 4 numbers"),
        (points(BRISTLES), {"held": {"q": 1.0}}, "LuGre has no number 'q'"),
        (points(BRISTLES), {"free": ["m"]}, "LuGre has no number 'm'"),
        (
            points(BRISTLES),
            {"held": {"F_s": 10.0}},
            "F_s: breakaway friction, 10 N, must not be below",
        ),
        ([1.0, 2.0], {}, "float is no friction data"),
    ],
)
def test_data_that_cannot_answer_are_refused(data, options, words):
    law = Stribeck() if "constant" in words or "too few" in words else LuGre()
    with pytest.raises(InputError, match=words):
        fit_friction(law, data, **options)


def test_numbers_that_are_none_are_refused():
    with pytest.raises(InputError, match="2 speeds and 1 forces"):
        Points([0.1, 0.2], [1.0])
    with pytest.raises(InputError, match="Frictionless has no numbers"):
        fit_friction(Frictionless(), points(BRISTLES))
    for t, v in (([0, 1, 1], [0, 1, 2]), ([0, 1], [0, np.nan]), ([0, 1, 2], [0, 1])):
        with pytest.raises(InputError, match="instants"):
            drive(BRISTLES, t, v)


# ---- the command ----------------------------------------------------------------------------------------------------
@pytest.fixture
def files(tmp_path):
    p, r = points(BrownMcPhee(**NUMBERS)), record(BRISTLES)
    np.savetxt(
        tmp_path / "points.csv",
        np.c_[1e3 * p.v, p.F / 1e3],
        delimiter=",",
        header="speed [mm/s],force [kN]",
        comments="",
    )
    np.savetxt(
        tmp_path / "record.csv",
        np.c_[r.t, r.u, r.y],
        delimiter=",",
        header="t [s],v [m/s],F [N]",
        comments="",
    )
    return tmp_path


@pytest.mark.long
def test_the_command_finds_columns_by_their_units(files, capsys):
    assert (
        main(
            [
                "identify",
                str(files / "points.csv"),
                "--friction",
                "brown-mcphee",
                "--json",
                str(files / "o.json"),
            ]
        )
        == 0
    )
    said, made = capsys.readouterr().out, json.loads((files / "o.json").read_text())
    assert "friction: {law: BrownMcPhee, F_c: 12" in said and "fit 99." in said
    assert {p["name"]: p["value"] for p in made["parameters"]}["v_s"] == pytest.approx(
        0.0121, rel=0.02
    )
    assert made["data"] == [{"source": str(files / "points.csv"), "kind": "points", "size": 60}]
    assert (
        main(
            [
                "identify",
                str(files / "record.csv"),
                "--friction",
                "LuGre",
                "--fix",
                "v_s=12.1mm/s",
                "--quiet",
            ]
        )
        == 0
    )
    assert (
        main(
            [
                "identify",
                str(files / "record.csv"),
                "--friction",
                "LUGRE",
                "--input",
                "v",
                "--output",
                "F",
            ]
        )
        == 0
    )
    assert "σ_1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--friction", "dahl"], "there is no law 'dahl'"),
        (["--friction", "brown-macphee"], "did you mean BrownMcPhee?"),
        (["--friction", "lugre", "--fix", "q=1"], "LuGre has no number 'q'"),
        (["--friction", "lugre", "--fix", "v_s"], "write NAME=VALUE"),
        (["--friction", "lugre", "--fix", "v_s=3kg"], "--fix: v_s"),
        (["--friction", "lugre", "--order", "3"], "--order is for linear"),
        (["--friction", "lugre", "--report", "x.pdf"], "--report is for linear"),
        ([], "--input is missing"),
        (["--friction", "lugre", "--input", "v", "F"], "friction has one, the speed"),
        (["--input", "v", "--output", "F", "--offset"], "--offset is for friction laws"),
        (["--friction", "lugre", "--input", "F", "--output", "v"], "F is in N, not in m/s"),
        (["--friction", "lugre", "--input", "w"], "there is no column 'w'"),
        (["--friction", "lugre", "--free", "m"], "no number 'm'"),
    ],
)
def test_the_command_refuses_in_words(files, capsys, arguments, words):
    assert main(["identify", str(files / "record.csv"), *arguments]) == 3
    assert words in capsys.readouterr().err


def test_columns_without_units_are_taken_as_si_and_that_is_said(files, capsys):
    path = files / "bare.csv"
    p = points(BrownMcPhee(**NUMBERS))
    np.savetxt(path, np.c_[p.v, p.F], delimiter=",", header="v,F", comments="")
    assert (
        main(["identify", str(path), "--friction", "brownmcphee", "--input", "v", "--output", "F"])
        == 0
    )
    said = " ".join(capsys.readouterr().out.split())
    assert "v has no unit and is taken to be in m/s" in said and "fit 99." in said
    assert main(["identify", str(path), "--friction", "brownmcphee"]) == 3
    assert "no columns in m/s" in capsys.readouterr().err


def test_columns_that_cannot_be_told_apart(files, capsys):
    path = files / "two.csv"
    path.write_text("v [m/s],w [m/s],F [N]\n" + "\n".join(f"{k},{k},{k * k}" for k in range(1, 20)))
    assert main(["identify", str(path), "--friction", "lugre"]) == 3
    assert "2 columns in m/s: v, w" in capsys.readouterr().err
