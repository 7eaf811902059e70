"""How a loop is stepped: where the stages of a step are, and how a step is ended on a kink.

The compiled loop (`workbench.numerics.native`) and the virtual machine (`workbench.numerics.native_vm`) both take these numbers.
"""

from __future__ import annotations

OFFSETS = (0.0, 0.5, 1.0)  # of a step, where its stages are: both methods of driver.c have these
# Of a step, where its last stage needs the inputs: before they jump, should they do so at its end.
END = 1.0 - 1e-9
KINKS = 4  # kinks that a step is ended on, at most, before the rest is taken as it comes
LOOKS = 3  # steps tried to end on one
# Share of a step: how far from its ends a loop's variation takes derivatives of the flow.
HAIR = 1e-2
PASSED = 1e-3  # a guard this near to zero, of its change over the step, is at its kink
