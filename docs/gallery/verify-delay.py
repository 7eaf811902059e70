"""Dead time eats the margin

The tracking error of one loop over its dead time: it hardly changes, until the loop breaks.
"""

import matplotlib.pyplot as plt
import numpy as np

import fluidproof as fp

plant = fp.machine("ieha-published-linear").plant
law = fp.PID(plant, K_p=(0.4,), K_i=(2.0,), feed="none", damping="none")
scenario = fp.Scenario(reference=fp.Sine("output", "start", (2e-3,), 1.0), duration=2.0)
delays = np.linspace(0.0, 0.030, 13)
pairs = [
    (
        fp.ClosedLoop(plant, fp.Delayed(fp.Sampled(law, T_s=1e-3), float(delay), capacity=40)),
        scenario,
    )
    for delay in delays
]
errors = [np.abs(log["Y_d"] - log["Y"])[len(log) // 2 :].max() for log in fp.simulate_many(pairs)]
plt.semilogy(1e3 * delays, 1e3 * np.array(errors), "o-")
plt.xlabel("dead time, ms")
plt.ylabel("largest error, mm")
