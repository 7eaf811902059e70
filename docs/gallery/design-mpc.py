"""Predictive control under limits

The command may be ±0.5 mm, and change by 5 cm/s: the law plans for both, and the target is reached as fast as they allow.
"""

import matplotlib.pyplot as plt

import fluidproof as fp

case = fp.load("examples/linear-mpc.yaml")
log = fp.simulate(case.loop, case.scenario)
above, below = plt.subplots(2, sharex=True)[1]
above.plot(log.time, 1e3 * log["Y"])
above.set(ylabel="Y, mm")
below.step(log.time, 1e3 * log["X"], where="post")
for side in (-0.5, 0.5):
    below.axhline(side, color="k", ls="--", lw=0.8)
below.set(xlabel="t, s", ylabel="X, mm")
