"""An excavator and where its teeth reach

The drawing of a machine file: names, strokes, angles, reach.
"""

import matplotlib.pyplot as plt

import fluidproof as fp
from reports.drawing import SIZE, draw_on

excavator = fp.machine("excavator").plant
draw_on(plt.figure(figsize=SIZE, layout="none"), excavator, "excavator")
