"""Friction laws side by side

Steady friction over speed of every shipped law, with its default numbers.
"""

from typing import get_args

import matplotlib.pyplot as plt
import numpy as np

from plants.components.friction import Friction
from workbench.numerics.sliding import steady

v = np.linspace(-0.15, 0.15, 1201)
for law in get_args(Friction):
    plt.plot(1e3 * v, steady(law(), v)[0] / 1e3, label=law.__name__, lw=1)
plt.xlabel("v, mm/s")
plt.ylabel("F, kN")
plt.legend(fontsize=7)
