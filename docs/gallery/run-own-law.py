"""A law that is a Python function

Any function of time, measurements and references is a law. It is called every 5 ms; only the plant around it is compiled.
"""

import matplotlib.pyplot as plt

import fluidproof as fp

crane = fp.machine("hiab-xs031").plant.locked(extension=0.5)


def proportional(t, y, r):
    """Volts for lift and tilt from the errors of the piston positions, m."""
    return [120.0 * (wanted - at) for wanted, at in zip(r, y)]


law = fp.Plain(proportional, measured=("x_1", "x_2"), references=("x_1_d", "x_2_d"))
scenario = fp.Scenario(reference=fp.Waypoints("joint", ("start", (-1.21, -1.90)), leg=2.0))
log = fp.simulate(fp.ClosedLoop(crane, fp.Sampled(law, T_s=5e-3)), scenario)
for name in ("x_1", "x_2"):
    plt.plot(log.time, 1e3 * (log[name] - log[name][0]), label=name)
plt.xlabel("t, s")
plt.ylabel("piston from its start, mm")
plt.legend()
