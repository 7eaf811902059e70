"""The study of friction holds, and its checks are not empty; figures of friction can be drawn."""

from dataclasses import replace

import pytest

from plants import IEHA, LuGre
from reports.figures import friction as figures_friction
from reports.studies import friction


@pytest.fixture(scope="module")
def found():
    return friction.results(legs=1, runs=1, settle=1.0)


def test_friction(found):
    friction.check(found)


def spoiled(r, name, **fields):
    return replace(r, rows=r.rows | {name: replace(r.rows[name], **fields)})


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r: spoiled(r, "Stribeck", friction=True),
        lambda r: spoiled(r, "Bengisu–Akay", left=r.rows["Bengisu–Akay"].rate),
        lambda r: spoiled(r, "Brown–McPhee", cause="hold term"),
        lambda r: spoiled(r, "LuGre with film", term=1.0),
        lambda r: spoiled(r, "LuGre", friction=None),
        lambda r: spoiled(r, "Coulomb, viscous", share=0.1),
        lambda r: spoiled(r, "LuGre", residual=1e-6),
        lambda r: replace(r, faults=r.faults | {"LuGre, damped too much": r.rows["LuGre"]}),
        lambda r: replace(
            r, faults=r.faults | {"film, the controller told LuGre": r.rows["LuGre with film"]}
        ),
    ],
    ids=["falling", "rate", "cause", "term", "memory", "monotone", "identity", "brittle", "untold"],
)
def test_a_wrong_result_is_refused(found, spoil):
    with pytest.raises(AssertionError):
        friction.check(spoil(found))


def test_falling_friction_takes_the_rate_that_its_slope_says(found):
    """c left = largest c with 2 Σ JᵀKJ − 2 diag(μ lever²) ⪰ c H, K = κ M: at most 2 κ, and 2 (κ − μ lever²/H) for one joint."""
    rows = found.rows
    order = sorted(friction.FALLING, key=lambda name: rows[name].left)
    slopes = {
        name: float(rows[name].words.split("slope ≥ ")[1].split()[0]) for name in friction.FALLING
    }
    assert order == sorted(order, key=slopes.get) and all(rows[name].left < 20.0 for name in order)


def test_figures(found, tmp_path):
    for made in (figures_friction.curves(found.curves), figures_friction.loops(found.loops)):
        made.savefig(tmp_path / "f.svg")
        assert len(made.axes[0].lines) == 2 + len(friction.LAWS)
    friction.draw(found, tmp_path / "study.svg")


def test_a_run_shows_what_rubbed():
    from controllers import PID
    from workbench import ClosedLoop, Scenario, simulate
    from workbench.run.reference import Hold

    plant = IEHA(friction=LuGre(F_c=40.0, F_s=60.0, v_s=3e-3, b=10.0, σ_0=2e5, σ_1=500.0))
    step = Scenario(reference=Hold("output", (0.004,)), duration=0.02)
    log = simulate(ClosedLoop(plant, PID(plant, **PID.suited(plant))), step)
    made = figures_friction.rubbed(log, plant)
    assert len(made.axes) == 1 and len(made.axes[0].lines) == 1
    assert (
        figures_friction.rubbed(
            simulate(ClosedLoop(IEHA(), PID(IEHA(), **PID.suited(IEHA()))), step), IEHA()
        )
        is None
    )
