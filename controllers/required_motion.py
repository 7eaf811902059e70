"""Required motion of a machine whose task has as many coordinates as the machine has joints.

    q̇_r = J⁻¹(τ̇_d + λ (τ_d − τ(q))),   q̈_r its derivative along the true motion                             (35)–(37)

τ(q) are the coordinates of a reference space: joint positions, piston positions, or the tool's position.
Source: [Petrovic22].
"""

from __future__ import annotations

from workbench.numerics.calculus import directional, jacobian_columns, solve


def required_rates(model, space: str, λ, q, τ_d, τ1) -> list:
    """q̇_r (35)–(37); λ one gain a coordinate, 1/s."""
    task = lambda s: model.task(space, s)
    aim = [v + gain * (d - at) for v, gain, d, at in zip(τ1, λ, τ_d, task(q))]
    if space == "joint":
        return aim
    return solve(jacobian_columns(task, q), aim)


def required_motion(model, space: str, λ, q, qd, τ_d, τ1, τ2) -> tuple[list, list]:
    """q̇_r and its exact derivative q̈_r along the true motion q̇."""
    n = model.n
    rates = lambda s: required_rates(model, space, λ, s[:n], s[n : 2 * n], s[2 * n :])
    at = [*q, *τ_d, *τ1]
    return rates(at), directional(rates, at, [*qd, *τ1, *τ2])


def desired_motion(model, space: str, q, τ) -> tuple[list, list]:
    """(q̇_d, q̈_d) of the reference τ = [τ_d, τ̇_d, τ̈_d, …], at joint positions q."""
    if space == "joint":
        return τ[1], τ[2]
    n = model.n
    task = lambda s: model.task(space, s)
    qd = solve(jacobian_columns(task, q), τ[1])
    rate = lambda s: solve(jacobian_columns(task, s[:n]), s[n:])
    return qd, directional(rate, [*q, *τ[1]], [*qd, *τ[2]])
