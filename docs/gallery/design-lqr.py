"""A regulator from weights

LQR of the published linear actuator, for three weights of the command.
"""

import matplotlib.pyplot as plt

import fluidproof as fp

plant = fp.changed(fp.machine("ieha-published-linear").plant, {"measured": "states"})
scenario = fp.Scenario(offset={"Y": 5e-3}, duration=0.4)
for R in (0.1, 1.0, 10.0):
    law = fp.LQR.design(plant, Q=(0.0, 0.0, 0.0, 0.0, 1.0), R=(R,), T_s=1e-3)
    log = fp.simulate(fp.ClosedLoop(plant, fp.Sampled(law, T_s=1e-3)), scenario)
    plt.plot(log.time, 1e3 * log["Y"], label=f"R = {R:g}")
plt.xlabel("t, s")
plt.ylabel("Y, mm")
plt.legend()
