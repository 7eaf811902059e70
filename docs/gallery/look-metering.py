"""An arm behind metering valves

The valves are shut until 3 s, and the arm stands whatever shakes its tip. It is raised until 6 s, and stands again.
"""

import matplotlib.pyplot as plt

import fluidproof as fp

case = fp.load("examples/arm-imv.yaml")
log = fp.simulate(case.loop, case.scenario)
above, below = plt.subplots(2, sharex=True)[1]
above.plot(log.time, log["θ_1"] * 57.3)
above.set(ylabel="arm, deg")
for name in ("P_h_1", "P_r_1"):
    below.plot(log.time, log[name] / 1e5, label=name)
below.set(xlabel="t, s", ylabel="bar")
below.legend()
