"""Where the pump's energy goes

Integrated power by cause while a crane moves: throttling takes most of it.
"""

import matplotlib.pyplot as plt

import fluidproof as fp

crane = fp.machine("hiab-xs031").plant.locked(extension=0.5)
path = fp.Waypoints("joint", ("start", (-1.0, -1.7), "start"), leg=2.0)
log = fp.simulate(
    fp.ClosedLoop(crane, fp.Sampled(fp.VDC(crane), T_s=1e-3)), fp.Scenario(reference=path)
)
names = [s.name for s in log.signals if s.name.startswith("E_") and s.name != "E_stored"]
for name in sorted(names, key=lambda name: -abs(float(log[name][-1])))[:6]:
    plt.plot(log.time, log[name] / 1e3, label=name)
plt.xlabel("t, s")
plt.ylabel("kJ")
plt.legend()
