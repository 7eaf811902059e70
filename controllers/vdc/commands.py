"""How a law's ideal command becomes the drives' inputs: the commands after each perturbation on the way."""

from __future__ import annotations

from controllers.unlimited import instant, unlimited, waits


def steps(law, plant, loop, t, parts, f_pr_rate) -> dict:
    """Name of a perturbation → the commands once it is included, those before it as well.

    "parameters": the law's own numbers, at exact signals and the given ḟ_pr; "derivative": its own ḟ_pr; "measurement":
    measured signals; "pump": waiting for the pump, where the law does; "saturation": its own limits; "hold": sample and delay.
    parts: plant's state, memory, measurements, references and commands at t, as `ClosedLoop.parts` returns them.
    """
    xp, z, y, r, u = parts
    m = len(law.references)
    memory = list(z[: len(law.states)])
    at = {s.name: value for s, value in zip(plant.outputs, plant.out(t, xp[: len(plant.states)]))}
    exact = [at[s.name] for s in law.measured]
    now = instant(loop.controller)
    asked = lambda controller: controller.command(t, list(z[: len(now.states)]), y, r)
    waiting = unlimited(now, waiting=True)
    return {
        "parameters": law.sought(memory, exact, r[:m], f_pr_rate=f_pr_rate).u,
        "derivative": law.sought(memory, exact, r[:m]).u,
        "measurement": asked(unlimited(now)),
        **({"pump": asked(waiting)} if waits(waiting) else {}),
        "saturation": asked(now),
        "hold": list(u[: len(law.labels)]),
    }
