"""Bristles bend before they slip

LuGre friction over small displacements: a spring below breakaway, a loop above it.
"""

import matplotlib.pyplot as plt
import numpy as np

import fluidproof as fp
from workbench.numerics.sliding import drive

t = np.linspace(0.0, 4.0, 4001)
for amplitude in (2e-4, 1e-3, 3e-3):
    run = drive(fp.LuGre(), t, amplitude * np.sin(np.pi * t))
    plt.plot(1e6 * run.x, run.F / 1e3, label=f"{1e3 * amplitude:g} mm/s", lw=1)
plt.xlabel("x, µm")
plt.ylabel("F, kN")
plt.legend()
