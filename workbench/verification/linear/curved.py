"""Laws that are curves: a linear loop is asked of none of them, since their slopes change with where they are."""

from __future__ import annotations

from workbench.contract.errors import InputError
from workbench.contract.wrappers import Delayed
from workbench.verification.linear.loop import Curved, law_slopes


def curved_law(loop) -> str:
    """That the law of a loop is an expression and a curve, in words; "" where it is none."""
    if loop.no_derivative:
        return ""
    controller = loop.controller
    inner = controller.inner if isinstance(controller, Delayed) else controller
    try:
        law_slopes(inner, flows=loop.period is None)
    except Curved as why:
        return why.message
    except InputError:  # told by the claim that is asked
        return ""
    return ""
