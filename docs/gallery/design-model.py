"""What a wrong model costs

VDC believes a payload; the crane carries another one. The error grows, the loop stays.
"""

import matplotlib.pyplot as plt
import numpy as np

import fluidproof as fp

crane = fp.machine("hiab-xs031").plant.locked(extension=0.5)
path = fp.Waypoints("joint", ("start", (-1.0, -1.7), "start"), leg=2.0)
for mass in (0.0, 50.0, 100.0):
    true = fp.changed(crane, {"payload.mass": mass})
    law = fp.Sampled(fp.VDC(crane), T_s=1e-3)
    log = fp.simulate(fp.ClosedLoop(true, law), fp.Scenario(reference=path))
    error = np.hypot(log["e_q_1"], log["e_q_2"])
    plt.plot(log.time, 1e3 * error, label=f"{mass:g} kg")
plt.xlabel("t, s")
plt.ylabel("error of the joints, mrad")
plt.legend(title="payload")
