"""Pressures of a cylinder that lifts

Chamber pressures of the lift cylinder while the crane moves, and the command that makes them. Every signal of a log has a unit.
"""

import matplotlib.pyplot as plt

import fluidproof as fp

crane = fp.machine("hiab-xs031").plant.locked(extension=0.5)
scenario = fp.Scenario(reference=fp.Waypoints("joint", ("start", (-1.0, -1.7), "start"), leg=2.0))
log = fp.simulate(fp.ClosedLoop(crane, fp.Sampled(fp.VDC(crane), T_s=1e-3)), scenario)

above, below = plt.subplots(2, sharex=True)[1]
for name in ("p_a1", "p_b1"):
    above.plot(log.time, log[name] / 1e5, label=name)
above.set(ylabel="bar")
above.legend()
below.plot(log.time, log["u_1"])
below.set(xlabel="t, s", ylabel="command, V")
