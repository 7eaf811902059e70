"""A region of attraction under saturation

Every start in the ellipsoid comes to rest although the command saturates: a proof, beside runs that start on its edge.
"""

import matplotlib.pyplot as plt

import fluidproof as fp
from fluidproof import claims

plant = fp.machine("ieha-published-linear").plant
law = fp.PID(plant, K_p=(0.4,), K_i=(2.0,), feed="none", damping="none", u_max=5e-4)
loop = fp.ClosedLoop(plant, law)
still = fp.Hold("output", (0.0,))
asked = claims.RegionOfAttraction(contains={"Y": 5e-3})
(verdict,) = fp.verify(loop, fp.Scenario(reference=still, duration=0.5), [asked])
print(verdict.word, verdict.strength, verdict.worst)
for Y in (-0.05, -0.02, 0.02, 0.05):
    log = fp.simulate(loop, fp.Scenario(reference=still, offset={"Y": Y}, duration=4.0))
    plt.plot(log.time, 1e3 * log["Y"], label=f"from {1e3 * Y:g} mm")
plt.xlabel("t, s")
plt.ylabel("Y, mm")
plt.legend()
