"""Settings of a PID for a plant that its defaults are not made for."""

from __future__ import annotations

from typing import Any

from workbench.contract.system import controls

RELIEF = 0.1  # on the HIAB XS 031, K_f of PID's defaults is 0.04 to 0.11 of u_max/(p_s A_a)


def suited(plant) -> dict[str, Any]:
    """Settings for a plant without valves, whose command sets a velocity: PID's defaults are made for valves.

    With velocity gain k (`plant.velocity_gain`): K_p = 45 s⁻¹/k, K_i = 5 s⁻¹ K_p, feed-forward 1/k; its own limit. A plant
    may name a rate of its own (`plant.loop_rate`, 1/s) in place of 45 s⁻¹, then K_i is a ninth of that times K_p, or
    `plant.integral_rate` (1/s) times K_p; and a gain for each actuator (`plant.velocity_gains`). The settings of a
    linear plant that states none of this are in `linear_settings`. Where all its actuators have two chambers behind a
    valve, pressures are fed back, with a K_f that suits their forces: oil alone damps little.
    """
    gains = plant.velocity_gains
    if plant.cylinders and not gains:
        return {}
    found: dict[str, Any] = {"feed": "gain", "damping": "none"}
    if gains or plant.velocity_gain is not None:
        gains = gains or (float(plant.velocity_gain),)
        rate = float(plant.loop_rate)
        own = plant.integral_rate
        integral = rate / 9.0 if own is None else float(own)
        found |= {
            "K_p": tuple(rate / k for k in gains),
            "K_i": tuple(integral * rate / k for k in gains),
            "K_v": tuple(1.0 / k for k in gains),
        }
    found |= _pressure_feedback(plant)
    ends = [max(abs(low), abs(high)) for low, high in plant.limits().values()]
    return found | ({"u_max": min(ends)} if ends else {})


def _pressure_feedback(plant) -> dict[str, Any]:
    """Damping by pressures where every actuator has chambers: K_f is a share RELIEF of the command's range where the force changes
    by p_s A_a."""
    own = plant.notched
    if not own or len(own) != len(controls(plant)):
        return {}
    sizes = [(one.chambers, one.p_s) for one in own]
    K_f = tuple(RELIEF * c.valve.u_max / (p_s * c.A_a) for c, p_s in sizes)
    return {"damping": "pressure", "K_f": K_f}


def says_nothing(plant) -> bool:
    """Whether a plant states nothing that settings could be taken from: no valves, no joints and no velocity gain."""
    return not (plant.cylinders or plant.n or plant.velocity_gains or plant.velocity_gain)


def linear_settings(law: type, plant) -> dict[str, Any]:
    """Settings of a PID for a linear plant that says nothing of itself: gains by `controllers.pid.first`, nothing fed forward,
    and commands as far as the plant's limits go.
    """
    from controllers.pid.first import UNLIMITED, first_gains

    known = suited(plant) | {"feed": "none"}
    found = first_gains(law(plant, **known))
    return known | found | {"u_max": known.get("u_max", UNLIMITED)}
