"""How often does a servo axis miss?

Gains drawn at random, one run each, and the bound of Clopper and Pearson over the number of runs.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import beta

import fluidproof as fp

plant = fp.machine("ieha-published-linear").plant
law = fp.Sampled(
    fp.PID(plant, K_p=(0.4,), K_i=(2.0,), feed="gain", K_v=(0.0087,), damping="none"), T_s=1e-3
)
scenario = fp.Scenario(reference=fp.Sine("output", "start", (6e-3,), 1.0), duration=1.5)
gains = np.random.default_rng(7).normal(115.4, 15.0, 120)
logs = fp.simulate_many(
    [(fp.ClosedLoop(fp.changed(plant, {"K": float(K)}), law), scenario) for K in gains]
)
errors = np.array([np.abs(log["Y_d"] - log["Y"])[len(log) // 3 :].max() for log in logs])
missed = np.cumsum(errors > 0.11e-3)
n = np.arange(1, len(gains) + 1)
plt.plot(n, missed / n, label="share that missed")
plt.plot(n, beta.ppf(0.95, missed + 1, np.maximum(n - missed, 1e-9)), label="95 % bound at n")
plt.xlabel("runs")
plt.legend()
