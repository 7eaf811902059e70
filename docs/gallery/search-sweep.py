"""A map of two numbers

The largest error over the gain of the valve and of the law: one call runs all 99 loops side by side.
"""

import matplotlib.pyplot as plt
import numpy as np

import fluidproof as fp

plant = fp.machine("ieha-published-linear").plant
scenario = fp.Scenario(reference=fp.Sine("output", "start", (6e-3,), 1.0), duration=1.5)
gains, speeds = np.linspace(0.1, 0.9, 11), np.linspace(80.0, 150.0, 9)
pairs = []
for K in speeds:
    true = fp.changed(plant, {"K": float(K)})
    for K_p in gains:
        law = fp.PID(
            plant, K_p=(float(K_p),), K_i=(2.0,), feed="gain", K_v=(0.0087,), damping="none"
        )
        pairs.append((fp.ClosedLoop(true, fp.Sampled(law, T_s=1e-3)), scenario))
errors = [np.abs(log["Y_d"] - log["Y"])[500:].max() for log in fp.simulate_many(pairs)]
drawn = plt.contourf(gains, speeds, 1e3 * np.reshape(errors, (9, 11)), 12)
plt.colorbar(drawn, label="largest error, mm")
plt.xlabel("K_p of the law")
plt.ylabel("K of the machine, 1/s")
