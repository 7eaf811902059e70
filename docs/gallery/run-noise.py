"""What a real loop adds

The same axis with an ideal loop, and with 2 ms of dead time, noise and a coarse encoder. Wrappers go around any law.
"""

import matplotlib.pyplot as plt

import fluidproof as fp

plant = fp.machine("ieha-published-linear").plant
law = fp.PID(plant, K_p=(0.4,), K_i=(2.0,), feed="gain", K_v=(0.0087,), damping="none")
path = fp.Sine("output", "start", (6e-3,), 1.0)
scenario = fp.Scenario(reference=path, duration=2.0)
rough = fp.Sampled(fp.Quantised(fp.Noisy(law, 2e-5, ("Y",)), 5e-5, ("Y",)), T_s=1e-3)
for name, around in (
    ("ideal", fp.Sampled(law, T_s=1e-3)),
    ("delay, noise, encoder", fp.Delayed(rough, 2e-3)),
):
    log = fp.simulate(fp.ClosedLoop(plant, around), scenario)
    plt.plot(log.time, 1e6 * (log["Y_d"] - log["Y"]), label=name)
plt.xlabel("t, s")
plt.ylabel("error, µm")
plt.legend()
