"""Friction found again in noisy data

A Stribeck curve is drawn with noise and fitted by its law; the intervals say what the data know.
"""

import matplotlib.pyplot as plt
import numpy as np

import fluidproof as fp
from fluidproof import identification as ident
from workbench.numerics.sliding import steady

true = fp.Stribeck(F_c=800.0, F_s=1300.0, v_s=0.02, b=2500.0)
v = np.concatenate([np.linspace(-0.2, -0.005, 60), np.linspace(0.005, 0.2, 60)])
F = steady(true, v)[0] + np.random.default_rng(2).normal(0.0, 40.0, v.size)
found = ident.fit_friction(fp.Stribeck(), ident.Points(v, F))
for estimate in found.estimates:
    print(estimate.name, estimate.value)
plt.plot(1e3 * v, F, ".", ms=3, label="data")
plt.plot(1e3 * v, steady(found.law, v)[0], label="found")
plt.xlabel("v, mm/s")
plt.ylabel("F, N")
plt.legend()
