"""Every claim of a loop at a glance

What a loop is asked by default, and how strongly each answer is known: few of them are proven.
"""

import matplotlib.pyplot as plt

import fluidproof as fp

plant = fp.machine("ieha-published-linear").plant
law = fp.PID(plant, K_p=(0.4,), K_i=(2.0,), feed="gain", K_v=(0.0087,), damping="none")
path = fp.Sine("output", "start", (6e-3,), 1.0)
loop = fp.ClosedLoop(plant, fp.Sampled(law, T_s=1e-3))
verdicts = fp.verify(loop, fp.Scenario(reference=path, duration=3.0))
for verdict in verdicts:
    print(f"{verdict.word:10} {verdict.strength or '':10} {verdict.key}")

colours = {"holds": "tab:green", "violated": "tab:red", "undecided": "tab:orange"}
strengths = ["", "estimated", "sampled", "numerical", "proof"]
ranks = [strengths.index(v.strength or "") for v in verdicts]
plt.barh([v.key for v in verdicts], ranks, color=[colours[v.word] for v in verdicts])
plt.xticks(range(5), strengths)
plt.xlabel("how strongly it is known")
