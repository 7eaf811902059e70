"""What an identification must not hide: edges of the search, numbers that run out, bias of a form that lacks something."""

import json
from functools import cache

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

from plants.ieha.actuator import IEHA
from workbench import InputError, Scenario, linearize, simulate
from workbench.commands.cli import main
from workbench.identification import (
    Channel,
    LinearModel,
    Record,
    Shape,
    Step,
    descent,
    examine,
    fit,
    search,
    select_order,
)
from workbench.identification.report import document, remarks

T = 1e-3
LAGGING = Channel.of_lags("X", 115.4, (1.14e-2, 1.3e-2, 0.9e-2), 1)
GROWING = Channel("X", (20.0,), (0.01 - 0.05, -0.0005))  # poles +20, −100 1/s
SHAPE = Shape("X", 4, 0, 1)


def record(channel, N=1500, σ=1e-7, names=("X", "Y")):
    t = np.arange(N) * T
    u = 1e-3 * ((t > 0.1 * N * T).astype(float) - 1.5 * (t > 0.5 * N * T))
    y = channel.response(u, T) + σ * np.random.default_rng(0).normal(size=N)
    return Record(t, u, y, names[:1], names[1:])


@cache
def lagging():
    return record(LAGGING)


def starts(n):
    """Models to begin at, from sensible to far away."""
    rng = np.random.default_rng(4)
    for k in range(n):
        a = np.convolve([1.0, np.exp(rng.uniform(-9, 0))], [1.0, np.exp(rng.uniform(-9, 0))])
        if k % 2:
            ω, ζ = np.exp(rng.uniform(1.6, 8.0)), rng.uniform(0.01, 0.5)
            a = np.array([1.0, 2 * ζ / ω, 1 / ω**2])
        a = np.convolve(a, [1.0, np.exp(rng.uniform(-9, 0))])
        yield LinearModel("Y", (Channel("X", (np.exp(rng.uniform(0, 9)),), tuple(a[1:]), 1),))


# ---- the edge of stability --------------------------------------------------------------------------------------------
def test_a_search_that_is_stopped_says_so():
    """From any start either the minimum is reached, or the result says why not; a start next to it reaches it."""
    best = fit(lagging(), SHAPE)
    assert best.converged and not best.edge
    silent, stopped, reached = 0, 0, 0
    for start in starts(24):
        found = fit(lagging(), SHAPE, start=start)
        good = found.rss < 1.01 * best.rss
        reached += good
        stopped += bool(found.edge)
        silent += not good and found.converged and not found.edge
        if found.edge:
            assert not good and any(
                "edge of stability" in n or "lag went to zero" in n for n in found.notes
            )
    assert silent == 0 and stopped >= 5 and reached >= 5
    near = LinearModel("Y", (Channel.of_lags("X", 100.0, (1e-2, 1.5e-2, 0.8e-2), 1),))
    found = fit(lagging(), SHAPE, start=near)
    assert (
        found.converged and not found.edge and found["K_X"].value == pytest.approx(115.4, rel=1e-4)
    )


def test_a_plant_that_is_unstable_itself():
    """Its stable fit ends on the edge, is not taken for a minimum and points to what helps; allowed, the plant is found."""
    refused = fit(record(GROWING, 400), Shape("X", 2))
    assert refused.edge and not refused.converged and "--unstable" in " ".join(refused.notes)
    allowed = fit(record(GROWING, 400), Shape("X", 2, stable=False))
    assert allowed.converged and not allowed.edge
    assert sorted(allowed.model.channels[0].poles.real) == pytest.approx([-100.0, 20.0], rel=1e-3)


def test_a_start_that_cannot_be_simulated_is_refused():
    wild = LinearModel("Y", (Channel("X", (1e300,), (1e-2, 1e-5, 1e-300), 1),))
    with pytest.raises(InputError, match="start: this model cannot be simulated"):
        fit(lagging(), SHAPE, start=wild)


# ---- poles too slow, numbers that run out --------------------------------------------------------------------------------
def test_a_pole_that_is_an_integrator_is_said():
    slow = fit(lagging(), Shape("X", 2))
    assert any("an integrator: count it as one" in n for n in slow.notes)
    assert not any("integrator: count" in n for n in fit(lagging(), Shape("X", 3, 0, 1)).notes)


def test_orders_that_run_out_of_numbers_lose_nothing(monkeypatch):
    """Where no guess has a gradient there is one message; among several orders the others stay."""
    honest = descent.optimised

    def lost(task, channels, *more):
        channels, result = honest(task, channels, *more)
        return channels, OptimizeResult(result, cost=np.inf) if task.shapes[
            0
        ].order == 3 else result

    monkeypatch.setattr(search, "optimised", lost)
    with pytest.raises(
        InputError,
        match="no model of this order follows Y in numbers: the best guess has poles from",
    ) as why:
        fit(lagging(), Shape("X", 3))
    assert "--integrator" in why.value.mend
    found = select_order(lagging(), "X", orders=(1, 2, 3))
    assert [c.orders for c in found.candidates] == [(1,), (2,)] and "order 3" in found.failed[0]
    assert any(
        "not fitted, order 3" in n for n in remarks(found.best.fit, examine(found.best.fit), found)
    )
    with pytest.raises(InputError, match="in numbers"):
        select_order(lagging(), "X", orders=(3,))


# ---- bias ------------------------------------------------------------------------------------------------------------------
def test_the_bias_of_28_is_said_where_it_is_read():
    """K' of (28) on the actuator is off by more than its interval, and terminal and JSON say so; with zeros it is not."""
    plant = IEHA()
    log = simulate(
        plant,
        Scenario(
            2.0, disturbances={"X": 1e-4, "F_ext": Step("output", 500.0, 0.4)}, log_period=1e-3
        ),
    )
    r = Record.from_log(log, ["X", "F_ext"], ["Y"])
    r = Record(r.t, r.input("F_ext"), r.output("Y"), r.inputs[1:], r.outputs, start=250)
    at = linearize(plant, x=[log.array(s.name)[390] for s in plant.states], u=[1e-4, 0.0])
    keep = [i for i, s in enumerate(plant.states) if s.name != "Y"]
    K = -np.linalg.solve(np.asarray(at.A)[np.ix_(keep, keep)], np.asarray(at.B)[keep, 1])[-1]
    biased, elastic = (
        fit(r, Shape("F_ext", 2, 0, 1), trend=True),
        fit(r, Shape("F_ext", 4, 3, 1), trend=True),
    )
    assert (
        abs(biased["K_F_ext"].value / K - 1) > 0.05 > 0.005 > abs(elastic["K_F_ext"].value / K - 1)
    )
    said = [n for n in remarks(biased, examine(biased)) if "biased" in n]
    assert len(said) == 1 and "only lags" in said[0] and "--zeros 3 --order 4" in said[0]
    assert said[0] in document(biased, examine(biased))["notes"]
    clean = fit(lagging(), SHAPE)
    assert not any("biased" in n for n in remarks(clean, examine(clean)))


# ---- as a user meets it ----------------------------------------------------------------------------------------------------
@pytest.fixture
def growing(tmp_path):
    r = record(GROWING, 400)
    rows = "\n".join(f"{t:.6f},{u:.9g},{y:.12g}" for t, u, y in zip(r.t, r.u[:, 0], r.y[:, 0]))
    path = tmp_path / "growing.csv"
    path.write_text(f"time [s],X [m],Y [m]\n{rows}\n")
    return str(path)


def test_the_command_is_undecided_at_an_edge(growing, tmp_path, capsys):
    out = tmp_path / "out.json"
    given = [
        "identify",
        growing,
        "--input",
        "X",
        "--output",
        "Y",
        "--order",
        "2",
        "--json",
        str(out),
    ]
    assert main(given) == 2 and "edge of stability" in capsys.readouterr().out
    found = json.loads(out.read_text())
    assert found["edge"] and not found["converged"]
    assert (
        main([*given, "--unstable"]) == 0
        and "the channel of X is unstable" in capsys.readouterr().out
    )


def test_only_a_small_gap_is_said_to_be_resampled(tmp_path, capsys):
    """What `mend` proposes works."""
    for missing, helps in ((3, True), (60, False)):
        r = lagging()
        keep = np.setdiff1d(np.arange(len(r)), np.arange(700, 700 + missing))
        path = tmp_path / f"gap{missing}.csv"
        rows = "\n".join(f"{r.t[k]:.6f},{r.u[k, 0]:.9g},{r.y[k, 0]:.12g}" for k in keep)
        path.write_text(f"time [s],X [m],Y [m]\n{rows}\n")
        given = [
            "identify",
            str(path),
            "--input",
            "X",
            "--output",
            "Y",
            "--order",
            "4",
            "--integrator",
            "--quiet",
        ]
        assert main(given) == 3
        shown = capsys.readouterr().err
        assert f"{missing} samples are missing" in shown and ("--resample" in shown) is helps
        assert main([*given, "--resample", "1 ms"]) == (0 if helps else 3)
