"""A machine written in Python

A slide on a cylinder behind a servo valve, out of parts, without a file. Numbers are SI.
"""

import matplotlib.pyplot as plt

import fluidproof as fp
from fluidproof import multibody as mb

valve = fp.Valve(lag="second")  # 40 l/min at 35 bar a notch
cylinder = fp.Cylinder(bore=0.05, rod=0.032, stroke=0.4, V_a0=2e-4, V_b0=2e-4, valve=valve)
axis = mb.Mechanism(
    bodies=(mb.Body("slide", joint="prismatic", axis=(1.0, 0.0, 0.0), mass=250.0, start=0.2),),
    actuators=(mb.Actuator("rod", joint="slide", drive=fp.ServoCylinder(cylinder, closed=0.0)),),
    supply=fp.ConstantPressure(p_s=160e5, p_r=5e5),
    method="minimal",
)
path = fp.Waypoints("joint", ("start", (0.3,), (0.1,), "start"), leg=2.0)
for law in (fp.PID(axis, feed="none", damping="none"), fp.VDC(axis)):
    log = fp.simulate(fp.ClosedLoop(axis, fp.Sampled(law, T_s=1e-3)), fp.Scenario(reference=path))
    plt.plot(log.time, 1e3 * log["x_slide"], label=type(law).__name__)
plt.xlabel("t, s")
plt.ylabel("slide, mm")
plt.legend()
