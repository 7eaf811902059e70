"""Turbulent orifice: flow goes with the root of the pressure drop.

    Q = c u v(Δp),   v(Δp) = sign(Δp) √|Δp|                                          (85)

The root has an infinite slope at Δp = 0. It is regularised over a width w [Pa]:

    v(Δp) = Δp / (Δp² + w²)^¼,   v'(0) = 1/√w,   relative error w²/(4Δp²) where |Δp| ≫ w

Source: [Petrovic22] eq. (85); the regularisation is ours.
"""

from __future__ import annotations

import numpy as np

# Pa², keeps 0/0 away at Δp = w = 0 and is below rounding for any |Δp| above 1e-140 Pa.
_TINY = 1e-300


def root(dp, w=0.0):
    """v(Δp), √Pa, of a pressure drop Δp [Pa]: odd, increasing. w [Pa]: regularisation width, 0 for (85) itself."""
    return dp / np.sqrt(np.sqrt(dp * dp + w * w + _TINY))
