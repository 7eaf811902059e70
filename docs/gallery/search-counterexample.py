"""A search finds the gain that breaks it

`Falsify` looks for a run that violates a requirement of the case; what it finds is shrunk to the smallest deviation.
"""

import matplotlib.pyplot as plt

import fluidproof as fp
from fluidproof import claims

plant = fp.machine("ieha-published-linear").plant
law = fp.PID(plant, K_p=(0.4,), K_i=(2.0,), feed="gain", K_v=(0.0087,), damping="none")
loop = fp.ClosedLoop(plant, fp.Sampled(law, T_s=1e-3))
scenario = fp.Scenario(reference=fp.Sine("output", "start", (6e-3,), 1.0), duration=3.0)
asked = [
    claims.Requirement("always[1 s, end] (tool_error < 0.2 mm)"),
    claims.Falsify(over={"K": (40.0, 120.0)}, budget=32),
]
found = fp.verify(loop, scenario, asked)[-1]
print(found.word, found.worst)
for K in (115.4, 60.0):
    other = fp.ClosedLoop(fp.changed(plant, {"K": K}), fp.Sampled(law, T_s=1e-3))
    log = fp.simulate(other, scenario)
    plt.plot(log.time, 1e3 * (log["Y_d"] - log["Y"]), label=f"K = {K:g} 1/s")
plt.axhline(0.2, color="k", ls="--", lw=0.8)
plt.xlabel("t, s")
plt.ylabel("error, mm")
plt.legend()
