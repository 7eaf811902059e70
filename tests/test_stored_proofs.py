"""Numbers of linear loops, margins, certificates and bounds on given matrices: held by a table, see `stored`.

What semidefinite programmes find is held in its verdict and to a thousandth; the rest to ten digits.
"""

from dataclasses import fields, replace

import casadi as ca
import numpy as np
import pytest
from stored import held, members
from test_delay_margin import STABLE, margin
from test_mpc_claims import GOOD
from test_robust import OSCILLATOR, servo
from test_sector import loop as in_sector
from test_supplied import BOX, QUADRATIC, Cubic, Henon, sampled

from tests.linear_systems import random_loop, s, system
from workbench.verification import data_margin as D
from workbench.verification import linear as L
from workbench.verification import lyapunov as V
from workbench.verification import margins as M
from workbench.verification import norms as N
from workbench.verification import quadratic as Q
from workbench.verification import sampled_data as S
from workbench.verification import stability as St
from workbench.verification.balls import Ball, definite_ball, exponential
from workbench.verification.curvature import Curvature
from workbench.verification.exact import Dyadic, fall, polytope_radius
from workbench.verification.hidden import hidden_modes
from workbench.verification.margin_verdicts import margin_verdicts
from workbench.verification.modes import modes_of
from workbench.verification.mpc_claims import cost_on_log, mpc_stability
from workbench.verification.mpc_ingredients import with_slew
from workbench.verification.mpc_local import local_stability, predictions, unconstrained
from workbench.verification.paving import ball_size, faces, halved
from workbench.verification.region_search import saturated_region
from workbench.verification.robust import continuous, edge, robust_stability
from workbench.verification.sector_search import largest_sector, sector_stability
from workbench.verification.supplied import check_supplied
from workbench.verification.terminal_claims import seen, sees_state, terminal_cost, terminal_set


def said(verdict) -> dict:
    """A verdict without the certificate's own digits."""
    return {
        **verdict.as_dict(),
        "data": {k: v for k, v in verdict.data.items() if k != "certificate"},
    }


def everything(thing) -> dict:
    """Fields and members."""
    return {f.name: getattr(thing, f.name) for f in fields(thing)} | members(thing)


# ---- linear loops -----------------------------------------------------------------------------------------------------
def margins_of(loop, what="a loop") -> dict:
    ω = [0.3, 4.0]
    return {
        "loop": everything(loop),
        "response": loop.response(ω),
        "gain": [M.log_gain(loop, w) for w in ω],
        "crossovers": [M.gain_crossovers(loop), M.phase_crossovers(loop)],
        "margins": everything(M.loop_margins(loop)),
        "disk": [everything(M.disk_margin(loop, σ)) for σ in (-1.0, 0.0, 0.4)],
        "ranges": [M.disk_range(α, σ) for α in (0.3, 1.4) for σ in (-1.0, 0.2, 1.0)],
        "norm": N.hinf_norm(loop),
        "closed": everything(L.feedback(loop)),
        "balanced": L.balanced(loop).response(ω),
        "verdicts": [said(v) for v in margin_verdicts(loop, what, delay=0.1, disk=0.5)],
        "hidden": hidden_modes(loop.A, loop.B, loop.C, [f"x{i}" for i in range(len(loop.A))]),
    }


def spectra(A, T) -> dict:
    names = [f"{'z_' if i == 1 else 'x'}{i}" for i in range(len(A))]
    found = {
        "spectrum": everything(St.spectral(A, T)),
        "stability": everything(St.stability(A, T, names)),
        "verdict": said(St.stable_verdict(L.LinearSystem(A, A[:, :1], A[:1], [[0.0]], T), "A")),
        "modes": [everything(m) for m in modes_of(A, T, names, 4.0, "here", 1.5)],
        "on the way": modes_of(A, T, names, 4.0, rests=False, commons=np.eye(len(A))[:1]),
        "quadratic": said(Q.quadratic_certificate(A, T, what="A")),
        "sizes": D.sizes(A),
    }
    P = V.lyapunov_matrix(A, T)
    if P is not None:
        found |= {
            "P": P,
            "slack": Q.slack(A, P, T),
            "tolerates": [Q.tolerates(A, P, δ, T) for δ in (1e-9, 1e-4, 1e-3, 1e-2, 0.1)],
            "falls": [
                V.falls_in_ball(Ball.of(A, δ), P, T, rate)
                for δ in (0.0, 1e-3, 1e-2, 0.1)
                for rate in (0.0, 0.05)
            ],
            "around": [
                V.falls_around(A, δ * np.ones_like(A), P, T) for δ in (0.0, 1e-3, 1e-2, 0.1)
            ],
            "exact": fall(A, P, T, 0.01).floats(),
        }
    return found


def matrix(seed: int, n: int, T) -> np.ndarray:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    λ = np.linalg.eigvals(A)
    return A - (λ.real.max() + 0.2) * np.eye(n) if T is None else 0.85 * A / abs(λ).max()


LOOPS = {
    "third order": system(20 / (s + 1) ** 3 / (s + 4) * 4),
    "conditionally stable": system(80 * (s + 1) ** 2 / s**3 / (0.05 * s + 1)),
    "resonant": system(3 / (s**2 + 0.1 * s + 4)),
    "unstable": system(3 / (s - 1)),
    "integrator": system(0.4 / s),
    "feedthrough": system((0.5 * s + 3) / (s + 2)),
    "with zeros": system((s - 2) * 0.5 / (s + 1) ** 2),
    **{f"drawn {seed}": random_loop(seed) for seed in (2, 3, 5, 6, 8, 9)},
}
MATRICES = {
    "flow of three": (matrix(1, 3, None), None),
    "flow of five": (matrix(2, 5, None), None),
    "map of three": (matrix(3, 3, 0.1), 0.1),
    "map of four": (matrix(4, 4, 0.02), 0.02),
    "neutral": (np.array([[0.0, 1.0], [-4.0, 0.0]]), None),
    "grows": (np.array([[0.1, 2.0, 0.0], [-2.0, 0.1, 0.3], [0.0, 0.0, -1.0]]), None),
    "map that grows": (np.array([[1.01, 0.2], [0.0, -0.5]]), 0.01),
    "dead beat": (np.array([[0.0, 1.0], [0.0, 0.0]]), 0.1),
}


def sampled_data() -> dict:
    rng = np.random.default_rng(6)
    A, B, C = rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), rng.normal(size=(2, 3))
    late = (0.0, 0.03, 0.1, 0.17, (0.03, 0.25))
    return {
        "hold": S.hold(A, B, 0.07),
        "rests": [S.whole_and_rest(τ, 0.1) for τ in (0.0, 0.03, 0.1, 0.25)],
        "sampled": [everything(S.sampled(A, B, C, np.zeros((2, 2)), 0.1, τ)) for τ in late],
        "series": everything(L.series(random_loop(3), random_loop(5))),
        "at": everything(
            L.loop_at(L.LinearSystem(A - 3 * np.eye(3), B, C, 0.1 * np.eye(2), None), 1)
        ),
        "cut": everything(L.break_loop(A, B, C, 1, 0.1)),
        "disks": M.disk_margins(L.LinearSystem(A - 3 * np.eye(3), B, C, np.zeros((2, 2)), None)),
        "balanced": L.balanced_matrix(A * np.array([[1.0, 1e3, 1e-2]])),
        "changes": [D.largest_change(lambda c, top=top: c < top) for top in (1e-9, 3e-3, 0.4)],
    }


# ---- bounds -----------------------------------------------------------------------------------------------------------
def bounds() -> dict:
    rng = np.random.default_rng(12)
    A = Ball.of(rng.normal(size=(3, 3)), 0.01 * np.abs(rng.normal(size=(3, 3))))
    B = Ball.between([[1.0, 2.0], [-1.0, 0.0], [3.0, 4.0]], [[1.1, 2.5], [0.5, 0.2], [3.0, 4.5]])
    H, h = rng.normal(size=(9, 2)), 1 + rng.uniform(size=9)
    return {
        "balls": [everything(b) for b in (A @ B, A + A, A - A.T, A.scaled(-0.3, 0.7), A.part(2))],
        "exponential": [everything(exponential(A, k)) for k in (6, 12)],
        "definite": [
            definite_ball(Ball.of(np.eye(3) + A.mid @ A.mid.T, d)) for d in (0.0, 0.1, 0.5, 2.0)
        ],
        "dyadic": (Dyadic.of(A.mid) @ Dyadic.of(B.mid) - Dyadic.of(B.mid).times(0.3)).floats(),
        "radius": float(polytope_radius(H, h)[0] or 0),
        "halved": halved(
            np.array([[0.0, -1.0]]), np.array([[2.0, 4.0]]), np.array([[1.0, 3.0]]), np.ones(2)
        ),
        "faces": faces([0.0, -1.0, 2.0], [2.0, 4.0, 5.0], 2),
        "balls' sizes": ball_size(
            np.array([[0.1, -1.0], [1.0, 1.0]]),
            np.array([[2.0, 4.0], [3.0, 2.0]]),
            np.array([0.2, 0.1]),
            np.array([0.5, 2.0]),
        ),
    }


def curvature() -> dict:
    z, w = ca.SX.sym("z", 2), ca.SX.sym("w")
    g = 3 * z[0] ** 2 + w * z[1] ** 2 + 0.3 * np.sin(z[0] * z[1]) + 0.2 * z[0] ** 3 + 0.01 * z[1]
    own = Curvature(ca.vertcat(z, w), 2, g, ca.SX(0, 1), [])
    found = {}
    for k, (c, r) in enumerate((((0.0, 0.0), (0.3, 0.2)), ((0.02, -0.05), (0.4, 0.1)))):
        at = (np.array([-0.6, -0.8, 1.5]), np.array([0.5, 0.9, 2.5]), np.array(c), np.array(r))
        found[f"at {k}"] = [own.outside(*at), own.outside(*at, -1.0), own.inside(*at)]
    return found


# ---- proofs -----------------------------------------------------------------------------------------------------------
PAIR = [np.array([[-1.0, 0.7], [-0.2, -1.4]]), np.array([[-1.0, -0.6], [0.5, -1.2]])]
UNSTABLE = (np.array([[0.0, 1.0], [1.3, 0.2]]), np.array([[0.0], [1.7]]))


def terminal(**changes) -> dict:
    t = replace(GOOD, **changes)
    W, c = sees_state(t) or (None, 0.0)
    return {
        "cost": said(terminal_cost(t)),
        "set": said(terminal_set(t)[0]),
        "whole": [said(v) for v in mpc_stability(t)],
        "local": said(local_stability(t)),
        "predictions": [everything(b) for pair in predictions(t)[:2] for b in pair],
        "free": unconstrained(t) is not None,
        "seen": None if W is None else [W, c, [seen(t, W, k * c) for k in (0.5, 1.0, 1.5, 3.0)]],
    }


SUPPLIED = {
    "cubic": lambda: check_supplied("x**2", Cubic(), {"x": (-2, 2)}, 0.02, 1.5),
    "cubic, largest": lambda: check_supplied("x**2", Cubic(), {"x": (-2, 2)}, 0.02),
    "cubic, too large": lambda: check_supplied("x**2", Cubic(), {"x": (-2, 2)}, 0.02, 1.8),
    "cubic, off centre": lambda: check_supplied(
        "(x - 0.01)**2", Cubic(), {"x": (-1, 1)}, 0.1, 0.5, centre={"x": 0.01}
    ),
    "map": lambda: check_supplied(
        "x**2 + 2*y**2", Henon(), {"x": (-0.4, 0.4), "y": (-0.4, 0.4)}, 0.05
    ),
    "map, too large": lambda: check_supplied(
        "x**2 + 2*y**2", Henon(), {"x": (-3, 3), "y": (-3, 3)}, 0.05, budget=2000
    ),
    "sampled, wrong sign": lambda: check_supplied(QUADRATIC, sampled(K=((-3.1, -2.2),)), BOX, 0.1),
    "sampled, not decided": lambda: check_supplied(QUADRATIC, sampled(), BOX, 0.1, budget=3),
}

EXACT = {
    **{f"loop, {name}": (lambda g=g: margins_of(g)) for name, g in LOOPS.items()},
    **{f"matrix, {name}": (lambda a=a: spectra(*a)) for name, a in MATRICES.items()},
    "sampled data": sampled_data,
    "delays": lambda: [everything(margin_of(seed)) for seed in STABLE[:5]],
    "bounds": bounds,
    "curvature": curvature,
    **{f"supplied, {name}": (lambda f=f: said(f())) for name, f in SUPPLIED.items()},
    "terminal": terminal,
    "terminal, ellipsoid": lambda: terminal(H=None, h=None, level=0.02),
    "terminal, ellipsoid too large": lambda: terminal(H=None, h=None, level=20.0),
    "terminal, nothing": lambda: terminal(H=None, h=None),
    "terminal, blocks": lambda: terminal(blocks=(1, 1, 2, 4)),
    "slew": lambda: with_slew(
        GOOD.A[:2, :2], GOOD.B[:2], -1.0, 1.2, 0.4, np.array([[1.0, 0.0]]), -2.0, np.inf
    ),
    "cost on a log": lambda: [
        said(cost_on_log(values, [1.0, 0.5, 0.2, 0.1], ["optimal"] * 4, floor=0.01))
        for values in ([4.0, 2.9, 2.0, 1.7], [4.0, 3.2, 2.0, 1.7], [4.0, 3.0, 2.5, np.nan])
    ],
    "robust, frozen": lambda: said(robust_stability(OSCILLATOR, [(1, 2), (0.3, 1.5)])),
    "robust, refuted": lambda: said(robust_stability(OSCILLATOR, [(1, 3), (-0.03, 1.5)])),
    "robust, budget": lambda: said(robust_stability(OSCILLATOR, [(1, 3), (0.0, 1.5)], budget=40)),
    "robust, curved": lambda: said(
        robust_stability(
            continuous(("k",), lambda θ: [[0.0, 1.0], [-1.0 - θ[0] ** 2, -0.5]]), [(0.2, 1.5)]
        )
    ),
    "robust, sampled": lambda: said(robust_stability(servo(), [(50.0, 70.0), (0.9, 1.2)])),
    "robust, late": lambda: said(robust_stability(servo(delay=0.013), [(50.0, 60.0), (0.9, 1.0)])),
    "family": lambda: [
        everything(b) if isinstance(b, Ball) else [everything(d) for d in b]
        for b in servo(delay=0.013).cover([50.0, 0.9], [60.0, 1.0])[:2]
    ],
}
FOUND = {
    "common": lambda: [
        V.common_matrix(PAIR) is not None,
        V.common_matrix([PAIR[0], -PAIR[1]]) is not None,
    ],
    "robust, varying": lambda: said(
        robust_stability(OSCILLATOR, [(1.0, 1.4), (0.5, 1.5)], "varying")
    ),
    "robust, edge": lambda: edge(OSCILLATOR, [2.0, 0.8], [0.0, 1.0], rounds=6)[:2],
    **{
        f"sector, {criterion} {T}": (
            lambda criterion=criterion, T=T: [
                largest_sector(in_sector(1.0, T, 1.0 if T else None), criterion, rounds=6)[0],
                said(sector_stability(in_sector(2.0, T, 2.5 if T else None), criterion)),
                said(sector_stability(in_sector(30.0, T, 30.0 if T else None), criterion)),
            ]
        )
        for criterion, T in (("circle", None), ("popov", None), ("circle", 0.2), ("jury-lee", 0.2))
    },
    "region": lambda: said(
        saturated_region(*UNSTABLE, np.array([[-3.1, -2.2]]), 0.9, inside=[[0.2, 0.1]])
    ),
    "region, sampled": lambda: said(
        saturated_region(
            np.eye(2) + 0.05 * UNSTABLE[0],
            0.05 * UNSTABLE[1],
            np.array([[-3.1, -2.2]]),
            0.9,
            T=0.05,
        )
    ),
    "region, too far": lambda: said(
        saturated_region(*UNSTABLE, np.array([[-3.1, -2.2]]), 0.9, inside=[[3.0, 3.0]])
    ),
}


def margin_of(seed: int):
    from test_delay_margin import drawn

    return margin(drawn(seed))


CASES = EXACT | FOUND


def within(case: str) -> float:
    return 1e-3 if case in FOUND else 1e-7


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_proofs_are_those_of_the_table(case):
    held("proofs", case, CASES[case], within(case))
