"""Flow through a spool

What a servo valve passes over its opening, at three loads: the root of the pressure that is left bends every line's slope.
"""

import matplotlib.pyplot as plt
import numpy as np

import fluidproof as fp

valve = fp.Valve(dead_band=0.3)
u = np.linspace(-10.0, 10.0, 401)
for p_a in (20e5, 80e5, 140e5):
    Q = [valve.flows(x, p_a, 80e5, 160e5, 5e5)[0] for x in u]
    plt.plot(u, 6e4 * np.array(Q, float), label=f"p_a = {p_a / 1e5:g} bar")
plt.xlabel("spool, V")
plt.ylabel("flow into chamber a, l/min")
plt.legend()
