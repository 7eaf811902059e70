"""Hydraulic resonances of a crane

The crane linearised at rest: pairs of poles are the resonances of oil and masses, poles on the axis are slow pressures.
"""

import matplotlib.pyplot as plt
import numpy as np

import fluidproof as fp

crane = fp.machine("hiab-xs031").plant.locked(extension=0.5)
x, _, residual = fp.equilibrium(crane, crane.initial())
A = fp.linearize(crane, x).A
poles = np.linalg.eigvals(np.array(A, float))
plt.plot(poles.real, poles.imag / (2 * np.pi), "x")
plt.xlabel("real part, 1/s")
plt.ylabel("imaginary part, Hz")
