"""A servo axis identified from a record

A recorded command and the velocity that it made, with noise; a lag is fitted, and its intervals say what the data know.
"""

import matplotlib.pyplot as plt
import numpy as np

from fluidproof import identification as ident

rng = np.random.default_rng(4)
t = np.arange(0.0, 4.0, 5e-3)
u = np.sign(np.sin(2.0 * np.pi * t * (0.3 + 0.5 * t)))
u[:4] = 0.0
y = np.zeros(t.size)
for k in range(1, t.size):  # 0.04 s of lag and a gain of 2, sampled exactly
    y[k] = y[k - 1] + (1.0 - np.exp(-5e-3 / 0.04)) * (2.0 * u[k - 1] - y[k - 1])
record = ident.Record(t, u[:, None], (y + rng.normal(0.0, 0.05, t.size))[:, None], ("u",), ("y",))
found = ident.fit(record, ident.Shape("u", order=1))
print(found.model.channels[0])
plt.plot(t, record.y[:, 0], ".", ms=2, label="measured")
plt.plot(t, y, lw=1, label="without noise")
plt.xlabel("t, s")
plt.ylabel("velocity")
plt.legend()
