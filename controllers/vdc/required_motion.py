"""Required motion of a machine whose task has as many coordinates as the machine has degrees of freedom.

    q̇_r = J⁻¹(τ̇_d + λ (τ_d − τ(q))),   q̈_r its derivative along the true motion                             (35)–(37)

τ(q) are the coordinates of a reference space: joint positions, piston positions, or the tool's position; q̇ the rates that lead.
Source: [Petrovic22].
"""

from __future__ import annotations

from plants.multibody import coordinates, drive_forces, required
from workbench.numerics.calculus import directional, jacobian_columns, solve


def required_rates(model, space: str, λ, q, τ_d, τ1) -> list:
    """q̇_r (35)–(37); λ one gain a coordinate, 1/s."""
    at = model.task(space, q)
    return rates_of(model, space, q, [v + gain * (d - a) for v, gain, d, a in zip(τ1, λ, τ_d, at)])


def rates_of(model, space: str, q, task_rates) -> list:
    """Rates of the leading joints that give these rates of the coordinates of a space."""
    if space == "joint":
        return list(task_rates)
    if coordinates.independent(model.mechanism):
        return solve(jacobian_columns(lambda s: model.task(space, s), q), task_rates)
    rows = drive_forces.rows_at(model.mechanism, q)
    return solve([[row[i] for row in rows] for i in range(len(rows))], task_rates)


def required_motion(model, space: str, λ, q, qd, τ_d, τ1, τ2) -> tuple[list, list]:
    """q̇_r and its exact derivative q̈_r along the true motion, which q̇ of the joints tells that are states."""
    m = len(q)
    n = len(τ_d)
    rates = lambda s: required_rates(model, space, λ, s[:m], s[m : m + n], s[m + n :])
    at = [*q, *τ_d, *τ1]
    along = coordinates.velocities(model.mechanism, q, qd)
    return rates(at), directional(rates, at, [*along, *τ1, *τ2])


def desired_motion(model, space: str, q, τ) -> tuple[list, list]:
    """(q̇_d, q̈_d) of the joints that lead, on the reference τ = [τ_d, τ̇_d, τ̈_d, …], at positions q."""
    machine = model.mechanism
    if space == "joint":
        return τ[1], τ[2]
    m = len(q)
    rate = lambda s: rates_of(model, space, s[:m], s[m:])
    qd = rate([*q, *τ[1]])
    along = coordinates.velocities(machine, q, required.rates_at(machine, q, qd))
    return qd, directional(rate, [*q, *τ[1]], [*along, *τ[2]])
