"""A crane goes round a square

The shipped HIAB XS 031 under virtual decomposition control. The tool's path is wanted in metres; the law closes it in joint angles.
Where the dashed and the full line part, the valves lag.
"""

import matplotlib.pyplot as plt

import fluidproof as fp

crane = fp.machine("hiab-xs031").plant
square = ("start", (2.5, 1.0), (3.0, 1.5), (3.5, 1.0), (3.0, 0.5), (2.5, 1.0))
scenario = fp.Scenario(reference=fp.Waypoints("cartesian", square, leg=2.0))
loop = fp.ClosedLoop(crane, fp.Sampled(fp.VDC(crane), T_s=1e-3))
log = fp.simulate(loop, scenario)

plt.plot(log["tcp_x"], log["tcp_y"])
plt.plot(*zip(*square[1:]), "k--", lw=0.8)
plt.gca().set(xlabel="x, m", ylabel="y, m", aspect="equal")
