"""A joint that no drive holds as the cause: of all signals, it is this joint that does not come back from other starts."""

from __future__ import annotations

from workbench.contract.system import names
from workbench.verification.run import Run


def left_alone(run: Run) -> str:
    """The joint that no drive holds and no law measures, where what was seen from other starts is its motion; "" for none.

    A joint that a law measures may be held by the motion of others, as a pole on a cart is.
    """
    controller = run.loop.controller
    measured = set(names(controller.measured))
    alone = {}
    for joint in run.loop.plant.free_joints(names(controller.commands)):
        own = names(joint.positions)
        if not measured.intersection(own):
            alone |= dict.fromkeys((joint.name, *own), joint.name)
    for outcome in run.kept.get("outcomes", ()):
        worst = outcome.worst
        if worst and worst.word in ("growing", "staying") and worst.signal.name in alone:
            name = alone[worst.signal.name]
            moved = f"what it is moved by is {'growing' if worst.word == 'growing' else 'not taken back'}"
            return f"nothing drives the joint of {name}, and no law measures it: {moved}; it wants a drive, or damping"
    return ""
