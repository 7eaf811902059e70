"""Where the accompanying function goes

The ledger of virtual power: every watt of v̇ has a name, and the sum closes to rounding.
"""

import matplotlib.pyplot as plt

import fluidproof as fp

crane = fp.machine("hiab-xs031").plant.locked(extension=0.5)
path = fp.Waypoints("joint", ("start", (-1.21, -1.90), "start"), leg=1.5)
loop = fp.ClosedLoop(crane, fp.Sampled(fp.VDC(crane), T_s=1e-3))
found = fp.examine(loop, fp.Scenario(reference=path), [fp.claims.Identity()])
print(found.verdicts[0].word, found.verdicts[0].worst)
ledger = found.analysis["ledger"]
total = ledger["v"]
plt.plot(ledger["t"], 1e3 * total)
plt.xlabel("t, s")
plt.ylabel("v, mJ")
