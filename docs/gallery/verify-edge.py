"""Where the gain is too high

The same loop at rising gains from a start 0.1 mm off: it rings longer, until it grows. The proof holds as long as the loop does.
"""

import matplotlib.pyplot as plt

import fluidproof as fp
from fluidproof import claims

plant = fp.machine("ieha-published-linear").plant
gains = (2.0, 4.5, 6.5)
for K_p in gains:
    law = fp.PID(plant, K_p=(K_p,), K_i=(0.0,), feed="none", damping="none")
    loop = fp.ClosedLoop(plant, fp.Sampled(law, T_s=1e-3))
    (verdict,) = fp.verify(loop, fp.Scenario(duration=0.2), [claims.LinearStability()])
    print(f"K_p = {K_p:.1f}: {verdict.word}")
    log = fp.simulate(loop, fp.Scenario(offset={"Y": 1e-4}, duration=0.08))
    plt.plot(1e3 * log.time, 1e3 * log["Y"], label=f"{K_p:.1f}, {verdict.word}")
plt.ylim(-0.3, 0.3)
plt.xlabel("t, ms")
plt.ylabel("Y, mm")
plt.legend(title="K_p", ncols=2)
