"""Weights of an explicit exponential Runge–Kutta step: φ functions of a small matrix, as expressions.

For ẋ = f(t, x), with f_0 = f(t_0, x_0), a matrix J and D(t, x) = f(t, x) − f_0 − J (x − x_0), stages at t_0 + h (0, ½, ½, 1, ½):

    X_2 = x_0 + h α f_0                            D_i = D(t_i, X_i)
    X_3 = X_2 + h β D_2
    X_4 = x_0 + h (γ f_0 + δ (D_2 + D_3))
    X_5 = x_0 + h (α f_0 + ε (D_2 + D_3) + ζ D_4)
    x_1 = x_0 + h (γ f_0 + η D_4 + θ D_5)

    α = ½ φ_1(Z/2)    β = φ_2(Z/2)    γ = φ_1    δ = φ_2    ε = ½ φ_2(Z/2) − φ_3 + ¼ φ_2 − ½ φ_3(Z/2)
    ζ = ¼ φ_2(Z/2) − ε    η = 4 φ_3 − φ_2    θ = 4 φ_2 − 8 φ_3        of Z = h J where nothing else is said
    φ_0(z) = e^z,  φ_k(z) = (φ_{k−1}(z) − 1/(k−1)!)/z

The order is four whatever part of the Jacobian J holds. A linear flow that J holds whole is followed exactly, so fast parts
are damped as by e^Z; a part of rate λ, λh ≫ 1, that follows something outside its block does so to h²/(12 λ).
J is block diagonal here; states outside all blocks have Z = 0, where the weights are numbers (PLAIN).

φ of a block: its series at Z/2ⁿ, ‖Z‖/2ⁿ ≤ ½, then doubled n times by

    φ_k(2z) = 2^−k (φ_0(z) φ_k(z) + Σ_{j=1…k} φ_j(z)/(k−j)!)

Where all blocks are gentle a step of at most SHORT is the classical one of Runge and Kutta, which has a stage less and no weights.
Of long steps the modes outside of all blocks decide, and what these five stages miss of them is half as much. A block is gentle
where a vector v > 0 has |Z| v < GENTLE v, entry by entry: then no eigenvalue of Z is larger, whatever the units of its states
(Collatz and Wielandt, [HornJohnson13] section 8.1). v = (GENTLE + |Z|)ⁿ 1 with n = BALANCED is near the best one.

Source: [HochbruckOstermann05] section 5, the method of five stages; there φ_{k,i} = φ_k(c_i Z).
"""

from __future__ import annotations

from functools import cache
from math import factorial, log
from typing import Any

import casadi as ca

WEIGHTS = ("α", "β", "γ", "δ", "ε", "ζ", "η", "θ")  # order in which `weights` returns them
GENTLE = 0.05  # |λ h| of a block up to which the classical method does as well
SHORT = 2e-3  # s: the longest step that may be classical where blocks are stiff at other times
BALANCED = 6  # products with GENTLE + |Z| that make the vector which shows it
DOUBLINGS = 40  # most of them: ‖Z‖ up to 10¹²
TERMS = 12  # of the series of φ_3, a multiple of 3: what is left out at ‖z‖ = ½ is 10⁻¹⁵ of it
UNROLLED = 6  # larger blocks are multiplied in loops, or their code would be long


def _packed(matrices: Any) -> Any:
    return ca.vertcat(*[ca.vec(ca.densify(m)) for m in matrices])


def _taken(name: str, count: int, m: int) -> tuple:
    """A column of count m × m matrices, column by column, and the matrices."""
    v = (ca.SX if m <= UNROLLED else ca.MX).sym(name, count * m * m)
    return v, [ca.reshape(v[i * m * m : (i + 1) * m * m], m, m) for i in range(count)]


@cache
def series(m: int) -> ca.Function:
    """z → φ_0 … φ_3 of an m × m matrix with ‖z‖ ≤ ½; all matrices column by column."""
    v, (z,) = _taken("z", 1, m)
    one = ca.DM.eye(m)
    cube = (z @ z) @ z
    three = lambda k: one / factorial(k + 3) + z / factorial(k + 4) + z @ z / factorial(k + 5)
    φ = three(TERMS - 3)
    for k in range(TERMS - 6, -1, -3):
        φ = cube @ φ + three(k)
    found = [φ]
    for k in (2, 1, 0):
        found.insert(0, z @ found[0] + one / factorial(k))
    return ca.Function(f"series{m}", [v], [_packed(found)])


@cache
def doubled(m: int) -> ca.Function:
    """φ_0 … φ_3 at z → the same at 2z."""
    v, φ = _taken("f", 4, m)
    found = [
        (φ[0] @ φ[k] + sum(φ[j] / factorial(k - j) for j in range(1, k + 1))) / 2**k
        for k in range(4)
    ]
    return ca.Function(f"doubled{m}", [v], [_packed(found)])


@cache
def weights(m: int) -> ca.Function:
    """φ_0 … φ_3 at Z/2 and at Z → α … θ, m × m each."""
    v, (_, a_1, a_2, a_3) = _taken("a", 4, m)
    w, (_, φ_1, φ_2, φ_3) = _taken("b", 4, m)
    ε = a_2 / 2 - φ_3 + φ_2 / 4 - a_3 / 2
    return ca.Function(
        f"weights{m}",
        [v, w],
        [_packed([a_1 / 2, a_2, φ_1, φ_2, ε, a_2 / 4 - ε, 4 * φ_3 - φ_2, 4 * φ_2 - 8 * φ_3])],
    )


def gentle(Z: Any) -> Any:
    """Whether the classical method follows this block as well: whether |Z| v < GENTLE v."""
    size = ca.fabs(Z)
    v = ca.DM.ones(Z.shape[0])
    for _ in range(BALANCED):
        v = GENTLE * v + size @ v
    return ca.mmin(size @ v < GENTLE * v)


def _plain() -> dict[str, float]:
    φ = [1 / factorial(k) for k in range(4)]
    return dict(zip(WEIGHTS, map(float, weights(1)(φ, φ).nonzeros())))


PLAIN = _plain()  # the weights at Z = 0


@cache
def weights_of(m: int) -> ca.Function:
    """Z → α … θ for any m × m matrix, in CasADi's virtual machine (driver.c does the same with the functions above)."""
    v, (Z,) = _taken("z", 1, m)
    norm = ca.mmax(ca.sum2(ca.fabs(Z)))
    halvings = ca.Function(
        "halvings", [v], [ca.fmax(ca.ceil(ca.log(ca.fmax(norm, 0.5)) / log(2)), 0)]
    )
    cases = []
    for n in range(DOUBLINGS):
        z = ca.MX.sym("z", m * m)
        φ = series(m)(z / 2 ** (n + 1))
        for _ in range(n):
            φ = doubled(m)(φ)
        cases.append(ca.Function(f"weights{m}_{n}", [z], [weights(m)(φ, doubled(m)(φ))]))
    z = ca.MX.sym("z", m * m)
    pick = ca.Function.conditional(f"weights{m}_of", cases[:-1], cases[-1])
    return ca.Function(f"weights{m}_of", [z], [pick(halvings(z), z)])
