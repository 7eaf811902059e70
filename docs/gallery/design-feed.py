"""What feed-forward is worth

A PID loop on one path, without and with feed-forward of the wanted velocity.
"""

import matplotlib.pyplot as plt

import fluidproof as fp

plant = fp.machine("ieha-published-linear").plant
scenario = fp.Scenario(reference=fp.Sine("output", "start", (6e-3,), 1.0), duration=2.0)
for feed in ("none", "gain"):
    law = fp.PID(plant, K_p=(0.4,), K_i=(2.0,), feed=feed, K_v=(0.0087,), damping="none")
    log = fp.simulate(fp.ClosedLoop(plant, fp.Sampled(law, T_s=1e-3)), scenario)
    plt.plot(log.time, 1e3 * (log["Y_d"] - log["Y"]), label=f"feed: {feed}")
plt.xlabel("t, s")
plt.ylabel("error, mm")
plt.legend()
