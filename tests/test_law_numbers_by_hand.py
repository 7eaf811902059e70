"""Numbers that laws and their searches have where nothing is given, and those that their pages state, as they are documented."""

import inspect
from dataclasses import MISSING, fields, is_dataclass
from types import ModuleType

import cvxpy as cp
import pytest

from controllers import LQR, ForcePosition, OpenLoop, tuned, unlimited
from controllers.gain_search import bearing, judged, knobs, point, search
from controllers.gain_search.options import ByRuns
from controllers.mpc import (
    check,
    convex,
    dense,
    loop,
    observer,
    parts,
    prepare,
    problem,
    sequence,
    stated,
    terminal_set,
)
from controllers.pid import first, law, units
from controllers.pid_tuning import design, experiment, linear, oscillation, relay_law, rules, tune
from controllers.pid_tuning import search as pid_search
from controllers.riccati import RESIDUAL
from controllers.vdc import body_rows, force_rate, gains, part, suited
from controllers.vdc.drives import metered_section, oil_ledger, pure_force, servo_valve

DEFAULTS = {
    ForcePosition: {"λ": 8.0, "κ": 10.0, "k_x": 6e-3, "βk_f": 60.0, "derivative": "model"},
    LQR.design: {"T_s": 1e-3, "tracked": (), "integral": None, "x": None, "u": None},
    ByRuns: {"trade": "error", "margin": "delay", "each": False, "most": None, "free": ()},
    knobs.knobs: {"free": (), "each": False},
    bearing.borne: {"near": 0.0},
    judged.Bench: {"near": 0.0, "floor": None, "ceiling": None},
    point.Point: {"violated": (), "excess": 0.0, "whole": False},
    check.refined: {"steps": 6},
    convex.stated: {"names": None, "extra": None, "solver": None, "scale": 1.0},
    dense.condensed: {"checked": True},
    loop.commands_of: {"age": 0},
    observer.Observer: {"σ_w": (0.0,), "σ_x": (0.0,), "disturbance": ()},
    observer.check_covariance: {"strict": False},
    parts.Limit: {"low": None, "high": None, "soft": False, "linear": 0.0, "quadratic": 1.0},
    problem.Problem.pick: {"k": 0, "width": None},
    law.PID._wound: {"shortest": 0.0},
    units._ratio: {"seconds": 0},
    experiment.relay: {"amplitude": None, "hysteresis": 0.0, "bias": 0.0, "T_s": 1e-3},
    rules.gains: {"rule": "tyreus-luyben", "structure": "PI", "N": 10.0},
    linear.Family.margins: {"least": 0.0, "first": 0},
    oscillation.limit_cycle: {"ε": 0.0},
    oscillation.LimitCycle: {"why": "", "hopeless": False, "cycles": (), "symmetric": False},
    relay_law.Relay: {"ε": 0.0, "bias": 0.0, "y_0": 0.0},
    tune.ByDiskMargin: {"disk_margin": 0.75, "free": ("K_p", "K_i"), "N": 10.0, "noise_gain": None},
    tune.ByRelay: {"structure": "PI", "amplitude": None, "hysteresis": 0.0, "bias": 0.0, "N": 10.0},
    tuned: {"disk_margin": 0.75, "T_s": 1e-3},
    unlimited.unlimited: {"waiting": False},
    oil_ledger.Side: {"moving": 0.0},
}

STATED = {
    bearing: {"OCTAVE": 2},
    judged: {"SPAN": 10.0, "ROOM": 10.0, "UNTOLD": 0.05},
    knobs: {"REACH": 4.0, "DIGITS": 3},
    search: {"FIRST": 1.0, "LAST": 0.5, "COMPILED": 600, "CALLED": 40, "GAIN": 0.01, "ENOUGH": 2, "PROPOSED": 6},
    dense: {"NONE": 1e30},
    loop: {"TOLERATED": 1e-7, "BROKEN": -9, "NO_MODEL": -10},
    parts: {"LONGEST": 1000, "SAMPLE": 0.02, "REACH": 0.4},
    sequence: {"FIRST": 4},
    terminal_set: {"LONGEST": 400, "SLACK": 1e-9},
    first: {"T_S": 1e-3, "DISK_MARGIN": 0.75, "FILTERS": (0.02, 0.2, 0.002), "UNLIMITED": 1e9},
    design: {"STEPS": 60, "GROWTH": 3.0, "ENOUGH": 1e-3, "HALVINGS": 7},
    experiment: {"FIRST": 400, "LONGEST": 100_000},
    oscillation: {"CYCLES": 6, "SHORTEST": 8, "ALIKE": 0.02, "MANY": 300, "EVEN": 0.05},
    pid_search: {"GUIDES": 160, "TRIED": 48, "SWEEPS": 15, "ALIKE": 0.02, "TOGETHER": 3.0},
    tune: {"SPARE": 5e-4, "FILTERS": 4},
    body_rows: {"COUNTED": 0.01},
    force_rate: {"USUAL_τ": 5e-3, "USUAL_CUTOFF": 20.0},
    gains: {"USUAL_λ": 8.0, "USUAL_κ": 10.0, "USUAL_K_I": 0.0, "USUAL_K_X": 6e-3, "USUAL_βk_f": 120.0,
            "USUAL_k_m": 1.0, "USUAL_Kk_f": 60.0},
    metered_section: {"LARGEST": 4.0},
    servo_valve: {"SHARE_OF_H": 0.15},
    suited: {"HELD": 1e-6},
    part.Part: {"needs_rate": True},
    metered_section.MeteredPart: {"needs_rate": False},
    pure_force.PureForce: {"needs_rate": False},
    OpenLoop: {"open": True},
}  # fmt: skip


def default(of, name):
    """What a field or an argument is where it is left out."""
    if isinstance(of, type) and is_dataclass(of):
        (found,) = [f.default for f in fields(of) if f.name == name]
        assert found is not MISSING, name
        return found
    return inspect.signature(of).parameters[name].default


def called(of):
    return of.__name__ if isinstance(of, ModuleType) else of.__qualname__


@pytest.mark.parametrize("of", DEFAULTS, ids=called)
def test_what_is_left_out_is_what_the_page_says(of):
    found = {name: default(of, name) for name in DEFAULTS[of]}
    assert found == DEFAULTS[of]


@pytest.mark.parametrize("of", STATED, ids=called)
def test_numbers_that_pages_state(of):
    found = {name: getattr(of, name) for name in STATED[of]}
    assert found == STATED[of]


def test_shares_of_what_is_allowed_that_are_left_for_rounding():
    """A terminal set gives away 1e-5 of its decay and 1e-6 of its size, a command linearised at its limit 1e-6 of it."""
    assert stated.STRICT == pytest.approx(0.99999, rel=1e-12) and stated.HAIR == 1e-6
    assert pytest.approx(0.999999, rel=1e-12) == prepare.EDGE
    assert RESIDUAL == 1e-9


def test_what_the_solvers_words_are_in_numbers():
    """Those of DAQP: 1 optimal, −1 infeasible, −3 unbounded, −4 the limit of iterations; 4 a little inaccurate."""
    optimal = {cp.OPTIMAL: 1, cp.OPTIMAL_INACCURATE: 4}
    none = {cp.INFEASIBLE: -1, cp.INFEASIBLE_INACCURATE: -1, cp.UNBOUNDED: -3}
    none |= {cp.UNBOUNDED_INACCURATE: -3, cp.USER_LIMIT: -4, cp.SOLVER_ERROR: -8}
    assert optimal | none == convex.STATUS
    assert loop.SETTINGS == {"primal_tol": 1e-10, "dual_tol": 1e-12, "iter_limit": 2000}


def test_noise_of_a_cranes_sensors_and_what_its_model_misses_in_a_sample():
    assert parts.NOISE == {"rad": 1e-5, "m": 1e-5, "rad/s": 1e-4, "m/s": 1e-4, "Pa": 1e3}
    missed = {"rad": 1e-6, "m": 1e-6, "rad/s": 1e-4, "m/s": 1e-4, "Pa": 1e3}
    assert missed | {"V": 1e-3, "V/s": 0.1} == parts.MISSED


def test_what_is_not_shown_of_an_experiment_and_not_counted_of_a_point():
    """Its log is too long to print; two points with the same numbers have one hash, whatever their gains are kept in."""
    shown = {f.name: f.repr for f in fields(experiment.RelayExperiment)}
    assert [name for name, seen in shown.items() if not seen] == ["log"]
    one = point.Point((0.5,), {"K_p": [1.0]}, 2.0, 3.0, 0.1)
    assert hash(one) == hash(point.Point((0.5,), {"K_p": [2.0]}, 2.0, 3.0, 0.1))
    assert [f.name for f in fields(design.Program) if not f.init] == ["L"]
