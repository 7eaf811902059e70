"""A plan of least energy

The redundant extension of a crane moves so that the pump gives least energy while the tip stays on its triangle.
"""

import matplotlib.pyplot as plt

from fluidproof import planning
from workbench.cases.file import plan_of
from workbench.cases.yaml_input import read

path = "examples/hiab-triangle-cp.yaml"
case = plan_of(read(path), path)
plan = planning.optimise(case.task)
print(f"{plan.energy / 1e3:.1f} kJ")
plt.plot(plan.q_3)
plt.xlabel("stage of the path")
plt.ylabel("extension, m")
