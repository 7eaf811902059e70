"""To python-control and back

A plant as a state-space model of python-control: its frequency response by that library.
"""

import control
import matplotlib.pyplot as plt
import numpy as np

import fluidproof as fp

plant = fp.machine("ieha-published-linear").plant
system = fp.to_control(plant, linear=True)
ω = np.logspace(0, 3.5, 300)
response = control.frequency_response(system, ω)
gain = np.abs(np.asarray(response.frdata)[0, 0])
plt.loglog(ω / (2 * np.pi), gain)
plt.xlabel("f, Hz")
plt.ylabel("|Y/X|")
