"""A requirement as a sentence

Signal temporal logic with units: what the run has to do, its margin, and the instant that decides.
"""

import matplotlib.pyplot as plt

import fluidproof as fp
from fluidproof import claims

plant = fp.machine("ieha-published-linear").plant
law = fp.PID(plant, K_p=(0.4,), K_i=(2.0,), feed="gain", K_v=(0.0087,), damping="none")
loop = fp.ClosedLoop(plant, fp.Sampled(law, T_s=1e-3))
scenario = fp.Scenario(reference=fp.Sine("output", "start", (1e-2,), 0.5), duration=4.0)
sentence = "always[1 s, 3 s] (Y > 9 mm implies eventually[0 s, 1.2 s] (Y < 0 mm))"
(verdict,) = fp.verify(loop, scenario, [claims.Requirement(sentence)])
print(verdict.word, "margin", verdict.margin, verdict.unit, verdict.worst)
log = fp.simulate(loop, scenario)
plt.plot(log.time, 1e3 * log["Y"])
plt.axhline(9.0, color="k", lw=0.8, ls="--")
plt.axvline(verdict.data["time"], color="tab:red", lw=0.8)
plt.xlabel("t, s")
plt.ylabel("Y, mm")
